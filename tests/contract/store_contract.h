#pragma once
// What the suites of the store's contract share.

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/contract/store_backends.h"

namespace lavant::test {

class StoreContract : public testing::TestWithParam<BackendKind> {
 protected:
    ports::Store& store() { return backend_->store(); }
    ports::Reader& reader() { return backend_->reader(); }
    void reopen() { backend_->reopen(); }

    void commit(const WriteBatch& batch) {
        const auto committed = store().commit(batch);
        ASSERT_TRUE(committed) << committed.error().message;
    }
    // The batch is a conflict and leaves no trace.
    void expect_conflict(const WriteBatch& batch) {
        const LiveRows before = *store().load_live();
        const auto committed = store().commit(batch);
        ASSERT_FALSE(committed);
        EXPECT_EQ(committed.error().code, ErrorCode::Conflict) << committed.error().message;
        EXPECT_EQ(*store().load_live(), before);
    }
    std::vector<bool> write(std::vector<AssetWrite> writes) {
        WriteBatch batch;
        batch.assets = std::move(writes);
        const auto committed = store().commit(batch);
        EXPECT_TRUE(committed);
        return committed.value_or(std::vector<bool>());
    }
    std::vector<std::int64_t> ids(const ports::JobQuery& query) {
        std::vector<std::int64_t> found;
        const auto jobs = reader().list_jobs(query);
        EXPECT_TRUE(jobs);
        for (const Job& job : jobs.value_or(std::vector<Job>())) found.push_back(job.head.id.value);
        return found;
    }

 private:
    std::unique_ptr<StoreBackend> backend_ = GetParam().make();
};

using Ids = std::vector<std::int64_t>;

inline WriteBatch with_jobs(std::vector<Job> jobs) {
    WriteBatch batch;
    batch.jobs_added = std::move(jobs);
    return batch;
}

}  // namespace lavant::test
