#pragma once
// Batches like those of the control loop, made from a seed: jobs that live and end, nodes that come and go,
// effects, assets, hostile texts; and, where asked for, batches whose guards do not hold.

#include <cstdint>
#include <random>
#include <vector>

#include "core/model/record.h"

namespace lavant::test {

class RandomBatches {
 public:
    explicit RandomBatches(std::uint64_t seed) : random_(seed) {}

    // A batch that fits on all that were made before. Taken as committed.
    WriteBatch next();
    // A batch that must be refused with Conflict. Nothing is taken as committed.
    WriteBatch next_refused();

    const std::vector<JobHead>& jobs() const { return jobs_; }

 private:
    bool chance(int percent) { return number(1, 100) <= percent; }
    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    std::string text();
    Resources resources() {
        return {number(0, 96'000), number(0, 1LL << 40), static_cast<int>(number(0, 8))};
    }
    Demand demand();
    PoolTerms terms();
    std::optional<Instant> maybe_instant();
    JobMeta meta();
    JobError error();
    TaskEnd end();
    void add_job(WriteBatch& batch);
    void change_job(WriteBatch& batch);
    void remove_job(WriteBatch& batch);
    void change_task(WriteBatch& batch);
    void change_node(WriteBatch& batch);
    void change_pool(WriteBatch& batch);
    void remove_node(WriteBatch& batch);
    void remove_pool(WriteBatch& batch);
    void change_quota(WriteBatch& batch);
    void change_lock(WriteBatch& batch);
    void add_usage(WriteBatch& batch);
    void change_outbox(WriteBatch& batch);
    void change_asset(WriteBatch& batch);
    void add_event(WriteBatch& batch);

    std::mt19937_64 random_;
    std::vector<JobHead> jobs_;
    std::vector<Task> tasks_;
    std::vector<Node> nodes_;
    std::vector<Pool> pools_;
    std::vector<std::int64_t> outbox_;
    std::int64_t last_job_ = 0;
    std::int64_t last_node_ = 0;
    std::int64_t last_pool_ = 0;
    std::int64_t last_outbox_ = 0;
    std::int64_t last_event_ = 0;
};

}  // namespace lavant::test
