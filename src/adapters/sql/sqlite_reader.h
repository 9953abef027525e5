#pragma once
// The readers' side of the SQLite database: a few read-only connections, lent to whichever thread asks.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ports/store.h"

namespace lavant::sql {
class Database;
}

namespace lavant::adapters {

class SqliteReader final : public ports::Reader {
 public:
    // The database must have been opened by SqliteStore before. At most `connections_max` reads run at once;
    // the next one waits.
    [[nodiscard]] static Result<std::unique_ptr<SqliteReader>> open(const std::string& path,
                                                                    int connections_max = 4,
                                                                    const char* vfs = nullptr);
    ~SqliteReader() override;

    [[nodiscard]] Result<std::optional<Job>> find_job(const std::string& workspace,
                                                      const std::string& name) override;
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
    class Lease;
    SqliteReader(std::string path, int connections_max, const char* vfs);
    Result<Lease> lend();

    const std::string path_;
    const int connections_max_;
    const char* const vfs_;
    std::mutex mutex_;  // guards idle_ and opened_
    std::condition_variable returned_;
    std::vector<std::unique_ptr<sql::Database>> idle_;
    int opened_ = 0;
};

}  // namespace lavant::adapters
