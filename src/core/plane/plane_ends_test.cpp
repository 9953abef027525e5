// How jobs end: outputs that are published or cannot be, cancellation.

#include <gtest/gtest.h>

#include "core/plane/plane_world_test.h"

namespace lavant::plane {
namespace {

TEST(PlaneEnds, PublishesOutputsBeforeItCallsAJobCompleted) {
    World world;
    world.carry_out(world.submit("a"));
    const Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.has_outputs = true});
    EXPECT_EQ(world.status("a"), "Finalizing");
    ASSERT_EQ(count_effects<PublishOutputs>(ended), 1);
    world.apply(EffectDone{ended.effects[0].id, true, ""});
    EXPECT_EQ(world.status("a"), "Completed");
}

TEST(PlaneEnds, TriesToPublishAgainUntilItWorks) {
    World world;
    world.carry_out(world.submit("a"));
    const Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.has_outputs = true});
    world.apply(EffectDone{ended.effects[0].id, false, "disk full"});
    EXPECT_EQ(world.status("a"), "Finalizing");
    const Outcome later = world.tick(5s);
    ASSERT_EQ(count_effects<PublishOutputs>(later), 1);
    world.apply(EffectDone{later.effects[0].id, true, ""});
    EXPECT_EQ(world.status("a"), "Completed");
}

TEST(PlaneEnds, WaitsLongerBeforeEveryFurtherTryToPublish) {
    World world;
    world.carry_out(world.submit("a"));
    Outcome tried = world.report(1, kFirst, TaskPhase::Ended, {.has_outputs = true});
    for (const Duration pause : {Duration{5s}, Duration{10s}, Duration{20s}, Duration{40s}, Duration{80s},
                                 Duration{160s}, Duration{300s}, Duration{300s}}) {
        world.apply(EffectDone{tried.effects[0].id, false, "disk full", ErrorCode::ResourceExhausted});
        EXPECT_EQ(count_effects<PublishOutputs>(world.tick(pause - 1s)), 0);
        tried = world.tick(1s);
        ASSERT_EQ(count_effects<PublishOutputs>(tried), 1);
    }
    EXPECT_EQ(world.status("a"), "Finalizing");
}

TEST(PlaneEnds, FailsAJobWhoseOutputsCanNeverBePublished) {
    for (const auto& [code, told] : std::map<ErrorCode, std::string>{
             {ErrorCode::InvalidArgument, "UserError"},
             {ErrorCode::Conflict, "UserError"},
             {ErrorCode::AlreadyExists, "UserError"},
         }) {
        World world;
        world.carry_out(world.submit("a"));
        const Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.has_outputs = true});
        const Outcome over = world.apply(EffectDone{ended.effects[0].id, false, "'x//y' is no name", code});
        EXPECT_EQ(world.status("a"), "Failed");
        EXPECT_EQ(over.writes.outbox_removed, std::vector<std::int64_t>{ended.effects[0].id});
        EXPECT_EQ(world.heads["a"].error->code, told);
        EXPECT_NE(world.heads["a"].error->message.find("'x//y' is no name"), std::string::npos);
        EXPECT_EQ(count_effects<PublishOutputs>(world.tick(1h)), 0);
    }
}

TEST(PlaneEnds, KeepsTheCauseOfAJobThatFailedBeforeItsOutputsCouldNotBePublished) {
    World world;
    world.carry_out(world.submit("a"));
    Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.exit_code = 3, .has_outputs = true});
    world.apply(EffectDone{ended.effects[0].id, false, "'x//y' is no name", ErrorCode::InvalidArgument});
    EXPECT_EQ(world.status("a"), "Failed");
    EXPECT_EQ(world.heads["a"].error->exit_code, 3);
    EXPECT_NE(world.heads["a"].error->message.find("'x//y' is no name"), std::string::npos);

    world.carry_out(world.submit("b"));
    world.apply(CancelJob{.ticket = 3, .workspace = "w", .name = "b", .who = "u"});
    ended =
        world.report(1, {{2}, 1, 0}, TaskPhase::Ended, {.reason = EndReason::Stopped, .has_outputs = true});
    world.apply(EffectDone{ended.effects[0].id, false, "'x//y' is no name", ErrorCode::InvalidArgument});
    EXPECT_EQ(world.status("b"), "Canceled");
}

TEST(PlaneEnds, KeepsWhatAnAttemptLeftForTheNextOne) {
    World world;
    world.retry.on_exit_codes = {75};
    world.carry_out(world.submit("a"));
    const Outcome again = world.report(1, kFirst, TaskPhase::Ended, {.exit_code = 75, .has_outputs = true});
    EXPECT_EQ(effect_of<PublishOutputs>(again), (PublishOutputs{{1}, "w", "a", 1, true, false}));
    EXPECT_EQ(count<StartTask>(again), 0) << "the next attempt waits for what this one left";
    EXPECT_EQ(world.heads["a"].attempt, 1);
    const Outcome kept = world.apply(EffectDone{effect_id<PublishOutputs>(again)});
    EXPECT_EQ(count_effects<DropStaged>(kept), 0);
    EXPECT_EQ(world.heads["a"].attempt, 2);
    EXPECT_EQ(world.heads["a"].retries_used, 1);
    ASSERT_EQ(count<StartTask>(kept), 1);
    for (const Send& send : kept.sends)
        if (const auto* start = std::get_if<StartTask>(&send.message)) {
            EXPECT_TRUE(start->resume);
        }

    const Outcome ended = world.report(1, {{1}, 2, 0}, TaskPhase::Ended, {.has_outputs = true});
    EXPECT_EQ(count_effects<DropStaged>(ended), 0);
    const Outcome published = world.apply(EffectDone{effect_id<PublishOutputs>(ended)});
    EXPECT_EQ(count_effects<DropStaged>(published), 0);
    EXPECT_EQ(world.status("a"), "Completed");
}

TEST(PlaneEnds, DropsWhatCouldNotBePublishedOrWasStagedHalf) {
    World world;
    world.carry_out(world.submit("a"));
    const Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.has_outputs = true});
    const Outcome failed =
        world.apply(EffectDone{effect_id<PublishOutputs>(ended), false, "taken", ErrorCode::Conflict});
    EXPECT_EQ(effect_of<DropStaged>(failed), (DropStaged{{1}, 1, "w"}));

    world.carry_out(world.submit("b"));
    world.report(1, {{2}, 1, 0}, TaskPhase::Finalizing);
    const Outcome half = world.report(1, {{2}, 1, 0}, TaskPhase::Ended,
                                      {.reason = EndReason::PrepareFailed, .message = "not staged"});
    EXPECT_EQ(effect_of<DropStaged>(half), (DropStaged{{2}, 1, "w"}));

    world.carry_out(world.submit("c"));
    EXPECT_EQ(count_effects<DropStaged>(world.report(1, {{3}, 1, 0}, TaskPhase::Ended)), 0);
}

TEST(PlaneEnds, DropsWhatALostTaskMayHaveStaged) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    const Outcome lost = world.link(1);  // without the task
    EXPECT_EQ(effect_of<PublishOutputs>(lost), (PublishOutputs{{1}, "w", "a", 1, true, true}));
    world.carry_out(lost);
    EXPECT_EQ(world.heads["a"].attempt, 2);
    EXPECT_EQ(world.heads["a"].retries_used, 0) << "the node's fault, not the job's";
    EXPECT_EQ(world.heads["a"].preemptions, 1);
}

TEST(PlaneEnds, KeepsWhatAFailedJobWroteAndTellsWhy) {
    World world;
    world.carry_out(world.submit("a"));
    const Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.exit_code = 3, .has_outputs = true});
    ASSERT_EQ(count_effects<PublishOutputs>(ended), 1);
    world.apply(EffectDone{ended.effects[0].id, true, ""});
    EXPECT_EQ(world.status("a"), "Failed");
    EXPECT_EQ(world.heads["a"].error->code, "UserError");
    EXPECT_EQ(world.heads["a"].error->exit_code, 3);
}

TEST(PlaneEnds, CancelsAQueuedJobAtOnceAndARunningOneWhenItsTaskEnded) {
    World world(1);
    world.carry_out(world.submit("a"));
    world.submit("b");
    world.apply(CancelJob{.ticket = 2, .workspace = "w", .name = "b", .who = "u"});
    EXPECT_EQ(world.status("b"), "Canceled");

    const Outcome asked = world.apply(CancelJob{.ticket = 3, .workspace = "w", .name = "a", .who = "u"});
    EXPECT_EQ(count<StopTask>(asked), 1);
    EXPECT_EQ(world.status("a"), "CancelRequested");
    const Outcome again = world.apply(CancelJob{.ticket = 4, .workspace = "w", .name = "a", .who = "v"});
    EXPECT_EQ(count<StopTask>(again), 0);
    EXPECT_EQ(world.plane.find_job({1})->canceled_by, "u");
    world.report(1, kFirst, TaskPhase::Ended, {.reason = EndReason::Stopped});
    EXPECT_EQ(world.status("a"), "Canceled");
}

TEST(PlaneEnds, RefusesToCancelWhatItDoesNotKnow) {
    World world;
    const Outcome out = world.apply(CancelJob{.ticket = 1, .workspace = "w", .name = "x"});
    EXPECT_EQ(out.replies[0].answer.error().code, ErrorCode::NotFound);
}

// An ended job as the control loop finds it in the store.
Job ended_job(const std::string& name, std::int64_t id, std::int64_t version) {
    Job job;
    job.head.id = {id};
    job.head.version = version;
    job.head.workspace = "w";
    job.head.name = name;
    job.head.status = JobStatus::Completed;
    return job;
}
DeleteJob deletion(const std::string& name, std::optional<Job> stored) {
    return {.ticket = 1, .workspace = "w", .name = name, .who = "ann", .stored = std::move(stored)};
}
ErrorCode refusal(const Outcome& out) { return out.replies.at(0).answer.error().code; }

TEST(PlaneDeletes, AnEndedJobGoesWithItsRowsAndThenItsFiles) {
    World world;
    const Outcome out = world.apply(deletion("a", ended_job("a", 7, 3)));
    EXPECT_EQ(out.writes.jobs_removed, (std::vector<JobRemoval>{{{7}, 3}}));
    EXPECT_EQ(effect_of<DropJobFiles>(out), (DropJobFiles{{7}, "w", "a"}));
    EXPECT_TRUE(out.replies.at(0).answer);
    EXPECT_EQ(world.story["a"], "Deleted");
    EXPECT_EQ(refusal(world.apply(deletion("none", std::nullopt))), ErrorCode::NotFound);
}

TEST(PlaneDeletes, AJobThatHasNotEndedIsRefusedWithTheRemedy) {
    World world;
    world.submit("a");
    const Outcome out = world.apply(deletion("a", ended_job("a", 1, 1)));
    EXPECT_EQ(refusal(out), ErrorCode::Conflict);
    EXPECT_NE(out.replies[0].answer.error().message.find("lavant job cancel a"), std::string::npos);
    EXPECT_TRUE(out.writes.jobs_removed.empty());
}

TEST(PlaneDeletes, AJobThatEndsInTheSameBatchIsNotDeletedYet) {
    World world;
    world.submit("a");
    Outcome out;
    world.plane.apply(CancelJob{.ticket = 1, .workspace = "w", .name = "a", .who = "ann", .stored = {}},
                      world.now, out);
    world.plane.apply(deletion("a", ended_job("a", 1, 1)), world.now, out);
    world.plane.decide(world.now, out);
    EXPECT_EQ(out.replies.at(1).answer.error().code, ErrorCode::Conflict);
    EXPECT_TRUE(out.writes.jobs_removed.empty());
}

TEST(PlaneDeletes, ItsNameIsFreeWhenItsFilesAreGone) {
    World world;
    const Outcome deleted = world.apply(deletion("a", ended_job("a", 7, 3)));
    EXPECT_EQ(refusal(world.submit("a")), ErrorCode::Conflict);
    world.apply(EffectDone{effect_id<DropJobFiles>(deleted), false, "the disk is slow", ErrorCode::Internal});
    EXPECT_EQ(refusal(world.submit("a")), ErrorCode::Conflict);

    world.plane = Plane(World::settings(4), world.plane.rows(), world.now);  // the server starts again
    EXPECT_EQ(refusal(world.submit("a")), ErrorCode::Conflict);
    EXPECT_TRUE(world.submit("b").replies.at(0).answer);

    const Outcome again = world.tick(5min);
    world.apply(EffectDone{effect_id<DropJobFiles>(deleted), true, ""});
    EXPECT_TRUE(world.submit("a").replies.at(0).answer);
}

TEST(PlaneDeletes, AFailedRemovalOfFilesIsTriedAgain) {
    World world;
    const Outcome deleted = world.apply(deletion("a", ended_job("a", 7, 3)));
    world.apply(EffectDone{effect_id<DropJobFiles>(deleted), false, "no", ErrorCode::InvalidArgument});
    EXPECT_EQ(count_effects<DropJobFiles>(world.tick(1min)), 1);
}

// What the store answered before the batch is no longer true for what follows in it.
TEST(PlaneDeletes, NothingMoreHappensToItInTheSameBatch) {
    World world;
    const Job stored = ended_job("a", 7, 3);
    Outcome out;
    world.plane.apply(deletion("a", stored), world.now, out);
    world.plane.apply(deletion("a", stored), world.now, out);
    world.plane.apply(
        EditJob{.ticket = 1, .workspace = "w", .name = "a", .meta = {}, .properties = {}, .stored = stored},
        world.now, out);
    world.plane.apply(CancelJob{.ticket = 1, .workspace = "w", .name = "a", .who = "x", .stored = stored},
                      world.now, out);
    Job again;
    again.head.workspace = "w";
    again.head.name = "a";
    world.plane.apply(SubmitJob{.ticket = 1, .job = again, .pool = {}, .stored = stored}, world.now, out);
    world.plane.decide(world.now, out);
    ASSERT_EQ(out.replies.size(), 5U);
    EXPECT_TRUE(out.replies[0].answer);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(out.replies[i].answer.error().code, ErrorCode::NotFound);
    EXPECT_EQ(out.replies[4].answer.error().code, ErrorCode::Conflict);
    EXPECT_EQ(out.writes.jobs_removed.size(), 1U);
    EXPECT_TRUE(out.writes.metas_changed.empty());
}

}  // namespace
}  // namespace lavant::plane
