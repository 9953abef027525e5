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

// One batch, as the control loop makes it.
Outcome batch_of(World& world, const std::vector<Event>& events) {
    Outcome out;
    for (const Event& event : events) world.plane.apply(event, world.now, out);
    world.plane.decide(world.now, out);
    return out;
}

DeleteWorkspace deletion_of_w() {
    return {.ticket = 1, .workspace = "w", .row = {}, .containers = {}, .who = "ann"};
}

// All that users can ask of workspace "w".
std::vector<Event> all_about_w() {
    SubmitJob submit{.ticket = 2, .job = {}, .pool = {.workspace = "w", .key = "p", .size = "s"}};
    submit.pool.node_resources = kNode;
    submit.pool.nodes_max = 1;
    submit.job.head.workspace = "w";
    submit.job.head.name = "late";
    SubmitJob unsupported = submit;
    unsupported.unsupported = "sweep jobs are not supported yet";
    Job ended;
    ended.head.workspace = "w";
    ended.head.name = "old";
    ended.head.id = {7};
    ended.head.status = JobStatus::Completed;
    AssetWrite write;
    write.asset.key = {"w", "data", "d", "1"};
    AssetWrite elsewhere;
    elsewhere.asset.key = {"", "api_keys", "k", ""};
    return {
        submit,
        unsupported,
        CancelJob{.ticket = 2, .workspace = "w", .name = "old", .who = "ann", .stored = ended},
        EditJob{.ticket = 2, .workspace = "w", .name = "old", .meta = {}, .properties = {}, .stored = ended},
        DeleteJob{.ticket = 2, .workspace = "w", .name = "old", .who = "ann", .stored = ended},
        PutCompute{.ticket = 2,
                   .asset = {.key = {"w", "computes", "c", ""}},
                   .pool = {},
                   .is_new = true,
                   .who = "ann"},
        DeleteCompute{.ticket = 2, .workspace = "w", .name = "c", .who = "ann"},
        EvictNode{.ticket = 2, .workspace = "w", .compute = "c", .node = {}, .who = "ann"},
        WriteAssets{.ticket = 2, .writes = {elsewhere, write}},
        ExplainJob{.ticket = 2, .workspace = "w", .name = "late"},
        [] {
            DeleteWorkspace again = deletion_of_w();
            again.ticket = 2;
            return again;
        }()};
}

const Result<Answer>* answer_to(const Outcome& out, Ticket ticket) {
    for (const Reply& reply : out.replies)
        if (reply.ticket == ticket) return &reply.answer;
    return nullptr;
}

TEST(PlaneHooks, NothingComesIntoAWorkspaceThatIsGone) {
    for (const bool in_one_batch : {true, false}) {
        for (const Event& late : all_about_w()) {
            SCOPED_TRACE(testing::Message() << "event " << late.index() << ", one batch " << in_one_batch);
            World world;
            Outcome out;
            if (in_one_batch) {
                out = batch_of(world, {deletion_of_w(), late});
            } else {
                batch_of(world, {deletion_of_w()});
                out = batch_of(world, {late});
            }
            const Result<Answer>* answer = answer_to(out, 2);
            ASSERT_NE(answer, nullptr);
            ASSERT_FALSE(*answer);
            EXPECT_EQ(answer->error().code, ErrorCode::NotFound);
            EXPECT_TRUE(out.writes.jobs_added.empty());
            EXPECT_TRUE(out.writes.metas_changed.empty());
            EXPECT_TRUE(out.writes.jobs_removed.empty());
            EXPECT_TRUE(out.writes.pools.empty());
            EXPECT_TRUE(out.asset_replies.empty());
            EXPECT_EQ(out.writes.assets.size(), in_one_batch ? 1U : 0U) << "the workspace's own row";
        }
    }
}

TEST(PlaneHooks, AWorkspaceStaysForWhatCameIntoItInTheSameBatch) {
    for (const Event& first : all_about_w()) {
        if (std::holds_alternative<ExplainJob>(first) || std::holds_alternative<DeleteWorkspace>(first))
            continue;
        SCOPED_TRACE(testing::Message() << "event " << first.index());
        World world;
        const Outcome out = batch_of(world, {first, deletion_of_w()});
        ASSERT_FALSE(*answer_to(out, 1));
        EXPECT_EQ(answer_to(out, 1)->error().code, ErrorCode::Conflict);
        EXPECT_TRUE(out.writes.workspaces_removed.empty());
    }
}

TEST(PlaneHooks, AWorkspaceStaysForAJobThatEndsInTheSameBatch) {
    World world;
    world.submit("a");
    const Outcome out = batch_of(
        world,
        {CancelJob{.ticket = 2, .workspace = "w", .name = "a", .who = "ann", .stored = {}}, deletion_of_w()});
    ASSERT_TRUE(*answer_to(out, 2));
    ASSERT_FALSE(*answer_to(out, 1));
    EXPECT_TRUE(*answer_to(batch_of(world, {deletion_of_w()}), 1)) << "the next time it goes";
}

TEST(PlaneHooks, APlaneMadeAnewKnowsWhichWorkspacesAreGone) {
    World world;
    batch_of(world, {deletion_of_w()});
    Plane anew(World::settings(4), world.plane.rows(), world.now);
    anew.remember_gone(world.plane, {});
    Outcome out;
    anew.apply(all_about_w().front(), world.now, out);
    EXPECT_EQ(answer_to(out, 2)->error().code, ErrorCode::NotFound);
    Plane other(World::settings(4), world.plane.rows(), world.now);
    other.remember_gone(world.plane, {"w"});
    Outcome doubtful;
    other.apply(all_about_w().front(), world.now, doubtful);
    EXPECT_TRUE(*answer_to(doubtful, 2)) << "its deletion was perhaps not stored";
}

TEST(PlaneHooks, RemembersALimitedNumberOfWorkspaces) {
    GoneWorkspaces gone;
    for (std::size_t i = 0; i <= GoneWorkspaces::kKept; ++i) gone.add("w" + std::to_string(i));
    EXPECT_FALSE(gone.contains("w0"));
    EXPECT_TRUE(gone.contains("w1"));
    gone.add("w1");
    EXPECT_TRUE(gone.contains("w2")) << "one that is known takes no place";
}

}  // namespace
}  // namespace lavant::plane
