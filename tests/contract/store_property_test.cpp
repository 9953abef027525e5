// Two stores that are given the same batches answer alike, whatever the batches are.

#include <gtest/gtest.h>

#include "tests/contract/store_backends.h"
#include "tests/support/builders.h"
#include "tests/support/random_batches.h"

namespace lavant::test {
namespace {

constexpr int kSeeds = 12;
constexpr int kBatches = 40;

template <class T>
void expect_equal(const Result<T>& a, const Result<T>& b, const std::string& what) {
    ASSERT_TRUE(a.has_value() && b.has_value()) << what;
    EXPECT_TRUE(*a == *b) << what;
}

void expect_same_jobs(StoreBackend& a, StoreBackend& b) {
    for (const char* status : {"", "Queued", "Running", "Failed"})
        for (const char* tag : {"", "key1", "key2=value"})
            for (const char* experiment : {"", "experiment-1"})
                for (const std::optional<bool> archived : {std::optional<bool>(), std::optional(false)}) {
                    const ports::JobQuery query{.workspace = kWorkspace,
                                                .archived = archived,
                                                .status = status,
                                                .experiment = experiment,
                                                .tag = tag,
                                                .before_id = 20,
                                                .limit = 7};
                    expect_equal(a.reader().list_jobs(query), b.reader().list_jobs(query), "jobs");
                    ports::JobQuery owned = query;
                    owned.created_by = "user-1";
                    expect_equal(a.reader().list_jobs(owned), b.reader().list_jobs(owned), "a user's jobs");
                    ports::JobQuery named = owned;
                    named.name_prefix = "job-1";
                    expect_equal(a.reader().list_jobs(named), b.reader().list_jobs(named), "named alike");
                }
}

void expect_same_usage(StoreBackend& a, StoreBackend& b) {
    for (const UsageKind kind : {UsageKind::Task, UsageKind::Node})
        for (const ports::UsageBy by : {ports::UsageBy::User, ports::UsageBy::Job, ports::UsageBy::Compute})
            for (const int limit : {0, 3, 1000}) {
                ports::UsageQuery query{.workspace = kWorkspace, .kind = kind, .by = by, .limit = limit};
                expect_equal(a.reader().sum_usage(query), b.reader().sum_usage(query), "usage");
                query.since = from_micros(20);
                query.until = from_micros(60);
                expect_equal(a.reader().sum_usage(query), b.reader().sum_usage(query), "usage of a time");
            }
}

void expect_same_reads(StoreBackend& a, StoreBackend& b, const std::vector<JobHead>& jobs) {
    expect_equal(a.store().load_live(), b.store().load_live(), "live rows");
    expect_equal(a.reader().list_events(5, 50), b.reader().list_events(5, 50), "events");
    expect_equal(a.reader().list_nodes(), b.reader().list_nodes(), "nodes");
    expect_equal(a.reader().list_pools(), b.reader().list_pools(), "pools");
    expect_equal(a.reader().list_quotas(), b.reader().list_quotas(), "quotas");
    expect_equal(a.reader().list_locks(), b.reader().list_locks(), "locks");
    expect_same_usage(a, b);
    for (const JobHead& head : jobs) {
        expect_equal(a.reader().find_job(head.workspace, head.name),
                     b.store().find_job(head.workspace, head.name), "job");
        expect_equal(a.reader().list_tasks(head.id), b.reader().list_tasks(head.id), "tasks");
        expect_equal(a.reader().list_job_events(head.id), b.reader().list_job_events(head.id), "job events");
        expect_equal(a.store().load_launch(head.id), b.store().load_launch(head.id), "launch");
    }
    for (const char* kind : {"codes", "data"}) {
        for (const bool containers : {false, true}) {
            const ports::AssetQuery query{
                .workspace = kWorkspace, .kind = kind, .archived = std::nullopt, .containers = containers};
            expect_equal(a.reader().list_assets(query), b.reader().list_assets(query), "assets");
        }
        expect_equal(a.reader().find_asset_by_hash(kWorkspace, kind, "hash-1"),
                     b.reader().find_asset_by_hash(kWorkspace, kind, "hash-1"), "asset by hash");
    }
    expect_same_jobs(a, b);
}

TEST(StoreProperty, AllStoresAgreeAfterAnySequenceOfBatches) {
    const std::vector<BackendKind> kinds = backends();
    for (std::size_t other = 1; other < kinds.size(); ++other) {
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            SCOPED_TRACE(kinds[other].name + ", seed " + std::to_string(seed));
            const auto first = kinds[0].make();
            const auto second = kinds[other].make();
            RandomBatches batches(seed);
            for (int i = 0; i < kBatches; ++i) {
                const WriteBatch batch = batches.next();
                expect_equal(first->store().commit(batch), second->store().commit(batch), "flags");
                const WriteBatch refused = batches.next_refused();
                for (StoreBackend* backend : {first.get(), second.get()}) {
                    const auto committed = backend->store().commit(refused);
                    ASSERT_FALSE(committed);
                    EXPECT_EQ(committed.error().code, ErrorCode::Conflict);
                }
            }
            second->reopen();
            expect_same_reads(*first, *second, batches.jobs());
            if (HasFailure()) return;
        }
    }
}

}  // namespace
}  // namespace lavant::test
