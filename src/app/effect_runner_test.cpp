#include "app/effect_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "app/staging.h"
#include "base/files.h"
#include "base/log.h"
#include "core/model/workspace.h"
#include "tests/support/temporary_folder.h"

namespace lavant::app {
namespace {

class NoNodes final : public ports::NodeProvider {
 public:
    Result<void> start_node(const ports::NodeOrder&) override { return {}; }
    Result<void> stop_node(NodeId) override { return {}; }
    Result<std::vector<Held>> list_nodes() override { return std::vector<Held>{}; }
    Resources capacity() override { return {}; }
};

class EffectRunner : public testing::Test {
 protected:
    EffectRunner() : blobs_(std::move(*adapters::FsBlobStore::open(folder_ / "blobs"))) {
        configure_log({.least = Level::Silent});
        for (const char* container : {kBlobContainer, kArtifactContainer})
            EXPECT_TRUE(blobs_->make_container(container));
    }
    plane::EffectDone run(Effect effect) {
        std::promise<plane::EffectDone> told;
        PooledEffectRunner runner(
            {.nodes = nodes_,
             .blobs = *blobs_,
             .make_enrol_token = [](NodeId, std::int64_t) { return "token"; },
             .post = [&](const plane::Event& event) { told.set_value(std::get<plane::EffectDone>(event)); }});
        runner.run({7, std::move(effect)});
        plane::EffectDone done = told.get_future().get();
        runner.stop();
        return done;
    }
    void put(const std::string& name) { ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, name, "x")); }
    void put_log(const std::string& name) {
        ASSERT_TRUE(blobs_->put_bytes(kArtifactContainer, artifact_prefix("j") + name, "x"));
    }
    bool has_log(const std::string& name) {
        return blobs_->find(kArtifactContainer, artifact_prefix("j") + name)->has_value();
    }
    bool has(const std::string& name) { return blobs_->find(kBlobContainer, name)->has_value(); }

    test::TemporaryFolder folder_;
    NoNodes nodes_;
    std::unique_ptr<adapters::FsBlobStore> blobs_;
};

TEST_F(EffectRunner, PublishesWhatAnAttemptStaged) {
    put(".lavant-staging/5-2/data/model");
    const plane::EffectDone done =
        run(PublishOutputs{.job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 2});
    EXPECT_EQ(done.outbox, 7);
    EXPECT_TRUE(done.succeeded);
    EXPECT_TRUE(has("data/model"));
}

TEST_F(EffectRunner, TellsWhetherAnotherTryIsWorthIt) {
    put("data");  // a file, where a folder is to be
    put(".lavant-staging/5-2/data/model");
    const plane::EffectDone done =
        run(PublishOutputs{.job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 2});
    EXPECT_FALSE(done.succeeded);
    EXPECT_EQ(done.code, ErrorCode::Conflict);
    EXPECT_NE(done.message.find("data"), std::string::npos) << done.message;
}

TEST_F(EffectRunner, PublishesOverWhatAnEarlierAttemptLeft) {
    put("azureml/j/model/old");
    ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, "azureml/j/model/weights", "first"));
    ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, ".lavant-staging/5-2/azureml/j/model/weights", "second"));
    EXPECT_TRUE(run(PublishOutputs{
                        .job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 2, .again = true})
                    .succeeded);
    EXPECT_EQ(*read_file(blobs_->path_of(kBlobContainer, "azureml/j/model/weights"), 100), "second");
    EXPECT_TRUE(has("azureml/j/model/old"));
}

TEST_F(EffectRunner, MakesRoomForTheNextAttempt) {
    for (const bool lost : {false, true}) {
        const std::string staged = ".lavant-staging/5-" + std::to_string(lost ? 2 : 1);
        const std::string data = lost ? "data/lost" : "data/kept";
        put(staged + "/" + data);
        put_log("user_logs/std_log.txt");
        const int attempt = lost ? 2 : 1;
        const PublishOutputs effect{.job = {5},
                                    .workspace = kDefaultWorkspace,
                                    .name = "j",
                                    .attempt = attempt,
                                    .again = true,
                                    .lost = lost};
        for (int repeated = 0; repeated < 2; ++repeated) EXPECT_TRUE(run(effect).succeeded);
        EXPECT_EQ(has(data), !lost);
        EXPECT_TRUE(blobs_->list_staged(kBlobContainer)->empty());
        EXPECT_FALSE(has_log("user_logs/std_log.txt"));
        EXPECT_TRUE(has_log("user_logs/attempt_" + std::to_string(attempt) + "/std_log.txt"));
    }
}

TEST_F(EffectRunner, SetsLogsAsideAlsoWhereOutputsCannotBePublished) {
    put("data");  // a file, where a folder is to be
    put(".lavant-staging/5-1/data/model");
    put_log("user_logs/std_log.txt");
    const plane::EffectDone done = run(
        PublishOutputs{.job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 1, .again = true});
    EXPECT_FALSE(done.succeeded);
    EXPECT_EQ(done.code, ErrorCode::Conflict);
    EXPECT_TRUE(has_log("user_logs/attempt_1/std_log.txt"));
}

TEST_F(EffectRunner, LeavesTheLogOfTheLastAttemptWhereItIs) {
    put_log("user_logs/std_log.txt");
    EXPECT_TRUE(
        run(PublishOutputs{.job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 1}).succeeded);
    EXPECT_TRUE(has_log("user_logs/std_log.txt"));
}

TEST_F(EffectRunner, TakesNoLogOfTheNextAttemptForTheOneBefore) {
    int told = 0;
    std::promise<void> all;
    PooledEffectRunner runner(
        {.nodes = nodes_, .blobs = *blobs_, .make_enrol_token = {}, .post = [&](const plane::Event&) {
             if (++told == 1) put_log("user_logs/std_log.txt");  // the next attempt's
             if (told == 2) all.set_value();
         }});
    put_log("user_logs/std_log.txt");
    const OutboxEntry entry{
        7,
        PublishOutputs{.job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 1, .again = true}};
    runner.run(entry);
    runner.run(entry);
    all.get_future().wait();
    runner.stop();
    EXPECT_TRUE(has_log("user_logs/std_log.txt"));
}

TEST_F(EffectRunner, DropsWhatNobodyWillPublish) {
    put(".lavant-staging/5-2/data/model");
    put(".lavant-staging/5-3/data/model");
    for (int repeated = 0; repeated < 2; ++repeated)
        EXPECT_TRUE(run(DropStaged{.job = {5}, .attempt = 2}).succeeded);
    EXPECT_EQ(*blobs_->list_staged(kBlobContainer), std::vector<std::string>{"5-3"});
}

TEST_F(EffectRunner, RemovesTheFilesOfADeletedJobAndOfNoOther) {
    for (const char* job : {"a", "ab"}) {
        put("azureml/" + std::string(job) + "/model/weights");
        for (const char* file : {"/user_logs/std_log.txt", "/outputs/x/y"})
            ASSERT_TRUE(
                blobs_->put_bytes(kArtifactContainer, "ExperimentRun/dcid." + std::string(job) + file, "x"));
    }
    put("azureml/other");
    for (int repeated = 0; repeated < 2; ++repeated)
        EXPECT_TRUE(run(DropJobFiles{.job = {5}, .workspace = kDefaultWorkspace, .name = "a"}).succeeded);
    EXPECT_FALSE(has("azureml/a/model/weights"));
    EXPECT_TRUE(has("azureml/ab/model/weights"));
    EXPECT_TRUE(has("azureml/other"));
    const auto left = blobs_->list({.container = kArtifactContainer, .prefix = "ExperimentRun/"});
    ASSERT_EQ(left->blobs.size(), 2U);
    EXPECT_EQ(left->blobs[0].name, "ExperimentRun/dcid.ab/outputs/x/y");
}

TEST_F(EffectRunner, RemovesFilesOnceHoweverOftenItIsRun) {
    std::vector<bool> told;
    std::promise<void> all;
    PooledEffectRunner runner(
        {.nodes = nodes_, .blobs = *blobs_, .make_enrol_token = {}, .post = [&](const plane::Event& event) {
             told.push_back(std::get<plane::EffectDone>(event).succeeded);
             if (told.size() == 1) put("azureml/a/model/of_a_new_job");
             if (told.size() == 2) all.set_value();
         }});
    put("azureml/a/model/weights");
    const OutboxEntry entry{7, DropJobFiles{.job = {5}, .workspace = kDefaultWorkspace, .name = "a"}};
    runner.run(entry);
    runner.run(entry);
    all.get_future().wait();
    runner.stop();
    EXPECT_EQ(told, (std::vector<bool>{true, true}));
    EXPECT_FALSE(has("azureml/a/model/weights"));
    EXPECT_TRUE(has("azureml/a/model/of_a_new_job"));
}

TEST_F(EffectRunner, TheEndOfAWorkspaceKeepsNoJobWaiting) {
    std::promise<void> gate;
    std::shared_future<void> opened = gate.get_future().share();
    std::promise<void> published;
    // Its thread stays busy until the other one has told that it is done.
    PooledEffectRunner runner(
        {.nodes = nodes_, .blobs = *blobs_, .make_enrol_token = {}, .post = [&](const plane::Event& event) {
             std::get<plane::EffectDone>(event).outbox == 1 ? opened.wait() : published.set_value();
         }});
    ASSERT_TRUE(blobs_->make_container("azureml-w2"));
    put(".lavant-staging/5-2/data/model");
    runner.run({1, DropContainers{"w2", {"azureml-w2"}}});
    runner.run({2, PublishOutputs{.job = {5}, .workspace = kDefaultWorkspace, .name = "j", .attempt = 2}});
    published.get_future().wait();
    EXPECT_TRUE(has("data/model"));
    gate.set_value();
    runner.stop();
    EXPECT_FALSE(blobs_->has_container("azureml-w2"));
}

TEST_F(EffectRunner, ADeadReceiverHoldsNobodyElseUpAndNoStop) {
    std::promise<void> gate;
    std::shared_future<void> opened = gate.get_future().share();
    std::atomic<int> hung = 0;
    std::atomic<int> told = 0;
    std::promise<void> all_told;
    constexpr int kNotices = 100;
    PooledEffectRunner runner({.nodes = nodes_,
                               .blobs = *blobs_,
                               .make_enrol_token = {},
                               .post =
                                   [&](const plane::Event& event) {
                                       if (std::get<plane::EffectDone>(event).succeeded && ++told == kNotices)
                                           all_told.set_value();
                                   },
                               .containers_of = {},
                               .notify = [&](const NotifyOfJob& notice) -> Result<void> {
                                   if (!notice.url.starts_with("http://dead")) return {};
                                   ++hung;
                                   opened.wait();
                                   return fail(ErrorCode::DeadlineExceeded, "no answer");
                               }});
    NotifyOfJob notice{.job = {5}, .workspace = kDefaultWorkspace, .name = "j"};
    for (int i = 0; i < kNotices; ++i) {
        notice.url = "http://dead:80/hook/" + std::to_string(i);
        runner.run({i + 1, notice});
    }
    for (int i = 0; i < kNotices; ++i) {
        notice.url = "http://well/hook";
        runner.run({kNotices + i + 1, notice});
    }
    all_told.get_future().wait();  // while the other one hangs
    gate.set_value();
    runner.stop();
    EXPECT_LE(hung, 1) << "one at a time, and after it held us up it rests";
}

TEST_F(EffectRunner, SweepsWhatNoLiveAttemptOwns) {
    for (const char* folder : {"5-1", "5-2", "6-1", "odd"})
        put(".lavant-staging/" + std::string(folder) + "/data/model");
    ASSERT_TRUE(blobs_->put_bytes(kArtifactContainer, ".lavant-staging/4-1/a", "x"));
    JobHead live;
    live.id = {5};
    live.attempt = 2;
    ASSERT_TRUE(sweep_staging(*blobs_, own_containers(kDefaultWorkspace), {live}));
    EXPECT_EQ(*blobs_->list_staged(kBlobContainer), std::vector<std::string>{"5-2"});
    EXPECT_TRUE(blobs_->list_staged(kArtifactContainer)->empty());
}

}  // namespace
}  // namespace lavant::app
