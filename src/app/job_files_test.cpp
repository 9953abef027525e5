#include "app/job_files.h"

#include <gtest/gtest.h>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "adapters/memory/memory_store.h"
#include "base/files.h"
#include "core/model/workspace.h"
#include "tests/support/temporary_folder.h"

namespace lavant::app {
namespace {

const std::string kContainer = artifact_container("w");

class JobFilesTest : public testing::Test {
 protected:
    void SetUp() override {
        blobs_ = std::move(*adapters::FsBlobStore::open(folder_ / "blobs"));
        ASSERT_TRUE(blobs_->make_container(kContainer));
        WriteBatch batch;
        Job job;
        job.head = {.id = {1},
                    .version = 1,
                    .workspace = "w",
                    .name = "fig",
                    .status = JobStatus::Completed,
                    .attempt = 2};
        batch.jobs_added.push_back(job);
        batch.tasks.push_back({.ref = {{1}, 1, 0}, .version = 1, .end = {.exit_code = 1, .log = "first\n"}});
        batch.tasks.push_back({.ref = {{1}, 2, 0}, .version = 1, .end = {.log = "second\n"}});
        ASSERT_TRUE(store_.commit(batch));
    }
    std::string look(const std::string& name) {
        const std::string blob = artifact_prefix("fig") + name;
        JobFiles(store_, *blobs_).refresh(kContainer, blob);
        return read_file(blobs_->path_of(kContainer, blob), 4096).value_or("none");
    }
    test::TemporaryFolder folder_;
    adapters::MemoryStore store_;
    std::unique_ptr<ports::BlobStore> blobs_;
};

TEST_F(JobFilesTest, AShortLogIsThereWhenSomebodyLooks) {
    EXPECT_EQ(look("user_logs/std_log.txt"), "second\n");
    EXPECT_EQ(look("user_logs/attempt_1/std_log.txt"), "first\n");
    EXPECT_EQ(look("outputs/x"), "none");
}

TEST_F(JobFilesTest, ALogOfWhichAPartWasSentBeforeBecomesWhole) {
    const std::string log = artifact_prefix("fig") + "user_logs/std_log.txt";
    ASSERT_TRUE(blobs_->append(kContainer, log, 0, "sec"));
    EXPECT_EQ(look("user_logs/std_log.txt"), "second\n");
}

TEST_F(JobFilesTest, AnAttemptThatMayBeFollowedByAnotherDoesNotTakeItsPlace) {
    WriteBatch batch;
    Job job;
    job.head = {.id = {2},
                .version = 1,
                .workspace = "w",
                .name = "plum",
                .status = JobStatus::Finalizing,
                .attempt = 1};
    batch.jobs_added.push_back(job);
    batch.tasks.push_back({.ref = {{2}, 1, 0}, .version = 1, .end = {.exit_code = 1, .log = "first\n"}});
    ASSERT_TRUE(store_.commit(batch));
    const auto logs = [&] {
        const std::string folder = artifact_prefix("plum") + "user_logs/";
        JobFiles(store_, *blobs_).refresh(kContainer, folder);
        std::vector<std::string> names;
        const auto page = blobs_->list({.container = kContainer, .prefix = folder});
        for (const auto& blob : page->blobs) names.push_back(blob.name.substr(folder.size()));
        return names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(logs(), Names{}) << "nobody knows yet where it belongs";
    WriteBatch next;
    job.head.version = 2;
    job.head.attempt = 2;
    job.head.status = JobStatus::Queued;
    next.jobs_changed.push_back(job.head);
    ASSERT_TRUE(store_.commit(next));
    EXPECT_EQ(logs(), Names{"attempt_1/std_log.txt"});
    ASSERT_TRUE(blobs_->append(kContainer, artifact_prefix("plum") + "user_logs/std_log.txt", 0, "2"));
    EXPECT_EQ(logs(), (Names{"attempt_1/std_log.txt", "std_log.txt"}));
    EXPECT_EQ(read_file(blobs_->path_of(kContainer, artifact_prefix("plum") + "user_logs/std_log.txt"), 100)
                  .value(),
              "2");
}

TEST_F(JobFilesTest, SetsTheLogsOfEveryRankAside) {
    const std::string folder = artifact_prefix("fig") + "user_logs/";
    const auto put = [&](const std::string& name, const std::string& text) {
        ASSERT_TRUE(blobs_->put_bytes(kContainer, folder + name, text));
    };
    const auto get = [&](const std::string& name) {
        return read_file(blobs_->path_of(kContainer, folder + name), 4096).value_or("none");
    };
    put("std_log_process_0.txt", "rank 0");
    put("std_log_process_1.txt", "rank 1");
    put("mine.txt", "of the user");
    put("attempt_1/std_log_process_0.txt", "of the first");
    for (int repeated = 0; repeated < 2; ++repeated) ASSERT_TRUE(set_logs_aside(*blobs_, "w", "fig", 2));
    EXPECT_EQ(get("attempt_2/std_log_process_0.txt"), "rank 0");
    EXPECT_EQ(get("attempt_2/std_log_process_1.txt"), "rank 1");
    EXPECT_EQ(get("std_log_process_0.txt"), "none");
    EXPECT_EQ(get("mine.txt"), "of the user");
    EXPECT_EQ(get("attempt_1/std_log_process_0.txt"), "of the first");
    put("std_log_process_0.txt", "ra");  // late bytes
    ASSERT_TRUE(set_logs_aside(*blobs_, "w", "fig", 2));
    EXPECT_EQ(get("attempt_2/std_log_process_0.txt"), "rank 0");
    EXPECT_EQ(get("std_log_process_0.txt"), "none");
    EXPECT_TRUE(set_logs_aside(*blobs_, "w", "nobody", 1));
}

TEST_F(JobFilesTest, AListingOfTheJobShowsThem) {
    JobFiles(store_, *blobs_).refresh(kContainer, artifact_prefix("fig"));
    const auto page = blobs_->list({.container = kContainer, .prefix = artifact_prefix("fig")});
    ASSERT_EQ(page->blobs.size(), 2U);
    for (const char* other : {"ExperimentRun/dcid.nobody/", "ExperimentRun/dcid.fig", "", "ExperimentRun/"})
        JobFiles(store_, *blobs_).refresh(kContainer, other);
}

}  // namespace
}  // namespace lavant::app
