#include <gtest/gtest.h>

#include <memory>

#include "core/plane/plane_world_test.h"

namespace lavant::plane {
namespace {

TEST(Plane, TakesAJobFromZeroNodesToCompleted) {
    World world;
    const Outcome submitted = world.submit("a");
    EXPECT_EQ(count_effects<StartNode>(submitted), 1);
    world.carry_out(submitted);
    EXPECT_EQ(world.status("a"), "Preparing");
    world.report(1, kFirst, TaskPhase::Running);
    const Outcome ended = world.report(1, kFirst, TaskPhase::Ended, {.usage = {.cpu_micros = 7}});
    EXPECT_EQ(count<ForgetTask>(ended), 1);
    EXPECT_EQ(world.story["a"], "Queued Preparing Running Completed");
    EXPECT_EQ(world.heads["a"].usage.cpu_micros, 7);
    EXPECT_TRUE(world.plane.rows().jobs.empty());
}

TEST(Plane, NamesTheLinkForWhichAStartWasDecided) {
    World world(1);
    world.carry_out(world.submit("a"));
    world.submit("b");
    const Outcome out = world.report(1, kFirst, TaskPhase::Ended);
    for (const Send& send : out.sends) {
        const auto* start = std::get_if<StartTask>(&send.message);
        EXPECT_TRUE(start == nullptr || start->link == world.links_of(1));
    }
    EXPECT_EQ(count<StartTask>(out), 1);
    // Without a link nothing is said; the next Hello brings it.
    world.apply(NodeUnlinked{{1}, world.links_of(1)});
    EXPECT_EQ(count<StartTask>(world.link(1)), 1);
}

TEST(Plane, TellsOfAShortRunFromTheReportOfItsEnd) {
    World world;
    world.carry_out(world.submit("a"));
    world.now += 1s;
    world.apply(TaskReported{
        {1}, world.links_of(1), {.task = kFirst, .phase = TaskPhase::Ended, .ran_micros = 5000}});
    EXPECT_EQ(world.story["a"], "Queued Preparing Running Completed");
    EXPECT_EQ(world.heads["a"].started_at, world.now - 5ms);
}

TEST(Plane, DoesNotBelieveThatATaskBeganBeforeItsJob) {
    World world;
    world.carry_out(world.submit("a"));
    world.apply(TaskReported{{1},
                             world.links_of(1),
                             {.task = kFirst, .phase = TaskPhase::Ended, .ran_micros = 3'600'000'000'000}});
    EXPECT_EQ(world.heads["a"].started_at, world.heads["a"].submitted_at);
}

TEST(Plane, GivesTheNextJobTheNodeThatIsThere) {
    World world(1);
    world.carry_out(world.submit("a"));
    EXPECT_EQ(count_effects<StartNode>(world.submit("b")), 0);
    const Outcome ended = world.report(1, kFirst, TaskPhase::Ended);
    EXPECT_EQ(count<StartTask>(ended), 1);
    EXPECT_EQ(world.status("b"), "Preparing");
}

TEST(Plane, AnswersATakenNameWithWhatIsThereAndStartsNothing) {
    World world;
    world.submit("a");
    const Outcome again = world.submit("a");
    ASSERT_EQ(again.replies.size(), 1U);
    EXPECT_TRUE(again.replies[0].answer->existed);
    EXPECT_TRUE(again.writes.jobs_added.empty());
}

TEST(Plane, PlacesAGangOnlyWhenAllItsNodesAreThere) {
    World world(4);
    const Outcome submitted = world.submit("gang", 3);
    ASSERT_EQ(count_effects<StartNode>(submitted), 3);
    for (const OutboxEntry& entry : submitted.effects) world.apply(EffectDone{entry.id, true, ""});
    EXPECT_EQ(count<StartTask>(world.link(1)), 0);
    EXPECT_EQ(count<StartTask>(world.link(2)), 0);
    EXPECT_EQ(count<StartTask>(world.link(3)), 3);
}

TEST(Plane, StopsTheOtherTasksOfAGangWhenOneFails) {
    World world(2);
    world.carry_out(world.submit("gang", 2));
    world.apply(
        NodeLinked{{1}, 50, {.node = {1}, .tasks = {{.task = {{1}, 1, 0}, .phase = TaskPhase::Running}}}});
    world.apply(
        NodeLinked{{2}, 51, {.node = {2}, .tasks = {{.task = {{1}, 1, 1}, .phase = TaskPhase::Running}}}});
    const Outcome out = world.apply(
        TaskReported{{1}, 50, {.task = {{1}, 1, 0}, .phase = TaskPhase::Ended, .end = {.exit_code = 1}}});
    EXPECT_EQ(count<StopTask>(out), 1);
    EXPECT_EQ(world.status("gang"), "Running");
    world.apply(TaskReported{
        {2}, 51, {.task = {{1}, 1, 1}, .phase = TaskPhase::Ended, .end = {.reason = EndReason::Stopped}}});
    EXPECT_EQ(world.status("gang"), "Failed");
    EXPECT_EQ(world.heads["gang"].error->exit_code, 1);
}

TEST(Plane, NeverPromisesMoreThanThereIs) {
    World world(2);
    EXPECT_EQ(count_effects<StartNode>(world.submit("a")), 1);
    EXPECT_EQ(count_effects<StartNode>(world.submit("b")), 1);
    EXPECT_EQ(count_effects<StartNode>(world.submit("c")), 0);
    const Outcome out = world.apply(ExplainJob{9, "w", "c"});
    EXPECT_NE(out.replies[0].answer->explanation.text.find("2 jobs are ahead"), std::string::npos)
        << out.replies[0].answer->explanation.text;
}

TEST(Plane, ReleasesIdleNodesAfterTheirTime) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Ended);
    EXPECT_EQ(count_effects<StopNode>(world.tick(1min)), 0);
    const Outcome out = world.tick(61s);
    ASSERT_EQ(count_effects<StopNode>(out), 1);
    EXPECT_EQ(count<ReleaseNode>(out), 1);
    world.carry_out(out);
    EXPECT_TRUE(world.plane.rows().nodes.empty());
}

TEST(Plane, TakesIdleNodesOfAnotherPoolWhenTheMachineIsFull) {
    World world(1);
    world.carry_out(world.submit("a", 1, "p"));
    world.report(1, kFirst, TaskPhase::Ended);
    const Outcome out = world.submit("b", 1, "q");
    EXPECT_EQ(count_effects<StopNode>(out), 1);
    world.carry_out(out);
    EXPECT_EQ(world.status("b"), "Preparing");
}

TEST(Plane, DoesNotLetYoungerJobsOfAnotherPoolStarveAnOlderOne) {
    World world(1);
    world.carry_out(world.submit("a", 1, "p"));
    world.submit("old", 1, "q");
    world.submit("young", 1, "p");
    const Outcome out = world.report(1, kFirst, TaskPhase::Ended);
    EXPECT_EQ(count<StartTask>(out), 0);
    world.carry_out(out);
    EXPECT_EQ(world.status("old"), "Preparing");
    EXPECT_EQ(world.status("young"), "Queued");
}

TEST(Plane, StopsASilentNodeAfterLeaseAndMarginAndRetriesWhenItIsGone) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    for (int i = 0; i < 600; ++i) world.tick(1s);
    EXPECT_EQ(world.status("a"), "Running");
    Outcome stopped;
    for (int i = 0; i < 31; ++i)
        if (Outcome out = world.tick(1s); count_effects<StopNode>(out) > 0) stopped = std::move(out);
    EXPECT_EQ(world.status("a"), "Running");
    world.carry_out(stopped);
    EXPECT_EQ(world.heads["a"].preemptions, 1);
    EXPECT_TRUE(world.story["a"].starts_with("Queued Preparing Running Queued")) << world.story["a"];
}

TEST(Plane, GivesUpOnANodeThatCannotBeStoppedAfterASecondLease) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    for (int i = 0; i < 1250; ++i) world.tick(1s);
    EXPECT_EQ(world.status("a"), "Running");
    for (int i = 0; i < 20; ++i) {
        world.put_away(world.tick(1s));
    }
    EXPECT_EQ(world.heads["a"].preemptions, 1);
}

TEST(Plane, AnswersWithTheEndedJobWhenItsNameIsUsedAgainInTheSameBatch) {
    World world;
    Outcome out;
    Job job;
    job.head.workspace = "w";
    job.head.name = "a";
    const Pool pool{.workspace = "w", .key = "p", .node_resources = kNode, .nodes_max = 1};
    world.plane.apply(SubmitJob{.ticket = 1, .job = job, .pool = pool}, world.now, out);
    world.plane.apply(CancelJob{.ticket = 2, .workspace = "w", .name = "a"}, world.now, out);
    world.plane.apply(SubmitJob{.ticket = 3, .job = job, .pool = pool}, world.now, out);
    world.plane.decide(world.now, out);
    EXPECT_EQ(out.writes.jobs_added.size(), 1U);
    EXPECT_TRUE(out.replies[2].answer->existed);
    EXPECT_EQ(out.replies[2].answer->job->head.status, JobStatus::Canceled);
}

TEST(Plane, FitsItsPoolsToAMachineThatBecameSmaller) {
    World world(4);
    Job job;
    job.head.workspace = "w";
    job.head.name = "large";
    const Resources large{.cpu_millis = 4000, .memory_bytes = 40};
    world.plane.apply(
        SubmitJob{.job = job,
                  .pool = {.workspace = "w", .key = "l", .node_resources = large, .nodes_max = 1}},
        world.now, *std::make_unique<Outcome>());
    LiveRows rows = world.plane.rows();
    rows.nodes.clear();
    Plane smaller(World::settings(2), rows, world.now);
    Outcome out;
    smaller.decide(world.now, out);
    EXPECT_EQ(count_effects<StartNode>(out), 1);
    EXPECT_EQ(out.writes.pools.size(), 1U);
}

TEST(Plane, GivesEveryNodeANewLeaseAfterASuspend) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    world.tick(3h);
    EXPECT_EQ(world.status("a"), "Running");
}

TEST(Plane, FencesAnAttemptThatIsNotCurrent) {
    World world;
    world.carry_out(world.submit("a"));
    for (int i = 0; i < 640; ++i) world.carry_out(world.tick(1s));
    ASSERT_EQ(world.heads["a"].preemptions, 1);
    // The old node comes back with a result of attempt 1: it is told to leave, and the result is not taken.
    const Outcome out = world.link(1, {{.task = kFirst, .phase = TaskPhase::Ended}});
    EXPECT_EQ(count<ReleaseNode>(out), 1);
    EXPECT_NE(world.status("a"), "Completed");
}

TEST(Plane, EndsATaskThatItsAgentNoLongerKnows) {
    World world;
    world.retry.retries_max = 0;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    world.link(1);
    EXPECT_EQ(world.status("a"), "Failed");
    EXPECT_EQ(world.heads["a"].error->code, "NodeLost");
}

TEST(Plane, SaysThatALostTaskIsForgotten) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    EXPECT_EQ(count<ForgetTask>(world.link(1)), 1) << "its agent does not know it";

    World other;
    other.carry_out(other.submit("a"));
    other.now += 1s;
    const Outcome stop = other.apply(NodesHeld{.nodes = {}, .listed_at = other.now});
    EXPECT_EQ(count<ForgetTask>(other.apply(EffectDone{effect_id<StopNode>(stop)})), 1) << "its node is gone";
}

TEST(Plane, SendsAnAssignmentAgainToAnAgentThatNeverGotIt) {
    World world;
    world.carry_out(world.submit("a"));
    EXPECT_EQ(count<StartTask>(world.link(1)), 1);
}

TEST(Plane, DoesNotRepeatAnAssignmentOnAMachineThatWasRestarted) {
    const auto attempt_after = [](const std::string& boot) {
        World world;
        world.carry_out(world.submit("a"));
        world.put_away(world.apply(NodeLinked{{1}, ++world.links, {.node = {1}, .boot = "m1.p1"}}));
        const Outcome out =
            world.put_away(world.apply(NodeLinked{{1}, ++world.links, {.node = {1}, .boot = boot}}));
        for (const Send& send : out.sends)
            if (const auto* start = std::get_if<StartTask>(&send.message)) return start->task.attempt;
        return 0;
    };
    const int before = attempt_after("m1.p1");
    EXPECT_EQ(attempt_after("m1.p2"), before) << "another process knows what was launched";
    EXPECT_EQ(attempt_after("m2.p2"), before + 1) << "another boot of the machine does not";
}

TEST(Plane, IgnoresReportsOfAnOldLink) {
    World world;
    world.carry_out(world.submit("a"));
    const std::uint64_t old = world.links;
    world.link(1, {{.task = kFirst, .phase = TaskPhase::Running}});
    world.apply(TaskReported{{1}, old, {.task = kFirst, .phase = TaskPhase::Ended}});
    EXPECT_EQ(world.status("a"), "Running");
}

TEST(Plane, RetriesOnlyWhatThePolicyNames) {
    World world;
    world.retry = {.retries_max = 1, .on_exit_codes = {75}};
    world.carry_out(world.submit("a"));
    world.put_away(world.report(1, kFirst, TaskPhase::Ended, {.exit_code = 75}));
    EXPECT_EQ(world.status("a"), "Preparing");
    world.report(1, {{1}, 2, 0}, TaskPhase::Ended, {.exit_code = 75});
    EXPECT_EQ(world.status("a"), "Failed");
}

TEST(Plane, LetsANodeEnrolUntilItsFirstHello) {
    World world;
    world.submit("a");
    EXPECT_TRUE(world.apply(EnrolNode{1, {1}}).replies[0].answer);
    const Outcome again = world.apply(EnrolNode{2, {1}});
    EXPECT_TRUE(again.replies[0].answer) << "the first answer may have been lost";
    EXPECT_TRUE(again.writes.nodes.empty());
    world.link(1);
    EXPECT_FALSE(world.apply(EnrolNode{3, {1}}).replies[0].answer);
    EXPECT_FALSE(world.apply(EnrolNode{4, {77}}).replies[0].answer);
}

TEST(Plane, GivesANodeThatOnlyEnrolsNoMoreTimeToStart) {
    World world;
    world.submit("a");
    Outcome lost;
    for (int i = 0; i < 130 && lost.effects.empty(); ++i) {
        world.apply(EnrolNode{1, {1}});
        lost = world.tick(1s);
    }
    EXPECT_EQ(count_effects<StartNode>(lost), 1) << "another one in its place";
}

TEST(Plane, StopsNodesThatNobodyWantsAndRestartsDeadAgents) {
    World world;
    world.carry_out(world.submit("a"));
    world.now += 1s;
    const Outcome out = world.apply(NodesHeld{.nodes = {{{1}, false}, {{99}, true}}, .listed_at = world.now});
    EXPECT_EQ(count_effects<StartNode>(out), 1);
    EXPECT_EQ(count_effects<StopNode>(out), 1);
}

TEST(Plane, RetriesAtOnceWhenTheProviderConfirmsThatANodeIsGone) {
    World world;
    world.carry_out(world.submit("a"));
    world.report(1, kFirst, TaskPhase::Running);
    world.now += 1s;
    const Outcome out = world.apply(NodesHeld{.nodes = {}, .listed_at = world.now});
    EXPECT_EQ(world.status("a"), "Running");  // not before the provider has made sure
    world.carry_out(out);
    EXPECT_EQ(world.heads["a"].preemptions, 1);
}

TEST(Plane, WaitsAndSaysWhyWhenANodeCannotBeStarted) {
    World world;
    const Outcome submitted = world.submit("a");
    const Outcome failed = world.apply(EffectDone{submitted.effects[0].id, false, "no such image"});
    EXPECT_EQ(count_effects<StartNode>(failed), 0);
    const Outcome out = world.apply(ExplainJob{9, "w", "a"});
    EXPECT_NE(out.replies[0].answer->explanation.text.find("no such image"), std::string::npos);
    EXPECT_EQ(count_effects<StartNode>(world.tick(5s)), 1);
}

TEST(Plane, KeepsATaskThatARestartedMachineHasBegunAnew) {
    World world;
    const Outcome submitted = world.submit("a");
    world.apply(EffectDone{submitted.effects[0].id, true, ""});
    world.apply(NodeLinked{{1}, ++world.links, {.node = {1}, .boot = "m1.p1"}});
    const LiveRows before = world.plane.rows();
    world.apply(NodeLinked{{1}, ++world.links, {.node = {1}, .boot = "m2.p1", .tasks = {{.task = kFirst}}}});
    EXPECT_EQ(world.plane.rows().tasks, before.tasks);
    world.put_away(world.apply(NodeLinked{{1}, ++world.links, {.node = {1}, .boot = "m3.p1"}}));
    EXPECT_EQ(world.heads["a"].preemptions, 1);
}

TEST(Plane, IsMadeAnewFromItsRows) {
    World world(3);
    world.carry_out(world.submit("a"));
    world.submit("b");
    world.submit("gang", 2);
    world.report(1, kFirst, TaskPhase::Running);
    const LiveRows rows = world.plane.rows();
    const Plane again(World::settings(3), rows, world.now);
    EXPECT_EQ(again.rows(), rows);
}

}  // namespace
}  // namespace lavant::plane
