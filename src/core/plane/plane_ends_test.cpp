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
             {ErrorCode::PermissionDenied, "SystemError"},
             {ErrorCode::NotFound, "SystemError"},
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

}  // namespace
}  // namespace lavant::plane
