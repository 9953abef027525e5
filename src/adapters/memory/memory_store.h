#pragma once
// A Store and Reader in memory: exact in every rule of ports/store.h, deterministic, and able to fail on
// demand. Used by unit tests, by the simulation (which keeps one across a server's deaths) and by throw-away
// servers.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ports/store.h"

namespace lavant::adapters {

enum class CommitFault {
    Refuse,                  // nothing is written, Unavailable is answered
    CommitButReportFailure,  // all is written, Unavailable is answered all the same
};

class MemoryStore final : public ports::Store, public ports::Reader {
 public:
    // The next commit, and only that one, goes wrong in this way. Several calls queue up.
    void fail_next_commit(CommitFault fault);
    // So many of the next calls of load_live and load_launch answer Unavailable.
    void fail_next_reads(int count);

    // --- ports::Store ---
    [[nodiscard]] Result<LiveRows> load_live() override;
    [[nodiscard]] Result<std::vector<bool>> commit(const WriteBatch& batch) override;
    [[nodiscard]] Result<std::string> load_launch(JobId job) override;
    [[nodiscard]] Result<bool> tidy(std::int64_t events_kept) override;

    // --- both ports ---
    [[nodiscard]] Result<std::optional<Job>> find_job(const std::string& workspace,
                                                      const std::string& name) override;

    // --- ports::Reader ---
    [[nodiscard]] Result<std::vector<Job>> list_jobs(const ports::JobQuery& query) override;
    [[nodiscard]] Result<std::vector<Task>> list_tasks(JobId job) override;
    [[nodiscard]] Result<std::vector<HistoryEvent>> list_job_events(JobId job) override;
    [[nodiscard]] Result<std::vector<HistoryEvent>> list_events(std::int64_t after_sequence,
                                                                int limit) override;
    [[nodiscard]] Result<std::vector<Node>> list_nodes() override;
    [[nodiscard]] Result<std::vector<Pool>> list_pools() override;
    [[nodiscard]] Result<std::vector<Quota>> list_quotas() override;
    [[nodiscard]] Result<std::vector<Lock>> list_locks() override;
    [[nodiscard]] Result<std::vector<LineageEdge>> list_lineage(const ports::LineageQuery& query) override;
    [[nodiscard]] Result<std::vector<ports::UsageSum>> sum_usage(const ports::UsageQuery& query) override;
    [[nodiscard]] Result<std::optional<Asset>> find_asset(const AssetKey& key) override;
    [[nodiscard]] Result<std::optional<Asset>> find_asset_by_hash(const std::string& workspace,
                                                                  const std::string& kind,
                                                                  const std::string& hash) override;
    [[nodiscard]] Result<std::vector<Asset>> list_assets(const ports::AssetQuery& query) override;

 private:
    struct StoredAsset {
        std::int64_t order = 0;  // breaks ties of created_at: later insertion first
        Asset asset;
    };
    using Name = std::pair<std::string, std::string>;

    Result<void> check_readable();
    Result<void> check(const WriteBatch& batch) const;
    Result<void> check_jobs(const WriteBatch& batch) const;
    bool knows_job(const WriteBatch& batch, JobId job) const;
    Result<void> check_numbers(const WriteBatch& batch) const;
    std::vector<bool> apply(const WriteBatch& batch);
    void apply_jobs(const WriteBatch& batch);
    void apply_compute(const WriteBatch& batch);
    void remove_workspace(const std::string& workspace);
    void remove_job(JobId id);
    bool apply_asset(const AssetWrite& write);

    std::mutex mutex_;  // guards everything below
    std::vector<CommitFault> faults_;
    int bad_reads_ = 0;
    std::map<JobId, Job> jobs_;
    std::set<JobId> live_;
    std::map<Name, JobId> names_;
    std::map<TaskRef, Task> tasks_;
    std::map<NodeId, Node> nodes_;
    std::map<PoolId, Pool> pools_;
    std::map<std::pair<QuotaKey, QuotaLevel>, Quota> quotas_;
    std::map<Name, Lock> locks_;
    std::map<std::tuple<JobId, LineageRole, std::string, std::string>, LineageEdge> lineage_;
    std::vector<UsageEntry> usage_;
    std::map<std::int64_t, HistoryEvent> events_;
    std::unordered_map<JobId, std::set<std::int64_t>> job_events_;
    std::map<std::int64_t, OutboxEntry> outbox_;
    std::map<AssetKey, StoredAsset> assets_;
    std::int64_t last_asset_order_ = 0;
    LiveRows counters_;  // only the last_* members are used
};

}  // namespace lavant::adapters
