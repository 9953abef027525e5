#include "adapters/memory/memory_store.h"

#include <gtest/gtest.h>

namespace lavant::adapters {
namespace {

WriteBatch one_job(std::int64_t id) {
    Job job;
    job.head.id = JobId{id};
    job.head.version = 1;
    job.head.workspace = "w";
    job.head.name = "job-" + std::to_string(id);
    WriteBatch batch;
    batch.jobs_added.push_back(job);
    return batch;
}

TEST(MemoryStore, RefusedCommitWritesNothingAndOnlyTheNextOneFails) {
    MemoryStore store;
    store.fail_next_commit(CommitFault::Refuse);
    const auto refused = store.commit(one_job(1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
    EXPECT_TRUE(store.load_live()->jobs.empty());
    EXPECT_EQ(store.load_live()->last_job, 0);
    EXPECT_TRUE(store.commit(one_job(1)));
    EXPECT_EQ(store.load_live()->jobs.size(), 1U);
}

TEST(MemoryStore, CommitReportedAsFailedIsWrittenAllTheSame) {
    MemoryStore store;
    store.fail_next_commit(CommitFault::CommitButReportFailure);
    const auto lied = store.commit(one_job(1));
    ASSERT_FALSE(lied);
    EXPECT_EQ(lied.error().code, ErrorCode::Unavailable);
    EXPECT_EQ(store.load_live()->jobs.size(), 1U);
}

TEST(MemoryStore, FaultsQueueUpInOrder) {
    MemoryStore store;
    store.fail_next_commit(CommitFault::CommitButReportFailure);
    store.fail_next_commit(CommitFault::Refuse);
    EXPECT_FALSE(store.commit(one_job(1)));
    EXPECT_FALSE(store.commit(one_job(2)));
    EXPECT_TRUE(store.commit(one_job(3)));
    const auto live = store.load_live();
    ASSERT_EQ(live->jobs.size(), 2U);
    EXPECT_EQ(live->jobs[0].id, JobId{1});
    EXPECT_EQ(live->jobs[1].id, JobId{3});
}

TEST(MemoryStore, ConflictUnderACommitThatLiesIsReportedAsUnknown) {
    MemoryStore store;
    ASSERT_TRUE(store.commit(one_job(1)));
    store.fail_next_commit(CommitFault::CommitButReportFailure);
    EXPECT_EQ(store.commit(one_job(1)).error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace lavant::adapters
