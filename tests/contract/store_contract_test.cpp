// Every rule of ports/store.h, held by every store.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/contract/store_contract.h"
#include "tests/support/builders.h"

namespace lavant::test {
namespace {

TEST_P(StoreContract, EmptyStoreHasNothingAndCountsFromZero) {
    EXPECT_EQ(*store().load_live(), LiveRows{});
    EXPECT_EQ(*store().commit({}), std::vector<bool>());
    EXPECT_EQ(*store().find_job(kWorkspace, "none"), std::nullopt);
    EXPECT_EQ(store().load_launch(JobId{1}).error().code, ErrorCode::NotFound);
    EXPECT_TRUE(reader().list_jobs({.workspace = kWorkspace})->empty());
    EXPECT_TRUE(reader().list_events(0, 10)->empty());
    EXPECT_TRUE(reader().list_quotas()->empty());
    EXPECT_TRUE(reader().list_locks()->empty());
    EXPECT_TRUE(reader().sum_usage({.workspace = kWorkspace})->empty());
}

TEST_P(StoreContract, WholeJobComesBackAsItWasWritten) {
    Job job = a_job(1);
    job.meta.tags = {{"team", "vision"}, {"empty", ""}};
    job.meta.archived = true;
    commit(with_jobs({job}));
    EXPECT_EQ(*store().find_job(kWorkspace, "job-1"), job);
    EXPECT_EQ(*reader().find_job(kWorkspace, "job-1"), job);
    EXPECT_EQ(*store().load_launch(JobId{1}), job.body.launch);
    EXPECT_EQ(*reader().find_job("elsewhere", "job-1"), std::nullopt);
    EXPECT_EQ(*reader().find_job(kWorkspace, "JOB-1"), std::nullopt);
    reopen();
    EXPECT_EQ(*reader().find_job(kWorkspace, "job-1"), job);
}

TEST_P(StoreContract, HeadChangesWhereTheVersionIsTheNext) {
    Job job = a_job(1);
    commit(with_jobs({job}));
    job.head = changed(job.head, JobStatus::Failed);
    job.head.attempt = 2;
    job.head.error = JobError{"UserError", "exit code 3", 3, 0, "node-1", "ValueError"};
    job.head.started_at = from_micros(77);
    job.head.usage = {1, 2, 3};
    WriteBatch batch;
    batch.jobs_changed = {job.head};
    commit(batch);
    EXPECT_EQ(*reader().find_job(kWorkspace, "job-1"), job);
    EXPECT_EQ(*store().find_job(kWorkspace, "job-1"), job);
}

TEST_P(StoreContract, HeadWithAnyOtherVersionIsAConflict) {
    Job job = a_job(1);
    commit(with_jobs({job}));
    for (const std::int64_t version : {0, 1, 3}) {
        WriteBatch batch;
        batch.events = {an_event(1, 1)};
        batch.jobs_changed = {job.head};
        batch.jobs_changed[0].version = version;
        expect_conflict(batch);
    }
    WriteBatch absent;
    absent.jobs_changed = {changed(a_job(2).head, JobStatus::Running)};
    expect_conflict(absent);
    absent.jobs_changed[0].version = 1;
    expect_conflict(absent);
}

TEST_P(StoreContract, FindsJobsByTheBeginningOfTheirNames) {
    std::int64_t id = 0;
    for (const std::string name : {"abc", "ab", "abd", "ABC", "ab%", "ab_", "a", "b", "ac"})
        commit(with_jobs({a_job(++id, name)}));
    commit(with_jobs({a_job(++id, "ab\xff"), a_job(++id, "\xff\xff")}));
    const auto named = [&](const std::string& prefix, int limit = 100) {
        return ids(
            {.workspace = kWorkspace, .archived = std::nullopt, .name_prefix = prefix, .limit = limit});
    };
    EXPECT_EQ(named("ab"), (Ids{10, 6, 5, 3, 2, 1}));
    EXPECT_EQ(named("ab", 2), (Ids{10, 6}));
    EXPECT_EQ(named("ab%"), Ids{5});
    EXPECT_EQ(named("ab_"), Ids{6});
    EXPECT_EQ(named("abcd"), Ids{});
    EXPECT_EQ(named("\xff"), Ids{11});
    EXPECT_EQ(named("ab\xff"), Ids{10});
    EXPECT_EQ(ids({.workspace = "other", .name_prefix = "ab"}), Ids{});
}

TEST_P(StoreContract, FindsTheNewestJobsOfOneUser) {
    for (std::int64_t id = 1; id <= 4; ++id) {
        Job job = a_job(id);
        job.body.created_by = id % 2 == 0 ? "ann" : "bob";
        job.meta.archived = id == 4;
        commit(with_jobs({job}));
    }
    EXPECT_EQ(ids({.workspace = kWorkspace, .archived = std::nullopt, .created_by = "ann", .limit = 1}),
              Ids{4});
    EXPECT_EQ(ids({.workspace = kWorkspace, .created_by = "ann"}), Ids{2});
    EXPECT_EQ(ids({.workspace = kWorkspace, .name_prefix = "job-", .created_by = "bob"}), (Ids{3, 1}));
    EXPECT_EQ(ids({.workspace = kWorkspace, .created_by = "nobody"}), Ids{});
}

TEST_P(StoreContract, RemovedJobGoesWithAllThatIsItsButItsHistory) {
    Job job = a_job(1);
    job.meta.tags = {{"team", "vision"}};
    WriteBatch batch = with_jobs({job, a_job(2)});
    batch.tasks = {a_task(1, 1, 0), a_task(2, 1, 0)};
    batch.events = {an_event(1, 1)};
    commit(batch);
    WriteBatch removal;
    removal.jobs_removed = {{job.head.id, job.head.version}};
    removal.metas_changed = {{job.head.id, {.display_name = "edited in the same batch"}}};
    commit(removal);
    reopen();
    EXPECT_EQ(*reader().find_job(kWorkspace, "job-1"), std::nullopt);
    EXPECT_TRUE(reader().list_tasks({1})->empty());
    EXPECT_EQ(reader().list_tasks({2})->size(), 1U);
    EXPECT_EQ(reader().list_job_events({1})->size(), 1U);
    EXPECT_EQ(ids({.workspace = kWorkspace}), (Ids{2}));
    EXPECT_EQ(ids({.workspace = kWorkspace, .tag = "team"}), Ids{});
    EXPECT_EQ(store().load_launch({1}).error().code, ErrorCode::NotFound);
    EXPECT_EQ(store().load_live()->last_job, 2);
    commit(with_jobs({a_job(3, "job-1")}));  // The name is free, the number is not.
    EXPECT_EQ(ids({.workspace = kWorkspace}), (Ids{3, 2}));
}

TEST_P(StoreContract, RemovalOfTheNewestJobKeepsItsNumberTaken) {
    commit(with_jobs({a_job(1)}));
    WriteBatch removal;
    removal.jobs_removed = {{{1}, 1}};
    commit(removal);
    reopen();
    EXPECT_EQ(store().load_live()->last_job, 1);
    EXPECT_TRUE(store().load_live()->jobs.empty());
}

TEST_P(StoreContract, RemovalOfAJobThatIsOtherThanExpectedIsAConflict) {
    commit(with_jobs({a_job(1)}));
    for (const JobRemoval& wrong : {JobRemoval{{1}, 0}, JobRemoval{{1}, 2}, JobRemoval{{9}, 1}}) {
        WriteBatch batch;
        batch.events = {an_event(1, 1)};
        batch.jobs_removed = {wrong};
        expect_conflict(batch);
    }
    WriteBatch twice;
    twice.jobs_removed = {{{1}, 1}, {{1}, 1}};
    expect_conflict(twice);
    EXPECT_NE(*store().find_job(kWorkspace, "job-1"), std::nullopt);
}

TEST_P(StoreContract, TakenNameOrNumberIsAConflictAndTheWholeBatchIsLeftOut) {
    commit(with_jobs({a_job(1)}));
    expect_conflict(with_jobs({a_job(2), a_job(3, "job-1")}));
    expect_conflict(with_jobs({a_job(1, "another")}));
    expect_conflict(with_jobs({a_job(4, "twice"), a_job(5, "twice")}));
    EXPECT_EQ(*store().find_job(kWorkspace, "job-2"), std::nullopt);
    Job elsewhere = a_job(6, "job-1");
    elsewhere.head.workspace = "other";
    commit(with_jobs({elsewhere}));
}

TEST_P(StoreContract, MetaIsReplacedWithItsTags) {
    Job job = a_job(1);
    job.meta.tags = {{"old", "1"}, {"kept", "1"}};
    commit(with_jobs({job}));
    job.meta = {"new name", "new words", {{"kept", "2"}, {"new", ""}}, true};
    WriteBatch batch;
    batch.metas_changed = {{JobId{1}, job.meta}};
    commit(batch);
    EXPECT_EQ(*reader().find_job(kWorkspace, "job-1"), job);
    batch.metas_changed[0].properties = job.body.properties = R"({"a":"b"})";
    commit(batch);
    EXPECT_EQ(*reader().find_job(kWorkspace, "job-1"), job);
    WriteBatch absent;
    absent.metas_changed = {{JobId{2}, job.meta}};
    expect_conflict(absent);
}

TEST_P(StoreContract, RowThatChangesTwiceInOneBatchTakesBothChanges) {
    Job job = a_job(1);
    WriteBatch batch = with_jobs({job});
    job.head = changed(job.head, JobStatus::Preparing);
    batch.jobs_changed.push_back(job.head);
    job.head = changed(job.head, JobStatus::Running);
    batch.jobs_changed.push_back(job.head);
    Task task = a_task(1, 0);
    batch.tasks = {task, task};
    batch.tasks[1].version = 2;
    batch.tasks[1].phase = TaskPhase::Running;
    commit(batch);
    EXPECT_EQ(store().load_live()->jobs.at(0), job.head);
    EXPECT_EQ(reader().list_tasks(JobId{1})->at(0), batch.tasks[1]);
}

TEST_P(StoreContract, TasksNodesAndPoolsAreGuardedAlike) {
    WriteBatch first = with_jobs({a_job(1)});
    first.tasks = {a_task(1, 1)};
    first.nodes = {a_node(1)};
    first.pools = {a_pool(1)};
    commit(first);
    for (const std::int64_t version : {1, 3}) {
        WriteBatch task;
        task.tasks = {a_task(1, 1)};
        task.tasks[0].version = version;
        expect_conflict(task);
        WriteBatch node;
        node.nodes = {a_node(1)};
        node.nodes[0].version = version;
        expect_conflict(node);
        WriteBatch pool;
        pool.pools = {a_pool(1)};
        pool.pools[0].version = version;
        expect_conflict(pool);
    }
    WriteBatch orphan;
    orphan.tasks = {a_task(7, 1)};
    expect_conflict(orphan);
    WriteBatch absent;
    absent.nodes = {a_node(2)};
    absent.nodes[0].version = 2;
    expect_conflict(absent);
}

TEST_P(StoreContract, TasksNodesAndPoolsComeBackAsTheyWereWritten) {
    WriteBatch first = with_jobs({a_job(1)});
    first.tasks = {a_task(1, 2, 1), a_task(1, 2, 0), a_task(1, 1, 0)};
    first.nodes = {a_node(1)};
    first.pools = {a_pool(1)};
    commit(first);
    WriteBatch second;
    Task task = a_task(1, 1, 0);
    task.version = 2;
    task.phase = TaskPhase::Ended;
    task.end = {EndReason::OutOfMemory, 137, 9, "OutOfMemory", "too much", "line", true, {4, 5, 6}};
    Node node = a_node(1);
    node.version = 2;
    node.state = NodeState::Idle;
    node.enrolled = true;
    node.idle_since = from_micros(5);
    Pool pool = a_pool(1);
    pool.version = 2;
    pool.nodes_max = 0;
    second.tasks = {task};
    second.nodes = {node};
    second.pools = {pool};
    commit(second);
    EXPECT_EQ(*reader().list_tasks(JobId{1}), (std::vector<Task>{task, a_task(1, 2, 0), a_task(1, 2, 1)}));
    EXPECT_EQ(*reader().list_nodes(), std::vector<Node>{node});
    EXPECT_EQ(*reader().list_pools(), std::vector<Pool>{pool});
    EXPECT_TRUE(reader().list_tasks(JobId{2})->empty());
}

TEST_P(StoreContract, LiveRowsLeaveOutWhatHasEnded) {
    WriteBatch batch;
    std::vector<JobHead> live;
    for (int status = 0; status <= static_cast<int>(JobStatus::Canceled); ++status) {
        Job job = a_job(status + 1);
        job.head.status = static_cast<JobStatus>(status);
        job.head.attempt = 2;
        batch.jobs_added.push_back(job);
        batch.tasks.push_back(a_task(status + 1, 1));
        batch.tasks.push_back(a_task(status + 1, 2, 1));
        batch.tasks.push_back(a_task(status + 1, 2, 0));
        if (!is_terminal(job.head.status)) live.push_back(job.head);
    }
    std::vector<Node> here;
    for (int state = 0; state <= static_cast<int>(NodeState::Preempted); ++state) {
        Node node = a_node(state + 1);
        node.state = static_cast<NodeState>(state);
        batch.nodes.push_back(node);
        if (!is_gone(node.state)) here.push_back(node);
    }
    batch.outbox_added = {an_effect(2), an_effect(1), {3, StopNode{NodeId{4}}}};
    commit(batch);
    reopen();
    const LiveRows rows = *store().load_live();
    EXPECT_EQ(rows.jobs, live);
    ASSERT_EQ(rows.tasks.size(), live.size() * 2);
    EXPECT_EQ(rows.tasks[0], a_task(1, 2, 0));
    EXPECT_EQ(rows.tasks[1], a_task(1, 2, 1));
    EXPECT_EQ(rows.nodes, here);
    EXPECT_EQ(*reader().list_nodes(), here);
    EXPECT_EQ(rows.outbox, (std::vector<OutboxEntry>{an_effect(1), an_effect(2), {3, StopNode{NodeId{4}}}}));
}

TEST_P(StoreContract, JobThatEndsLeavesTheLiveRowsAndCanBeFoundStill) {
    commit(with_jobs({a_job(1), a_job(2)}));
    WriteBatch batch;
    batch.jobs_changed = {changed(a_job(1).head, JobStatus::Completed)};
    commit(batch);
    ASSERT_EQ(store().load_live()->jobs.size(), 1U);
    EXPECT_EQ(store().load_live()->jobs[0].id, JobId{2});
    EXPECT_EQ((*store().find_job(kWorkspace, "job-1"))->head.status, JobStatus::Completed);
}

TEST_P(StoreContract, CountersNeverGoBack) {
    WriteBatch batch = with_jobs({a_job(7)});
    batch.nodes = {a_node(5), a_node(3)};
    batch.pools = {a_pool(2)};
    batch.events = {an_event(11), an_event(12)};
    batch.outbox_added = {an_effect(9), an_effect(8)};
    commit(batch);
    WriteBatch removal;
    removal.outbox_removed = {8, 9, 1'000};
    commit(removal);
    reopen();
    const LiveRows rows = *store().load_live();
    EXPECT_TRUE(rows.outbox.empty());
    EXPECT_EQ(rows.last_job, 7);
    EXPECT_EQ(rows.last_node, 5);
    EXPECT_EQ(rows.last_pool, 2);
    EXPECT_EQ(rows.last_event, 12);
    EXPECT_EQ(rows.last_outbox, 9);
}

TEST_P(StoreContract, EffectAddedTwiceIsAConflictAndOneRemovedTwiceIsNot) {
    WriteBatch batch;
    batch.outbox_added = {an_effect(1)};
    commit(batch);
    expect_conflict(batch);
    WriteBatch removal;
    removal.outbox_removed = {1, 1};
    commit(removal);
    commit(removal);
    EXPECT_TRUE(store().load_live()->outbox.empty());
}

TEST_P(StoreContract, EventsAreListedByJobAndBySequence) {
    WriteBatch batch = with_jobs({a_job(1), a_job(2)});
    batch.events = {an_event(1, 1), an_event(2, 2), an_event(3), an_event(4, 1)};
    commit(batch);
    EXPECT_EQ(*reader().list_job_events(JobId{1}),
              (std::vector<HistoryEvent>{an_event(1, 1), an_event(4, 1)}));
    EXPECT_TRUE(reader().list_job_events(JobId{0})->empty());
    EXPECT_EQ(*reader().list_events(1, 2), (std::vector<HistoryEvent>{an_event(2, 2), an_event(3)}));
    EXPECT_EQ(reader().list_events(0, 100)->size(), 4U);
    EXPECT_TRUE(reader().list_events(4, 100)->empty());
    EXPECT_TRUE(reader().list_events(0, 0)->empty());
    EXPECT_TRUE(reader().list_events(0, -1)->empty());
    WriteBatch repeated;
    repeated.events = {an_event(4, 1)};
    expect_conflict(repeated);
}

TEST_P(StoreContract, JobsAreListedNewestFirstPageByPage) {
    WriteBatch batch;
    for (int id = 1; id <= 7; ++id) batch.jobs_added.push_back(a_job(id));
    batch.jobs_added[3].head.workspace = "other";
    commit(batch);
    EXPECT_EQ(ids({.workspace = kWorkspace, .limit = 3}), (Ids{7, 6, 5}));
    EXPECT_EQ(ids({.workspace = kWorkspace, .before_id = 5, .limit = 3}), (Ids{3, 2, 1}));
    EXPECT_EQ(ids({.workspace = kWorkspace, .before_id = 1}), Ids{});
    EXPECT_EQ(ids({.workspace = "other"}), Ids{4});
    EXPECT_EQ(ids({.workspace = kWorkspace, .limit = 0}), Ids{});
    EXPECT_EQ(ids({.workspace = kWorkspace, .limit = -5}), Ids{});
}

TEST_P(StoreContract, JobsAreFilteredByEveryQueryMember) {
    std::vector<Job> jobs = {a_job(1), a_job(2), a_job(3), a_job(4)};
    jobs[0].meta.tags = {{"team", "vision"}};
    jobs[1].meta.tags = {{"team", "speech"}, {"gpu", "a=b"}};
    jobs[1].head.status = JobStatus::Running;
    jobs[2].meta.archived = true;
    jobs[2].meta.tags = {{"team", "vision"}};
    jobs[3].body.experiment = "another";
    commit(with_jobs(jobs));
    const ports::JobQuery all{.workspace = kWorkspace, .archived = std::nullopt};
    const auto with = [&](auto change) {
        ports::JobQuery query = all;
        change(query);
        return ids(query);
    };
    EXPECT_EQ(ids(all), (Ids{4, 3, 2, 1}));
    EXPECT_EQ(ids({.workspace = kWorkspace}), (Ids{4, 2, 1}));
    EXPECT_EQ(with([](auto& q) { q.archived = true; }), Ids{3});
    EXPECT_EQ(with([](auto& q) { q.status = "Running"; }), Ids{2});
    EXPECT_EQ(with([](auto& q) { q.status = "Queued", q.before_id = 4; }), (Ids{3, 1}));
    EXPECT_EQ(with([](auto& q) { q.status = "Nonsense"; }), Ids{});
    EXPECT_EQ(with([](auto& q) { q.experiment = "another"; }), Ids{4});
    EXPECT_EQ(with([](auto& q) { q.experiment = "an-experiment", q.limit = 2; }), (Ids{3, 2}));
    EXPECT_EQ(with([](auto& q) { q.tag = "team"; }), (Ids{3, 2, 1}));
    EXPECT_EQ(with([](auto& q) { q.tag = "team=vision"; }), (Ids{3, 1}));
    EXPECT_EQ(with([](auto& q) { q.tag = "team=vision", q.archived = false; }), Ids{1});
    EXPECT_EQ(with([](auto& q) { q.tag = "team", q.before_id = 3, q.limit = 1; }), Ids{2});
    EXPECT_EQ(with([](auto& q) { q.tag = "gpu=a=b"; }), Ids{2});
    EXPECT_EQ(with([](auto& q) { q.tag = "team="; }), Ids{});
    EXPECT_EQ(
        with([](auto& q) { q.tag = "team=speech", q.status = "Running", q.experiment = "an-experiment"; }),
        Ids{2});
    EXPECT_EQ(with([](auto& q) { q.tag = "team' OR 1=1 --"; }), Ids{});
    EXPECT_EQ(reader().list_jobs(all)->at(2), jobs[1]);
}

TEST_P(StoreContract, FiltersFollowAChange) {
    commit(with_jobs({a_job(1)}));
    WriteBatch batch;
    batch.jobs_changed = {changed(a_job(1).head, JobStatus::Running)};
    batch.metas_changed = {{JobId{1}, {"n", "d", {{"a", "b"}}, true}}};
    commit(batch);
    EXPECT_EQ(ids({.workspace = kWorkspace, .status = "Queued"}), Ids{});
    EXPECT_EQ(ids({.workspace = kWorkspace}), Ids{});
    EXPECT_EQ(ids({.workspace = kWorkspace, .archived = true, .status = "Running", .tag = "a=b"}), Ids{1});
}

TEST_P(StoreContract, ReadersOnOtherThreadsSeeEveryAcknowledgedCommit) {
    std::atomic<std::int64_t> acknowledged{0};
    std::atomic<bool> done{false};
    std::atomic<int> missing{0};
    std::atomic<int> reads{0};
    const auto read = [&] {
        while (!done) {
            const std::int64_t least = acknowledged;
            const auto jobs = reader().list_jobs({.workspace = kWorkspace, .limit = 1});
            const std::int64_t newest = jobs && !jobs->empty() ? jobs->front().head.id.value : 0;
            if (!jobs || newest < least) ++missing;
            ++reads;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) threads.emplace_back(read);
    for (std::int64_t id = 1; id <= 60; ++id) {
        commit(with_jobs({a_job(id)}));
        acknowledged = id;
    }
    while (reads < 6) std::this_thread::yield();
    done = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(missing, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(backends()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace lavant::test
