// Nodes and pools that go, quotas, locks and the ledger.

#include "tests/contract/store_contract.h"
#include "tests/support/builders.h"

namespace lavant::test {
namespace {

class StoreCompute : public StoreContract {};

TEST_P(StoreCompute, NodesAndPoolsThatAreRemovedLeaveTheirNumbersTaken) {
    WriteBatch batch;
    batch.nodes = {a_node(1), a_node(2)};
    batch.pools = {a_pool(1), a_pool(2)};
    commit(batch);
    WriteBatch removal;
    Node last = a_node(2);
    last.version = 2;
    last.state = NodeState::Released;
    removal.nodes = {last};  // its last state and its end, in one
    removal.nodes_removed = {NodeId{2}, NodeId{77}};
    removal.pools_removed = {PoolId{2}, PoolId{77}};
    commit(removal);
    removal.nodes.clear();
    commit(removal);
    reopen();
    const LiveRows rows = *store().load_live();
    EXPECT_EQ(rows.nodes, std::vector<Node>{a_node(1)});
    EXPECT_EQ(rows.pools, std::vector<Pool>{a_pool(1)});
    EXPECT_EQ(*reader().list_nodes(), rows.nodes);
    EXPECT_EQ(*reader().list_pools(), rows.pools);
    EXPECT_EQ(rows.last_node, 2);
    EXPECT_EQ(rows.last_pool, 2);
}

TEST_P(StoreCompute, WhatAJobATaskANodeAndAPoolGainInTheirLivesIsKept) {
    WriteBatch batch = with_jobs({a_job(1)});
    batch.tasks = {a_task(1, 1)};
    batch.nodes = {a_node(1)};
    batch.pools = {a_pool(1)};
    commit(batch);
    WriteBatch next;
    JobHead head = changed(a_job(1).head, JobStatus::Running);
    head.preemptions = 5;
    head.port = 0;
    head.queue_warning = "";
    next.jobs_changed = {head};
    next.tasks = {a_task(1, 1)};
    next.tasks[0].version = 2;
    next.tasks[0].gpus = "";
    next.tasks[0].assigned_at = from_micros(3);
    next.nodes = {a_node(1)};
    next.nodes[0].version = 2;
    next.nodes[0].gpus = "3";
    next.pools = {a_pool(1)};
    next.pools[0].version = 2;
    next.pools[0].leaving = true;
    next.pools[0].terms = {};
    commit(next);
    reopen();
    const LiveRows rows = *store().load_live();
    EXPECT_EQ(rows.jobs, next.jobs_changed);
    EXPECT_EQ(rows.nodes, next.nodes);
    EXPECT_EQ(rows.pools, next.pools);
    EXPECT_TRUE(rows.pools.at(0).is_serverless());
    EXPECT_EQ(*reader().list_tasks(JobId{1}), next.tasks);
}

TEST_P(StoreCompute, QuotasArePutByTheirKeyAndLevel) {
    WriteBatch batch;
    Quota other_level = a_quota("b", 30);
    other_level.level = QuotaLevel::Subscription;
    Quota other_tier = a_quota("b", 40);
    other_tier.key.tier = Tier::Dedicated;
    batch.quotas = {a_quota("b", 10), a_quota("", 20), other_level, other_tier};
    commit(batch);
    WriteBatch again;
    again.quotas = {a_quota("b", 11), a_quota("b", 12)};
    commit(again);
    reopen();
    const std::vector<Quota> expected{a_quota("", 20), other_tier, other_level, a_quota("b", 12)};
    EXPECT_EQ(*reader().list_quotas(), expected);
    EXPECT_EQ(store().load_live()->quotas, expected);
}

TEST_P(StoreCompute, LocksArePutAndRemovedByScopeAndName) {
    WriteBatch batch;
    batch.locks = {{a_lock("/b", "x")}, {a_lock("/a", "y")}, {a_lock("/a", "x")}};
    commit(batch);
    Lock changed = a_lock("/a", "y");
    changed.level = LockLevel::CanNotDelete;
    changed.notes = "";
    WriteBatch next;
    next.locks = {{changed}, {a_lock("/a", "x"), true}, {a_lock("/a", "none"), true}};
    commit(next);
    reopen();
    const std::vector<Lock> expected{changed, a_lock("/b", "x")};
    EXPECT_EQ(*reader().list_locks(), expected);
    EXPECT_EQ(store().load_live()->locks, expected);
}

TEST_P(StoreCompute, UsageIsSummedByWhatIsAskedForTheLargestFirst) {
    WriteBatch batch;
    batch.usage = {a_usage("ann", "a", 10), a_usage("bob", "b", 50), a_usage("ann", "c", 45)};
    UsageEntry cluster = a_usage("ann", "a", 5);
    cluster.compute = "cluster";
    UsageEntry node = a_usage("", "", 500);
    node.kind = UsageKind::Node;
    UsageEntry elsewhere = a_usage("ann", "a", 900);
    elsewhere.workspace = "other";
    UsageEntry later = a_usage("zoe", "z", 1);
    later.ended_at += Duration{1};
    for (const UsageEntry& entry : {cluster, node, elsewhere, later}) batch.usage.push_back(entry);
    commit(batch);
    reopen();
    ports::UsageQuery query{.workspace = kWorkspace};
    using Sums = std::vector<ports::UsageSum>;
    EXPECT_EQ(*reader().sum_usage(query),
              (Sums{{"ann", "", "", 3, 60, 5}, {"bob", "", "", 1, 50, 5}, {"zoe", "", "", 1, 1, 0}}));
    query.limit = 1;
    EXPECT_EQ(*reader().sum_usage(query), (Sums{{"ann", "", "", 3, 60, 5}}));
    query.limit = 1000;
    query.by = ports::UsageBy::Job;
    query.until = later.ended_at;
    EXPECT_EQ(*reader().sum_usage(query), (Sums{{"bob", "b", "serverless", 1, 50, 5},
                                                {"ann", "c", "serverless", 1, 45, 4},
                                                {"ann", "a", "serverless", 1, 10, 1},
                                                {"ann", "a", "cluster", 1, 5, 0}}));
    query.by = ports::UsageBy::Compute;
    query.since = later.ended_at;
    query.until = Instant::max();
    EXPECT_EQ(*reader().sum_usage(query), (Sums{{"", "", "serverless", 1, 1, 0}}));
    query.kind = UsageKind::Node;
    query.since = {};
    EXPECT_EQ(*reader().sum_usage(query), (Sums{{"", "", "serverless", 1, 500, 50}}));
    query.workspace = "nobody";
    EXPECT_EQ(*reader().sum_usage(query), Sums{});
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreCompute, testing::ValuesIn(backends()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace lavant::test
