// Lineage, hooks of jobs, the kind of a job in queries, and the end of a workspace.

#include "tests/contract/store_contract.h"
#include "tests/support/builders.h"

namespace lavant::test {
namespace {

class StoreLineage : public StoreContract {
 protected:
    LineageEdge edge(std::int64_t job, LineageRole role, const std::string& port,
                     const std::string& version) {
        return {.job = {job},
                .job_name = "job-" + std::to_string(job),
                .workspace = kWorkspace,
                .role = role,
                .port = port,
                .kind = "data",
                .name = "fruit",
                .version = version};
    }
    std::vector<LineageEdge> list(ports::LineageQuery query) {
        query.workspace = kWorkspace;
        const auto edges = reader().list_lineage(query);
        EXPECT_TRUE(edges) << edges.error().message;
        return edges.value_or(std::vector<LineageEdge>());
    }
};

TEST_P(StoreLineage, IsFoundByJobAndByAsset) {
    WriteBatch batch = with_jobs({a_job(1), a_job(2)});
    batch.lineage = {edge(1, LineageRole::Output, "d", "1"), edge(2, LineageRole::Input, "a", "1"),
                     edge(2, LineageRole::Input, "b", "2")};
    commit(batch);
    EXPECT_EQ(list({.job = "job-1"}), (std::vector{edge(1, LineageRole::Output, "d", "1")}));
    EXPECT_EQ(list({.kind = "data", .name = "fruit", .version = "1"}),
              (std::vector{edge(2, LineageRole::Input, "a", "1"), edge(1, LineageRole::Output, "d", "1")}));
    EXPECT_EQ(list({.kind = "data", .name = "fruit"}).size(), 3U);
    EXPECT_EQ(list({.kind = "data", .name = "fruit", .limit = 2}).size(), 2U);
    EXPECT_TRUE(list({.kind = "models", .name = "fruit"}).empty());
    EXPECT_TRUE(reader().list_lineage({.workspace = "other", .job = "job-1"})->empty());
}

TEST_P(StoreLineage, GoesWithItsJob) {
    Job job = a_job(1);
    WriteBatch batch = with_jobs({job});
    batch.lineage = {edge(1, LineageRole::Input, "a", "1"), edge(1, LineageRole::Input, "a", "2")};
    commit(batch);
    EXPECT_EQ(list({.job = "job-1"}), (std::vector{edge(1, LineageRole::Input, "a", "2")}))
        << "the last counts";
    WriteBatch gone;
    gone.jobs_removed = {{job.head.id, job.head.version}};
    commit(gone);
    EXPECT_TRUE(list({.kind = "data", .name = "fruit"}).empty());
}

TEST_P(StoreLineage, HooksOfAJobAreKept) {
    Job job = a_job(1);
    job.head.hooks = JobHooks{.registers_outputs = true, .notify = "https://x/"};
    commit(with_jobs({job, a_job(2)}));
    reopen();
    const LiveRows rows = *store().load_live();
    ASSERT_EQ(rows.jobs.size(), 2U);
    EXPECT_EQ(rows.jobs[0].hooks, job.head.hooks);
    EXPECT_FALSE(rows.jobs[1].hooks);
}

TEST_P(StoreLineage, JobsAreListedByKind) {
    Job sweep = a_job(1);
    sweep.body.kind = "sweep";
    commit(with_jobs({sweep, a_job(2)}));
    EXPECT_EQ(ids({.workspace = kWorkspace, .kind = "sweep"}), (Ids{1}));
    EXPECT_EQ(ids({.workspace = kWorkspace, .kind = "spark"}), Ids{});
}

TEST_P(StoreLineage, AWorkspaceIsRemovedWithItsJobsAndAssetsAlone) {
    Job other = a_job(2);
    other.head.workspace = "other";
    WriteBatch batch = with_jobs({a_job(1), other});
    batch.assets = {{an_asset("codes", "c"), 0}};
    batch.lineage = {edge(1, LineageRole::Input, "a", "1")};
    commit(batch);
    WriteBatch gone;
    gone.workspaces_removed = {kWorkspace};
    Asset left = an_asset("codes", "left");
    left.key.workspace = "";
    gone.assets = {{left, 0}};
    commit(gone);
    EXPECT_FALSE(store().find_job(kWorkspace, "job-1")->has_value());
    EXPECT_TRUE(store().find_job("other", "job-2")->has_value());
    EXPECT_FALSE(reader().find_asset(an_asset("codes", "c").key)->has_value());
    EXPECT_TRUE(reader().find_asset(left.key)->has_value());
    EXPECT_TRUE(list({.kind = "data", .name = "fruit"}).empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreLineage, testing::ValuesIn(backends()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace lavant::test
