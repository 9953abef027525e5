#include "app/control_loop.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "adapters/memory/memory_store.h"
#include "base/limits.h"
#include "base/log.h"

namespace lavant::app {
namespace {

// Fakes with memory around a real loop and a real (in-memory) store.
class Rig : public ports::AgentLinks, public ports::EffectRunner, public ports::Clock {
 public:
    explicit Rig(Upkeep upkeep = {})
        : loop(LoopPorts{store,
                         *this,
                         *this,
                         *this,
                         {},
                         {},
                         [this](const JobHead&, const std::string&, WriteBatch& writes) {
                             writes.assets.push_back({{.key = {"w", "data", "out", "1"}, .body = "{}"}, 0});
                             ++registrations;
                             return registering;
                         }},
               settings(), upkeep) {
        configure_log({.least = Level::Silent});
        EXPECT_TRUE(loop.start(now_));
    }
    static plane::Settings settings() { return {.capacity = {.cpu_millis = 1000, .memory_bytes = 10}}; }

    void send(NodeId, ToAgent message) override { sent.push_back(std::move(message)); }
    void drop_links() override { ++dropped; }
    void run(const OutboxEntry& entry) override { effects.push_back(entry); }
    Instant now() override { return now_; }

    bool submit(const std::string& name) {
        Job job;
        job.head.workspace = "w";
        job.head.name = name;
        job.head.hooks = JobHooks{.registers_outputs = true};
        job.body.launch = "launch of " + name;
        const Pool pool{.workspace = "w",
                        .key = "p",
                        .node_resources = {.cpu_millis = 1000, .memory_bytes = 10},
                        .nodes_max = 4,
                        .idle_before_release = std::chrono::minutes{2}};
        return loop.post(plane::SubmitJob{.job = job, .pool = pool}, [this](Result<Answer> answer) {
            committed_when_answered = store.find_job("w", "a")->has_value();
            answers.push_back(std::move(answer));
        });
    }
    void settle() {
        while (loop.step(now_)) {
        }
    }
    void start_node() {
        (void)loop.post(plane::EffectDone{effects.back().id, true, ""});
        (void)loop.post(plane::NodeLinked{{1}, 1, {.node = {1}}});
        settle();
    }

    int starts() const {
        return static_cast<int>(std::ranges::count_if(
            sent, [](const ToAgent& message) { return std::holds_alternative<StartTask>(message); }));
    }

    adapters::MemoryStore store;
    std::vector<ToAgent> sent;
    std::vector<OutboxEntry> effects;
    std::vector<Result<Answer>> answers;
    bool committed_when_answered = false;
    int dropped = 0;
    Result<void> registering;  // how registering outputs goes
    int registrations = 0;
    Instant now_ = from_micros(1'000'000);
    ControlLoop loop;
};

TEST(ControlLoop, AnswersAfterTheCommit) {
    Rig rig;
    ASSERT_TRUE(rig.submit("a"));
    EXPECT_TRUE(rig.answers.empty());
    rig.settle();
    ASSERT_EQ(rig.answers.size(), 1U);
    EXPECT_TRUE(rig.answers[0]);
    EXPECT_TRUE(rig.committed_when_answered);
    ASSERT_EQ(rig.effects.size(), 1U);
}

TEST(ControlLoop, AnswersUnavailableAndLetsNothingElseOutWhenACommitFails) {
    for (const auto fault : {adapters::CommitFault::Refuse, adapters::CommitFault::CommitButReportFailure}) {
        Rig rig;
        rig.store.fail_next_commit(fault);
        ASSERT_TRUE(rig.submit("a"));
        rig.settle();
        ASSERT_EQ(rig.answers.size(), 1U);
        EXPECT_EQ(rig.answers[0].error().code, ErrorCode::Unavailable);
        EXPECT_EQ(rig.dropped, 1);
        EXPECT_TRUE(rig.sent.empty());
        EXPECT_EQ(rig.loop.plane().rows(), *rig.store.load_live());
        // What was stored all the same is carried out all the same.
        EXPECT_EQ(rig.effects.size(), fault == adapters::CommitFault::Refuse ? 0U : 1U);
    }
}

TEST(ControlLoop, AsksAStoreThatCannotBeReadAgainAndAgain) {
    Rig rig;
    rig.store.fail_next_commit(adapters::CommitFault::CommitButReportFailure);
    rig.store.fail_next_reads(200);
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    ASSERT_EQ(rig.answers.size(), 1U);
    ASSERT_TRUE(rig.submit("b"));
    for (int i = 0; i < 199; ++i) {
        EXPECT_EQ(rig.dropped, 0);
        ASSERT_TRUE(rig.loop.next_wake());
        EXPECT_GT(*rig.loop.next_wake(), rig.now_) << "not without a pause";
        EXPECT_FALSE(rig.loop.step(rig.now_)) << "nothing is decided on what may be wrong";
        rig.now_ = *rig.loop.next_wake();
        rig.loop.step(rig.now_);
    }
    rig.now_ = *rig.loop.next_wake();
    rig.settle();
    EXPECT_EQ(rig.dropped, 1);
    EXPECT_EQ(rig.loop.plane().rows(), *rig.store.load_live());
    ASSERT_EQ(rig.answers.size(), 2U) << "what came meanwhile was kept";
    EXPECT_TRUE(rig.answers[1]);
}

TEST(ControlLoop, CanBeWokenWhileTheStoreCannotBeRead) {
    Rig rig;
    rig.store.fail_next_commit(adapters::CommitFault::Refuse);
    rig.store.fail_next_reads(1);
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    rig.loop.wake();
    rig.loop.wait();  // would wait for a second of a clock that stands
}

TEST(ControlLoop, StartsATaskLaterWhenItsLaunchCannotBeReadNow) {
    Rig rig;
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    ASSERT_TRUE(rig.loop.start(rig.now_));  // as after a restart: the launch is not in memory
    rig.store.fail_next_reads(1);
    rig.start_node();
    EXPECT_EQ(rig.starts(), 0);
    ASSERT_TRUE(rig.loop.post(plane::NodeHeard{{1}, 1, 1}));
    rig.settle();
    EXPECT_EQ(rig.starts(), 1);
}

TEST(ControlLoop, KeepsTheNewestHistoryAndPrunesWhenItIsIdle) {
    Rig rig({.events_kept = 3});
    for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(rig.submit(name));
    rig.settle();
    const std::size_t all = rig.store.list_events(0, 100)->size();
    ASSERT_GT(all, 3U);
    rig.now_ += std::chrono::seconds{9};
    rig.settle();
    EXPECT_EQ(rig.store.list_events(0, 100)->size(), all) << "not at once";
    rig.now_ += std::chrono::seconds{1};
    rig.settle();
    const auto kept = *rig.store.list_events(0, 100);
    ASSERT_EQ(kept.size(), 3U);
    EXPECT_EQ(kept.back().sequence, static_cast<std::int64_t>(all));
    EXPECT_EQ(rig.loop.next_wake(), rig.loop.plane().next_wake()) << "an idle loop wakes for nothing else";
}

TEST(ControlLoop, PrunesInTheEndAlsoWhenItIsNeverIdle) {
    Rig rig({.events_kept = 3});
    for (int i = 0; i < 69; ++i) {
        ASSERT_TRUE(rig.submit("job" + std::to_string(i)));
        rig.now_ += std::chrono::seconds{1};
        rig.loop.step(rig.now_);
    }
    EXPECT_GE(rig.store.list_events(0, 1000)->size(), 69U);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(rig.submit("last" + std::to_string(i)));
        rig.now_ += std::chrono::seconds{1};
        rig.loop.step(rig.now_);
    }
    EXPECT_LT(rig.store.list_events(0, 1000)->size(), 10U);
}

TEST(ControlLoop, SendsTheLaunchWithAnAssignmentAlsoAfterARestart) {
    Rig rig;
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    ASSERT_TRUE(rig.loop.start(rig.now_));  // forgets nothing that it cannot read again
    rig.start_node();
    ASSERT_FALSE(rig.sent.empty());
    const auto* start = std::get_if<StartTask>(&rig.sent.back());
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(start->launch, "launch of a");
}

TEST(ControlLoop, RunsTheOutboxAgainAfterARestart) {
    Rig rig;
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    ASSERT_EQ(rig.effects.size(), 1U);
    ASSERT_TRUE(rig.loop.start(rig.now_));
    ASSERT_EQ(rig.effects.size(), 2U);
    EXPECT_EQ(rig.effects[0], rig.effects[1]);
}

TEST(ControlLoop, RefusesEventsWhenItsInboxIsFull) {
    Rig rig;
    for (std::size_t i = 0; i < limits::kInboxEvents; ++i) ASSERT_TRUE(rig.loop.post(plane::Tick{}));
    EXPECT_FALSE(rig.loop.post(plane::Tick{}));
    rig.settle();
    EXPECT_TRUE(rig.loop.post(plane::Tick{}));
}

TEST(ControlLoop, TellsOfAJobThatHasEndedWhenItsNameIsUsedAgain) {
    Rig rig;
    ASSERT_TRUE(rig.submit("a"));
    (void)rig.loop.post(plane::CancelJob{.workspace = "w", .name = "a", .who = "u"});
    rig.settle();
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    ASSERT_EQ(rig.answers.size(), 2U);
    EXPECT_TRUE(rig.answers[1]->existed);
    EXPECT_EQ(rig.answers[1]->job->head.status, JobStatus::Canceled);
}

// The job of a rig, until its outputs are about to be registered.
void finish_first_job(Rig& rig) {
    ASSERT_TRUE(rig.submit("a"));
    rig.settle();
    rig.start_node();
    for (const TaskPhase phase : {TaskPhase::Running, TaskPhase::Ended}) {
        (void)rig.loop.post(
            plane::TaskReported{{1}, 1, {.task = {{1}, 1, 0}, .phase = phase, .end = {.has_outputs = true}}});
        rig.settle();
    }
    ASSERT_TRUE(std::holds_alternative<PublishOutputs>(rig.effects.back().effect));
}

TEST(ControlLoop, OutputsThatCannotBeRegisteredKeepNoJobFromItsEnd) {
    const std::pair<ErrorCode, int> failures[] = {
        {ErrorCode::InvalidArgument, 1},  // will not pass
        {ErrorCode::Internal, 5},
        {ErrorCode::NotFound, 5},
    };
    for (const auto& [code, tries] : failures) {
        Rig rig;
        rig.registering = fail(code, "the row is broken");
        finish_first_job(rig);
        for (int i = 0; i < 20 && rig.loop.plane().is_live("w", "a"); ++i) {
            (void)rig.loop.post(plane::EffectDone{rig.effects.back().id});
            rig.settle();
        }
        EXPECT_EQ(rig.registrations, tries);
        const Job ended = rig.store.find_job("w", "a")->value();
        EXPECT_EQ(ended.head.status, JobStatus::Completed);
        EXPECT_NE(ended.head.warning.find("the row is broken"), std::string::npos) << ended.head.warning;
        EXPECT_FALSE(*rig.store.find_asset({"w", "data", "out", "1"})) << "nothing half-done";
        EXPECT_EQ(rig.loop.plane().rows(), *rig.store.load_live());
    }
}

TEST(ControlLoop, OutputsAreRegisteredOnceAFailureHasPassed) {
    Rig rig;
    rig.registering = fail(ErrorCode::Unavailable, "not now");
    finish_first_job(rig);
    (void)rig.loop.post(plane::EffectDone{rig.effects.back().id});
    rig.settle();
    EXPECT_TRUE(rig.loop.plane().is_live("w", "a"));
    rig.registering = {};
    (void)rig.loop.post(plane::EffectDone{rig.effects.back().id});
    rig.settle();
    EXPECT_EQ(rig.store.find_job("w", "a")->value().head.warning, "");
    EXPECT_TRUE(*rig.store.find_asset({"w", "data", "out", "1"}));
}

TEST(ControlLoop, TellsWhichAssetsWereWritten) {
    Rig rig;
    std::vector<bool> written;
    const Asset asset{.key = {"w", "codes", "c", "1"}, .body = "{}"};
    (void)rig.loop.post(plane::WriteAssets{.writes = {{asset, 0}, {asset, 0}}},
                        [&](Result<Answer> answer) { written = answer->assets_written; });
    rig.settle();
    EXPECT_EQ(written, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace lavant::app
