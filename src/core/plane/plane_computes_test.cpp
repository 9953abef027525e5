// Clusters, quotas, locks, evictions, ranks and devices.

#include "core/plane/plane_world_test.h"

namespace lavant::plane {
namespace {

constexpr const char* kWorkspaceId = "/subscriptions/s/resourcegroups/g/workspaces/w";

PutCompute cluster(const std::string& name, int nodes_min, int nodes_max, bool is_new = true) {
    PutCompute put{.asset = {}, .pool = Pool{}, .is_new = is_new};
    put.asset.key = {"w", "computes", name, ""};
    put.pool->size = "Standard_DS3_v2";
    put.pool->node_resources = kNode;
    put.pool->nodes_min = nodes_min;
    put.pool->nodes_max = nodes_max;
    put.pool->idle_before_release = 120s;
    put.pool->terms = {.arm_id = std::string(kWorkspaceId) + "/computes/" + name,
                       .location = "local",
                       .family = "standardDSv2Family",
                       .vcpus = 4,
                       .price = 3'600'000};
    return put;
}

SubmitJob job_on(const std::string& pool_key, const std::string& name, int instances = 1) {
    SubmitJob submit;
    submit.job.head.workspace = "w";
    submit.job.head.name = name;
    submit.job.head.instances = instances;
    submit.job.head.demand.user = "ann";
    submit.pool.workspace = "w";
    submit.pool.key = pool_key;
    return submit;
}

SubmitJob serverless(const std::string& name, int instances = 1, int vcpus = 4) {
    SubmitJob submit = job_on("serverless/x/" + std::to_string(vcpus), name, instances);
    submit.pool.size = "Standard_DS3_v2";
    submit.pool.node_resources = kNode;
    submit.pool.nodes_max = 1000;
    submit.pool.idle_before_release = 120s;
    submit.pool.terms = {.arm_id = std::string(kWorkspaceId) + "/serverless",
                         .location = "local",
                         .family = "standardDSv2Family",
                         .vcpus = vcpus};
    return submit;
}

std::string refusal(const Outcome& out) {
    if (out.replies.empty() || out.replies[0].answer) return "";
    const Error& error = out.replies[0].answer.error();
    return error.fields.empty() ? error.message : error.fields[0].message;
}

SetQuota quota(std::int64_t cores) {
    return {.quota = {{"local", "standardDSv2Family", Tier::Dedicated}, QuotaLevel::Subscription, cores},
            .who = "owner"};
}

std::size_t nodes_of(const World& world) { return world.plane.rows().nodes.size(); }

void run_to_end(World& world, std::int64_t job) {
    for (const Task& task : world.plane.rows().tasks)
        if (task.ref.job.value == job)
            world.carry_out(world.apply(TaskReported{
                task.node, world.link_of[task.node], {.task = task.ref, .phase = TaskPhase::Ended}}));
}

TEST(PlaneComputes, ScalesAClusterFromZeroToTwoAndBack) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    EXPECT_EQ(nodes_of(world), 0U);
    for (const char* name : {"a", "b", "c"}) world.carry_out(world.apply(job_on("compute/c", name)));
    EXPECT_EQ(nodes_of(world), 2U);
    EXPECT_EQ(world.status("c"), "Queued");
    for (std::int64_t job = 1; job <= 3; ++job) run_to_end(world, job);
    EXPECT_EQ(world.status("c"), "Completed");
    for (int i = 0; i < 119; ++i) world.carry_out(world.tick(1s));
    EXPECT_EQ(nodes_of(world), 2U) << "not before its idle time";
    for (int i = 0; i < 3; ++i) world.carry_out(world.tick(1s));
    EXPECT_EQ(nodes_of(world), 0U);
    EXPECT_EQ(world.plane.rows().pools.size(), 1U) << "the cluster stays";
}

TEST(PlaneComputes, KeepsAFixedClusterAtItsSize) {
    World world;
    world.carry_out(world.apply(cluster("c", 2, 2)));
    EXPECT_EQ(nodes_of(world), 2U);
    for (int i = 0; i < 500; ++i) world.carry_out(world.tick(1s));
    EXPECT_EQ(nodes_of(world), 2U);
}

TEST(PlaneComputes, LeavesNothingOfWhatWasDeleted) {
    World world;
    for (int i = 0; i < 50; ++i) {
        world.carry_out(world.apply(cluster("c", 1, 2)));
        EXPECT_EQ(nodes_of(world), 1U);
        world.carry_out(world.apply(DeleteCompute{.workspace = "w", .name = "c", .who = "ann"}));
    }
    const LiveRows rows = world.plane.rows();
    EXPECT_TRUE(rows.nodes.empty() && rows.pools.empty() && rows.outbox.empty());
}

TEST(PlaneComputes, RefusesWhatCannotBeAndChangesNothing) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    const LiveRows before = world.plane.rows();
    const auto refuses = [&](const Event& event, const std::string& words) {
        const std::string message = refusal(world.apply(event));
        EXPECT_NE(message.find(words), std::string::npos) << words << ": " << message;
    };
    refuses(cluster("c", 0, 2), "already");
    refuses(cluster("d", 0, 2, false), "there is no compute 'd'");
    refuses(cluster("d", 3, 2), "min_instances");
    PutCompute changed = cluster("c", 0, 2, false);
    changed.pool->size = "Standard_DS4_v2";
    refuses(changed, "size is Standard_DS3_v2 and cannot become Standard_DS4_v2");
    changed = cluster("c", 0, 2, false);
    changed.pool->terms.tier = Tier::LowPriority;
    refuses(changed, "tier is dedicated");
    changed = cluster("c", 0, 2, false);
    changed.pool->terms.location = "westus";
    refuses(changed, "location is local");
    changed = cluster("c", 0, 2, false);
    changed.pool->terms.subnet = "/n";
    refuses(changed, "network_settings");
    refuses(cluster("big", 0, 251), "at most 248 fit");
    refuses(DeleteCompute{.workspace = "w", .name = "x"}, "there is no compute 'x'");
    refuses(job_on("compute/x", "j"), "the compute was deleted");
    refuses(quota(4), "8 vCPUs are in use (8 by compute c)");
    EXPECT_EQ(world.plane.rows(), before);
}

TEST(PlaneComputes, DeletesNoClusterInUse) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    world.carry_out(world.apply(job_on("compute/c", "a")));
    const std::string message = refusal(world.apply(DeleteCompute{.workspace = "w", .name = "c"}));
    EXPECT_NE(message.find("in use by 1 job (a)"), std::string::npos) << message;
    run_to_end(world, 1);
    EXPECT_EQ(refusal(world.apply(DeleteCompute{.workspace = "w", .name = "c"})), "");
}

TEST(PlaneComputes, CountsNodesThatAreNotThereAndReleasesWithTheCluster) {
    World world;
    world.carry_out(world.apply(quota(12)));
    world.carry_out(world.apply(cluster("c", 0, 2)));
    EXPECT_NE(refusal(world.apply(cluster("d", 0, 2))).find("set max_instances to at most 1"),
              std::string::npos);
    world.carry_out(world.apply(DeleteCompute{.workspace = "w", .name = "c"}));
    EXPECT_EQ(refusal(world.apply(cluster("d", 0, 2))), "");
    EXPECT_EQ(refusal(world.apply(cluster("d", 0, 3, false))), "") << "its own cores are its own";
}

TEST(PlaneComputes, AnswersAJobByItsQuota) {
    World world;
    world.carry_out(world.apply(quota(8)));
    const Outcome few = world.apply(serverless("a", 3));
    EXPECT_NE(refusal(few).find("at most 2 fit"), std::string::npos) << refusal(few);
    EXPECT_NE(refusal(few).find("instance_count: 2"), std::string::npos);
    EXPECT_NE(refusal(few).find("--family standardDSv2Family --cores 12"), std::string::npos);
    ASSERT_EQ(few.replies[0].answer.error().fields.size(), 1U);
    EXPECT_EQ(few.replies[0].answer.error().fields[0].path, "properties.resources.instanceCount");

    world.carry_out(world.apply(quota(2)));
    const std::string none = refusal(world.apply(serverless("a")));
    EXPECT_NE(none.find("no quota for Standard_DS3_v2"), std::string::npos) << none;
    EXPECT_NE(none.find("Sizes that fit: Standard_"), std::string::npos) << none;

    world.carry_out(world.apply(quota(4)));
    world.carry_out(world.apply(serverless("a")));
    EXPECT_EQ(world.heads["a"].queue_warning, "");
    world.carry_out(world.apply(serverless("b")));
    EXPECT_EQ(world.status("b"), "Queued");
    EXPECT_NE(world.heads["b"].queue_warning.find("4 of 4 are in use (4 by serverless jobs)"),
              std::string::npos)
        << world.heads["b"].queue_warning;
    const Outcome why = world.apply(ExplainJob{9, "w", "b"});
    const Explanation& explanation = why.replies[0].answer->explanation;
    EXPECT_EQ(explanation.reason, "quota");
    EXPECT_EQ(explanation.cores_used, 4);
    EXPECT_EQ(explanation.cores_limit, 4);
    run_to_end(world, 1);
    EXPECT_EQ(world.status("b"), "Preparing");
    EXPECT_EQ(world.heads["b"].queue_warning, "") << "removed when it starts";
}

TEST(PlaneComputes, NamesTheLockThatKeepsAClusterFromScaling) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    const PutLock put{
        .lock = {.scope = "/subscriptions/s/resourcegroups/g", .name = "keep", .created_by = "o"}};
    world.carry_out(world.apply(put));
    world.carry_out(world.apply(job_on("compute/c", "a")));
    EXPECT_EQ(nodes_of(world), 0U);
    const Outcome why = world.apply(ExplainJob{9, "w", "a"});
    const std::string& text = why.replies[0].answer->explanation.text;
    EXPECT_EQ(why.replies[0].answer->explanation.lock, "keep");
    for (const char* words : {"'keep'", "CanNotDelete", "/subscriptions/s/resourcegroups/g",
                              "keeps the pool from growing from 0 nodes", "lock single items instead"})
        EXPECT_NE(text.find(words), std::string::npos) << words << ": " << text;
    EXPECT_NE(refusal(world.apply(DeleteCompute{.workspace = "w", .name = "c"})).find("'keep'"),
              std::string::npos);
    PutLock read_only{.lock = {.scope = kWorkspaceId, .name = "ro", .level = LockLevel::ReadOnly}};
    world.carry_out(world.apply(read_only));
    EXPECT_NE(refusal(world.apply(cluster("d", 0, 1))).find("'ro'"), std::string::npos);
    world.carry_out(world.apply(DeleteLock{.scope = kWorkspaceId, .name = "ro"}));
    world.carry_out(world.apply(DeleteLock{.scope = "/subscriptions/s/resourcegroups/g", .name = "keep"}));
    EXPECT_EQ(nodes_of(world), 1U);
    EXPECT_EQ(refusal(world.apply(DeleteLock{.scope = "/x", .name = "keep"})),
              "there is no lock 'keep' on /x");
}

TEST(PlaneComputes, EvictsWithGraceAndGoesOn) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 1)));
    world.carry_out(world.apply(job_on("compute/c", "a")));
    for (int attempt = 1; attempt <= 3; ++attempt) {
        const Task task = world.plane.rows().tasks.at(0);
        EXPECT_EQ(task.ref.attempt, attempt);
        const Outcome evicted =
            world.apply(EvictNode{.ticket = 1, .workspace = "w", .compute = "c", .who = "ann"});
        EXPECT_EQ(evicted.replies[0].answer->node, task.node);
        ASSERT_EQ(count<StopTask>(evicted), 1);
        const auto& stop = std::get<StopTask>(evicted.sends[0].message);
        EXPECT_TRUE(stop.preempted);
        EXPECT_EQ(Duration(stop.grace_micros), 30s);
        EXPECT_EQ(count_effects<StopNode>(evicted), 0) << "not before its task ended";
        const Outcome ended =
            world.apply(TaskReported{task.node,
                                     world.link_of[task.node],
                                     {.task = task.ref,
                                      .phase = TaskPhase::Ended,
                                      .end = {.reason = EndReason::Preempted, .has_outputs = true}}});
        EXPECT_EQ(count_effects<StopNode>(ended), 1);
        EXPECT_EQ(effect_of<PublishOutputs>(ended)->again, true);
        world.carry_out(ended);
    }
    EXPECT_EQ(world.heads["a"].preemptions, 3);
    EXPECT_EQ(world.heads["a"].retries_used, 0);
    EXPECT_EQ(world.status("a"), "Preparing");
    EXPECT_NE(refusal(world.apply(EvictNode{.workspace = "w", .compute = "x"})).find("has no node"),
              std::string::npos);
}

TEST(PlaneComputes, TakesANodeWhoseTasksIgnoreTheirGrace) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 1)));
    world.carry_out(world.apply(job_on("compute/c", "a")));
    world.apply(EvictNode{.workspace = "w", .compute = "c", .who = "ann"});
    int stops = 0;
    for (int i = 0; i < 70; ++i) {
        const Outcome out = world.tick(1s);
        stops += count_effects<StopNode>(out);
        world.carry_out(out);
    }
    EXPECT_EQ(stops, 1);
    EXPECT_EQ(world.heads["a"].preemptions, 1);
}

TEST(PlaneComputes, StartsARankForEveryProcessAndEndsAllWithTheFirstCause) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    SubmitJob submit = job_on("compute/c", "gang", 2);
    submit.job.head.demand.processes = 2;
    world.carry_out(world.apply(submit));
    const LiveRows rows = world.plane.rows();
    ASSERT_EQ(rows.tasks.size(), 4U);
    EXPECT_EQ(rows.tasks[0].node, rows.tasks[1].node);
    EXPECT_NE(rows.tasks[1].node, rows.tasks[2].node);
    EXPECT_GE(rows.jobs[0].port, 20'000);
    const auto ends = [&](const Task& task, TaskEnd end) {
        return world.apply(
            TaskReported{task.node,
                         world.link_of[task.node],
                         {.task = task.ref, .phase = TaskPhase::Ended, .end = std::move(end)}});
    };
    const Outcome first = ends(rows.tasks[2], {.exit_code = 7});
    EXPECT_EQ(count<StopTask>(first), 3);
    ends(rows.tasks[0], {.exit_code = 1});  // lost its peer
    ends(rows.tasks[1], {.reason = EndReason::Stopped});
    ends(rows.tasks[3], {.reason = EndReason::Stopped});
    EXPECT_EQ(world.status("gang"), "Failed");
    EXPECT_EQ(world.heads["gang"].error->exit_code, 7) << "the first cause, not the lowest rank";
}

TEST(PlaneComputes, GivesEveryGangPortsOfItsOwn) {
    World world(8);
    world.carry_out(world.apply(cluster("c", 0, 8)));
    for (const char* name : {"a", "b", "d"}) world.carry_out(world.apply(job_on("compute/c", name, 2)));
    EXPECT_EQ(world.heads["a"].port + 2, world.heads["b"].port);
    const int freed = world.heads["a"].port;
    run_to_end(world, 1);
    world.carry_out(world.apply(job_on("compute/c", "e", 2)));
    EXPECT_EQ(world.heads["e"].port, freed);
}

TEST(PlaneComputes, GivesEveryNodeDevicesOfItsOwn) {
    World world;
    Settings settings = World::settings(4);
    settings.capacity.gpus = 3;
    settings.gpu_names = {"fake0", "fake1", "fake2"};
    world.plane = Plane(settings);
    PutCompute put = cluster("g", 0, 4);
    put.pool->node_resources.gpus = 1;
    world.carry_out(world.apply(put));
    for (const char* name : {"a", "b", "c", "d"}) world.carry_out(world.apply(job_on("compute/g", name)));
    std::set<std::string> devices;
    for (const Task& task : world.plane.rows().tasks) devices.insert(task.gpus);
    EXPECT_EQ(devices, (std::set<std::string>{"fake0", "fake1", "fake2"}));
    EXPECT_EQ(world.status("d"), "Queued") << "no device is shared";
    const Outcome why = world.apply(ExplainJob{9, "w", "d"});
    EXPECT_NE(why.replies[0].answer->explanation.text.find("3 of 3 GPUs"), std::string::npos);
}

TEST(PlaneComputes, GivesEveryRankOfAnEvictedGangTheSameGrace) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    SubmitJob submit = job_on("compute/c", "gang", 2);
    submit.job.head.demand.grace = 600s;
    world.carry_out(world.apply(submit));
    const LiveRows rows = world.plane.rows();
    world.apply(EvictNode{.workspace = "w", .compute = "c", .node = rows.tasks[0].node, .who = "ann"});
    const Outcome first = world.apply(TaskReported{
        rows.tasks[0].node,
        world.link_of[rows.tasks[0].node],
        {.task = rows.tasks[0].ref, .phase = TaskPhase::Ended, .end = {.reason = EndReason::Preempted}}});
    int stops = 0;
    for (const Send& send : first.sends)
        if (const auto* stop = std::get_if<StopTask>(&send.message)) {
            ++stops;
            EXPECT_TRUE(stop->preempted);
            EXPECT_EQ(Duration(stop->grace_micros), 600s);
        }
    EXPECT_EQ(stops, 1);
}

TEST(PlaneComputes, RefusesAChangeMadeFromAnOldState) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    PutCompute change = cluster("c", 0, 3, false);
    change.pool->version = world.plane.rows().pools[0].version;
    EXPECT_EQ(refusal(world.apply(change)), "");
    EXPECT_NE(refusal(world.apply(change)).find("changed by somebody else"), std::string::npos);
}

TEST(PlaneComputes, KeepsItsLocksHoweverItIsSpelt) {
    World world;
    world.carry_out(world.apply(cluster("Cpu", 0, 2)));
    EXPECT_NE(refusal(world.apply(cluster("cPU", 0, 2))).find("already"), std::string::npos);
    world.apply(
        PutLock{.lock = {.scope = std::string(kWorkspaceId), .name = "ro", .level = LockLevel::ReadOnly}});
    PutCompute foreign = cluster("Cpu", 0, 1, false);
    foreign.pool->terms.arm_id = "/subscriptions/x/resourcegroups/y/workspaces/z/computes/cpu";
    EXPECT_NE(refusal(world.apply(foreign)).find("'ro'"), std::string::npos);
}

TEST(PlaneComputes, KeepsAClusterLargeEnoughForWhoWaits) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 2)));
    world.carry_out(world.apply(job_on("compute/c", "a")));
    world.apply(job_on("compute/c", "gang", 2));
    EXPECT_NE(refusal(world.apply(cluster("c", 0, 1, false))).find("'gang' waits for 2 nodes"),
              std::string::npos);
    EXPECT_NE(refusal(world.apply(job_on("compute/c", "big", 3))).find("at most 2"), std::string::npos);
}

TEST(PlaneComputes, KeepsALedgerOfWhatWasUsed) {
    World world;
    world.carry_out(world.apply(cluster("c", 0, 1)));
    world.carry_out(world.apply(job_on("compute/c", "a")));
    world.now += 1h;
    const Task task = world.plane.rows().tasks.at(0);
    const Outcome ended = world.apply(
        TaskReported{task.node, world.link_of[task.node], {.task = task.ref, .phase = TaskPhase::Ended}});
    ASSERT_EQ(ended.writes.usage.size(), 1U);
    const UsageEntry& entry = ended.writes.usage[0];
    EXPECT_EQ(entry.kind, UsageKind::Task);
    EXPECT_EQ(entry.user, "ann");
    EXPECT_EQ(entry.job, "a");
    EXPECT_EQ(entry.compute, "c");
    EXPECT_EQ(Duration(entry.node_micros), 1h);
    EXPECT_EQ(entry.price_micros, 3'600'000);
    std::vector<UsageEntry> nodes;
    for (int i = 0; i < 130; ++i) {
        Outcome out = world.tick(1s);
        for (const OutboxEntry& effect : out.effects) {
            const Outcome done = world.apply(EffectDone{effect.id});
            nodes.insert(nodes.end(), done.writes.usage.begin(), done.writes.usage.end());
        }
    }
    ASSERT_EQ(nodes.size(), 1U);
    EXPECT_EQ(nodes[0].kind, UsageKind::Node);
    EXPECT_EQ(Duration(nodes[0].node_micros), 1h + 120s);
}

TEST(PlaneComputes, WaitsLongerAfterEveryStartThatFails) {
    World world;
    Outcome out = world.apply(serverless("a"));
    std::vector<Duration> pauses;
    for (int i = 0; i < 4; ++i) {
        world.apply(EffectDone{effect_id<StartNode>(out), false, "no machine"});
        const Instant failed = world.now;
        while (true) {
            out = world.tick(1s);
            if (count_effects<StartNode>(out) > 0) break;
        }
        pauses.push_back(world.now - failed);
    }
    EXPECT_EQ(pauses, (std::vector<Duration>{5s, 10s, 20s, 40s}));
}

TEST(PlaneComputes, TimesOutAProviderThatLies) {
    World world;
    const Outcome out = world.apply(serverless("a"));
    world.apply(EffectDone{effect_id<StartNode>(out)});  // says it started, and nobody comes
    int stops = 0;
    int starts = 0;
    for (int i = 0; i < 126; ++i) {
        const Outcome next = world.tick(1s);
        stops += count_effects<StopNode>(next);
        starts += count_effects<StartNode>(next);
    }
    EXPECT_EQ(stops, 1);
    EXPECT_EQ(starts, 1);
}

}  // namespace
}  // namespace lavant::plane
