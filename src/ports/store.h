#pragma once
// Where state lies. One writer (the control loop) uses Store; everybody else reads through Reader.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/record.h"

namespace lavant::ports {

// No query answers more rows than this, whatever limit it asks for.
inline constexpr int kRowsPerQuery = 10'000;

// Called from the control loop's thread only.
class Store {
 public:
    virtual ~Store() = default;

    // Everything that has not ended. Called at start and after a commit whose outcome is unknown.
    [[nodiscard]] virtual Result<LiveRows> load_live() = 0;

    // One transaction, durable when it returns. The answer has one flag per batch.assets entry: false means
    // the row was not as expected and this one entry was left out (the rest is committed). A version guard of
    // any other row that does not hold is Conflict, and nothing is written. Unavailable: the outcome is
    // unknown. The store counts Asset::row_version itself. A row may occur twice: its writes apply in their
    // order.
    [[nodiscard]] virtual Result<std::vector<bool>> commit(const WriteBatch& batch) = 0;

    [[nodiscard]] virtual Result<std::optional<Job>> find_job(const std::string& workspace,
                                                              const std::string& name) = 0;
    [[nodiscard]] virtual Result<std::string> load_launch(JobId job) = 0;

    // Upkeep, a little at each call and without waiting for anybody: the oldest history goes but for the
    // newest `events_kept`, and so does space that a burst of writes took. True: there is more to do.
    [[nodiscard]] virtual Result<bool> tidy(std::int64_t events_kept) = 0;
};

struct JobQuery {
    std::string workspace;
    std::optional<bool> archived = false;  // nullopt: both
    std::string status;                    // "" any, else one status name
    std::string experiment;                // "" any
    std::string tag;                       // "" any, else "key" or "key=value"
    std::string name_prefix = {};          // "" any; every byte stands for itself
    std::string created_by = {};           // "" any
    std::string kind = {};                 // "" any, else JobBody's
    std::int64_t before_id = 0;            // paging: only ids below this; 0 from the newest
    int limit = 100;
};

struct AssetQuery {
    std::string workspace;
    std::string kind;
    std::string name;                      // "" all names
    std::optional<bool> archived = false;  // nullopt: both
    bool containers = false;               // only rows without a version, else only rows with one
    bool unversioned = false;              // rows of kinds that have no versions
    std::int64_t offset = 0;
    int limit = 100;
};

// Of one job, or of one asset; newest jobs first.
struct LineageQuery {
    std::string workspace;
    std::string job;   // "": look by asset
    std::string kind;  // of an asset
    std::string name;
    std::string version;  // "" any
    int limit = 1000;
};

enum class UsageBy { User, Job, Compute };
struct UsageQuery {
    std::string workspace;
    UsageKind kind = UsageKind::Task;
    UsageBy by = UsageBy::User;
    Instant since{};
    Instant until = Instant::max();
    int limit = 1000;
};
struct UsageSum {
    std::string user;  // "" where it is not asked for, as the next two
    std::string job;
    std::string compute;
    std::int64_t entries = 0;
    std::int64_t node_micros = 0;
    std::int64_t price_micros = 0;
    bool operator==(const UsageSum&) const = default;
};

// Any thread. Sees every commit that was acknowledged before the call.
class Reader {
 public:
    virtual ~Reader() = default;

    [[nodiscard]] virtual Result<std::optional<Job>> find_job(const std::string& workspace,
                                                              const std::string& name) = 0;
    [[nodiscard]] virtual Result<std::vector<Job>> list_jobs(const JobQuery& query) = 0;  // newest first
    [[nodiscard]] virtual Result<std::vector<Task>> list_tasks(JobId job) = 0;
    [[nodiscard]] virtual Result<std::vector<HistoryEvent>> list_job_events(JobId job) = 0;
    [[nodiscard]] virtual Result<std::vector<HistoryEvent>> list_events(std::int64_t after_sequence,
                                                                        int limit) = 0;
    [[nodiscard]] virtual Result<std::vector<Node>> list_nodes() = 0;  // not gone
    [[nodiscard]] virtual Result<std::vector<Pool>> list_pools() = 0;
    [[nodiscard]] virtual Result<std::vector<Quota>> list_quotas() = 0;
    [[nodiscard]] virtual Result<std::vector<Lock>> list_locks() = 0;
    [[nodiscard]] virtual Result<std::vector<LineageEdge>> list_lineage(const LineageQuery& query) = 0;
    // The largest first.
    [[nodiscard]] virtual Result<std::vector<UsageSum>> sum_usage(const UsageQuery& query) = 0;
    [[nodiscard]] virtual Result<std::optional<Asset>> find_asset(const AssetKey& key) = 0;
    [[nodiscard]] virtual Result<std::optional<Asset>> find_asset_by_hash(const std::string& workspace,
                                                                          const std::string& kind,
                                                                          const std::string& hash) = 0;
    // Newest first by creation.
    [[nodiscard]] virtual Result<std::vector<Asset>> list_assets(const AssetQuery& query) = 0;
};

}  // namespace lavant::ports
