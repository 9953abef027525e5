// What happens beside a job's life: webhooks, outputs that become assets, lineage, kinds without an engine,
// the end of a workspace.

#include <gtest/gtest.h>

#include "core/plane/plane_world_test.h"

namespace lavant::plane {
namespace {

SubmitJob a_submission(const std::string& name, JobHooks hooks) {
    SubmitJob event{.ticket = 1};
    event.job.head.workspace = "w";
    event.job.head.name = name;
    event.job.head.hooks = std::move(hooks);
    event.pool = {.workspace = "w",
                  .key = "p",
                  .size = "s",
                  .node_resources = kNode,
                  .nodes_max = 9,
                  .idle_before_release = 2min};
    return event;
}

std::string told(const Outcome& out) {
    std::string statuses;
    for (const OutboxEntry& entry : out.effects)
        if (const auto* notice = std::get_if<NotifyOfJob>(&entry.effect)) statuses += notice->status + " ";
    return statuses;
}

TEST(PlaneHooks, TellEveryStatusOfAJobThatWantsIt) {
    World world;
    const Outcome queued = world.apply(a_submission("a", {.notify = "https://x/"}));
    EXPECT_EQ(told(queued), "Queued ");
    const auto notice = std::get<NotifyOfJob>(entry_of<NotifyOfJob>(queued).effect);
    EXPECT_EQ(notice.url, "https://x/");
    EXPECT_EQ(notice.sequence, queued.writes.events.at(0).sequence);
    EXPECT_EQ(told(world.submit("b")), "") << "others have nobody to tell";
    const Outcome ended =
        world.apply(CancelJob{.ticket = 1, .workspace = "w", .name = "a", .who = "ann", .stored = {}});
    EXPECT_EQ(told(ended), "Canceled ");
}

TEST(PlaneHooks, TryADeliveryAgainUnlessItIsHopelessOrTooOften) {
    World world;
    const std::int64_t first =
        effect_id<NotifyOfJob>(world.apply(a_submission("a", {.notify = "https://x/"})));
    world.apply(EffectDone{first, false, "it is down", ErrorCode::Unavailable});
    EXPECT_EQ(count_effects<NotifyOfJob>(world.tick(1h)), 1);
    world.apply(EffectDone{first, false, "it said 410", ErrorCode::InvalidArgument});
    EXPECT_EQ(count_effects<NotifyOfJob>(world.tick(24h)), 0);
    const std::int64_t second =
        effect_id<NotifyOfJob>(world.apply(a_submission("b", {.notify = "https://x/"})));
    int tries = 0;
    for (bool again = true; again; ++tries) {
        world.apply(EffectDone{second, false, "it is down", ErrorCode::Unavailable});
        again = count_effects<NotifyOfJob>(world.tick(24h)) == 1;
    }
    EXPECT_GT(tries, 5);
    EXPECT_LT(tries, 50);
}

TEST(PlaneHooks, HandOverWhatIsCompletedAndRegistersOutputs) {
    World world;
    world.carry_out(world.apply(a_submission("a", {.registers_outputs = true})));
    world.report(1, kFirst, TaskPhase::Running);
    const Outcome done = world.put_away(world.report(1, kFirst, TaskPhase::Ended, {.has_outputs = true}));
    ASSERT_EQ(done.completed.size(), 1U);
    EXPECT_EQ(done.completed[0].name, "a");
    EXPECT_EQ(world.status("a"), "Completed");

    world.carry_out(world.apply(a_submission("b", {.registers_outputs = true})));
    const TaskRef second{{2}, 1, 0};
    world.report(1, second, TaskPhase::Running);
    const Outcome failed = world.put_away(world.report(
        1, second, TaskPhase::Ended, {.reason = EndReason::Exited, .exit_code = 3, .has_outputs = true}));
    EXPECT_EQ(world.status("b"), "Failed");
    EXPECT_TRUE(failed.completed.empty());
}

TEST(PlaneHooks, KeepLineageWithTheJobsNumber) {
    World world;
    SubmitJob event = a_submission("a", {});
    event.lineage = {{.workspace = "w", .port = "in", .kind = "data", .name = "fruit", .version = "1"}};
    const Outcome out = world.apply(event);
    ASSERT_EQ(out.writes.lineage.size(), 1U);
    EXPECT_EQ(out.writes.lineage[0].job, (JobId{1}));
}

TEST(PlaneHooks, StoreAKindWithoutAnEngineAsFailed) {
    World world;
    SubmitJob event = a_submission("s", {.notify = "https://x/"});
    event.job.body.kind = "sweep";
    event.unsupported = "sweep jobs are not supported yet";
    const Outcome out = world.apply(event);
    EXPECT_EQ(told(out), "Queued Failed ");
    EXPECT_EQ(world.story["s"], "Queued Failed");
    ASSERT_EQ(out.writes.jobs_added.size(), 1U);
    const JobHead& head = out.writes.jobs_added[0].head;
    EXPECT_EQ(head.status, JobStatus::Failed);
    EXPECT_EQ(head.error->code, "NotSupported");
    EXPECT_EQ(head.version, 1);
    EXPECT_TRUE(world.plane.rows().jobs.empty());
    EXPECT_EQ(world.plane.census().jobs_live, 0U);
}

TEST(PlaneHooks, AWorkspaceGoesWhenNothingLivesInIt) {
    World world;
    world.submit("a");
    DeleteWorkspace event{
        .ticket = 1, .workspace = "w", .row = {}, .containers = {"azureml-w"}, .who = "ann"};
    const Outcome refused = world.apply(event);
    ASSERT_FALSE(refused.replies.at(0).answer);
    EXPECT_EQ(refused.replies[0].answer.error().code, ErrorCode::Conflict);
    EXPECT_TRUE(refused.writes.workspaces_removed.empty());
    world.apply(CancelJob{.ticket = 1, .workspace = "w", .name = "a", .who = "ann", .stored = {}});
    const Outcome gone = world.apply(event);
    ASSERT_TRUE(gone.replies.at(0).answer);
    EXPECT_EQ(gone.writes.workspaces_removed, std::vector<std::string>{"w"});
    EXPECT_EQ(effect_of<DropContainers>(gone), (DropContainers{"w", {"azureml-w"}}));
}

}  // namespace
}  // namespace lavant::plane
