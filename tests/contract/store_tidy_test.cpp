// Upkeep of a store: what goes and what stays.

#include <gtest/gtest.h>

#include "tests/contract/store_backends.h"
#include "tests/support/builders.h"

namespace lavant::test {
namespace {

class StoreTidy : public testing::TestWithParam<BackendKind> {
 protected:
    ports::Store& store() { return backend_->store(); }
    ports::Reader& reader() { return backend_->reader(); }
    void add_events(std::int64_t first, std::int64_t last) {
        WriteBatch batch;
        for (std::int64_t number = first; number <= last; ++number) batch.events.push_back(an_event(number));
        ASSERT_TRUE(store().commit(batch));
    }
    std::pair<std::int64_t, std::int64_t> kept() {
        const auto events = reader().list_events(0, ports::kRowsPerQuery);
        if (!events || events->empty()) return {0, 0};
        return {events->front().sequence, events->back().sequence};
    }

    std::unique_ptr<StoreBackend> backend_ = GetParam().make();
};

TEST_P(StoreTidy, AnEmptyStoreIsTidy) { EXPECT_FALSE(*store().tidy(10)); }

TEST_P(StoreTidy, KeepsTheNewestEvents) {
    add_events(1, 30);
    EXPECT_FALSE(*store().tidy(30));
    EXPECT_EQ(kept(), std::pair(std::int64_t{1}, std::int64_t{30}));
    EXPECT_FALSE(*store().tidy(10));
    EXPECT_EQ(kept(), std::pair(std::int64_t{21}, std::int64_t{30}));
    EXPECT_EQ(store().load_live()->last_event, 30);
    EXPECT_FALSE(*store().tidy(0));
    backend_->reopen();
    EXPECT_EQ(store().load_live()->last_event, 30) << "numbers are never given out twice";
    add_events(31, 31);
    EXPECT_EQ(kept(), std::pair(std::int64_t{31}, std::int64_t{31}));
}

TEST_P(StoreTidy, RemovesALittleAtATime) {
    add_events(1, 2'500);
    int calls = 1;
    for (; *store().tidy(100); ++calls) ASSERT_LT(calls, 10);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(kept(), std::pair(std::int64_t{2'401}, std::int64_t{2'500}));
}

TEST_P(StoreTidy, TellsOfAJobWhatIsKeptOfIt) {
    WriteBatch batch;
    batch.jobs_added = {a_job(1)};
    for (std::int64_t number = 1; number <= 4; ++number) {
        HistoryEvent event = an_event(number);
        event.job = JobId{1};
        batch.events.push_back(event);
    }
    ASSERT_TRUE(store().commit(batch));
    ASSERT_FALSE(*store().tidy(2));
    ASSERT_EQ(reader().list_job_events(JobId{1})->size(), 2U);
    EXPECT_EQ(reader().list_job_events(JobId{1})->front().sequence, 3);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreTidy, testing::ValuesIn(backends()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lavant::test
