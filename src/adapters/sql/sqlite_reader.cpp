#include "adapters/sql/sqlite_reader.h"

#include <algorithm>
#include <utility>

#include "adapters/sql/compute_rows.h"
#include "adapters/sql/database.h"
#include "adapters/sql/lineage_rows.h"
#include "adapters/sql/rows.h"
#include "base/check.h"

namespace lavant::adapters {
namespace {

using sql::Run;

constexpr int kCacheKib = 2'048;

int clamped(int limit) { return std::clamp(limit, 0, ports::kRowsPerQuery); }

// The way into the table that leaves the least to filter, in the order asked for.
struct Entrance {
    std::string from;
    std::string order;  // the job's id, as the index has it
};
Entrance jobs_from(const ports::JobQuery& query) {
    const std::string with_body = " CROSS JOIN job_body AS body ON body.job = job.id";
    if (!query.tag.empty())
        return {" FROM job_tag INDEXED BY job_tag_lookup CROSS JOIN job ON job.id = job_tag.job" + with_body,
                "job_tag.job"};
    if (!query.name_prefix.empty()) return {" FROM job INDEXED BY job_name" + with_body, "job.id"};
    if (!query.created_by.empty())
        return {" FROM job_body AS body INDEXED BY job_owner CROSS JOIN job ON job.id = body.job",
                "body.job"};
    if (!query.status.empty()) return {" FROM job INDEXED BY job_status" + with_body, "job.id"};
    if (!query.experiment.empty()) return {" FROM job INDEXED BY job_experiment" + with_body, "job.id"};
    if (query.archived) return {" FROM job INDEXED BY job_listing" + with_body, "job.id"};
    return {" FROM job NOT INDEXED" + with_body, "job.id"};
}

// The first text behind all that begin with `prefix`; none if it is all 0xff.
std::optional<std::string> end_of_prefix(std::string prefix) {
    while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
    if (prefix.empty()) return std::nullopt;
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    return prefix;
}

std::string jobs_where(const ports::JobQuery& query) {
    std::string where = " WHERE job.workspace = ? AND job.id < ?";
    if (!query.tag.empty()) {
        where += " AND job_tag.workspace = ? AND job_tag.key = ?";
        if (query.tag.find('=') != std::string::npos) where += " AND job_tag.value = ?";
    }
    if (!query.status.empty()) where += " AND job.status = ?";
    if (!query.experiment.empty()) where += " AND job.experiment = ?";
    if (query.archived) where += " AND job.archived = ?";
    if (!query.name_prefix.empty()) where += " AND job.name >= ?";
    if (end_of_prefix(query.name_prefix)) where += " AND job.name < ?";
    if (!query.created_by.empty()) where += " AND body.created_by = ?";
    if (!query.kind.empty()) where += " AND body.kind = ?";
    return where;
}

}  // namespace

// A connection on loan. Goes back by itself.
class SqliteReader::Lease {
 public:
    Lease(SqliteReader& reader, std::unique_ptr<sql::Database> database)
        : reader_(&reader), database_(std::move(database)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
        if (database_ == nullptr) return;
        const std::lock_guard lock(reader_->mutex_);
        reader_->idle_.push_back(std::move(database_));
        reader_->returned_.notify_one();
    }
    sql::Database& operator*() const { return *database_; }

 private:
    SqliteReader* reader_;
    std::unique_ptr<sql::Database> database_;
};

SqliteReader::SqliteReader(std::string path, int connections_max, const char* vfs)
    : path_(std::move(path)), connections_max_(connections_max), vfs_(vfs) {}
SqliteReader::~SqliteReader() = default;

Result<std::unique_ptr<SqliteReader>> SqliteReader::open(const std::string& path, int connections_max,
                                                         const char* vfs) {
    CHECK(connections_max > 0, "a reader needs a connection");
    std::unique_ptr<SqliteReader> reader(new SqliteReader(path, connections_max, vfs));
    LAVANT_TRY(const Lease first, reader->lend());
    LAVANT_TRY(const std::int64_t version, (*first).query_integer("PRAGMA user_version"));
    if (version == 0)
        return fail(ErrorCode::NotFound,
                    "cannot read database '" + path + "': it is empty; start the server first");
    return reader;
}

Result<SqliteReader::Lease> SqliteReader::lend() {
    {
        std::unique_lock lock(mutex_);
        returned_.wait(lock, [this] { return !idle_.empty() || opened_ < connections_max_; });
        if (!idle_.empty()) {
            Lease lease(*this, std::move(idle_.back()));
            idle_.pop_back();
            return lease;
        }
        ++opened_;
    }
    auto database =
        sql::Database::open({.path = path_, .read_only = true, .vfs = vfs_, .cache_kib = kCacheKib});
    if (database) return Lease(*this, std::move(*database));
    const std::lock_guard lock(mutex_);
    --opened_;
    returned_.notify_one();
    return fail(std::move(database).error());
}

Result<std::optional<Job>> SqliteReader::find_job(const std::string& workspace, const std::string& name) {
    LAVANT_TRY(const Lease database, lend());
    return sql::find_job(*database, workspace, name);
}

Result<std::vector<Job>> SqliteReader::list_jobs(const ports::JobQuery& query) {
    const std::optional<JobStatus> status = parse_job_status(query.status);
    if (!query.status.empty() && !status) return std::vector<Job>();
    const std::size_t equals = query.tag.find('=');
    const std::string key = query.tag.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : query.tag.substr(equals + 1);
    LAVANT_TRY(const Lease database, lend());
    LAVANT_TRY(const auto snapshot, sql::Transaction::begin_reading(*database));
    const auto [from, order] = jobs_from(query);
    Run run((*database).shaped(std::string("SELECT ") + sql::kJobHeadColumns + ", " + sql::kJobRestColumns +
                               from + jobs_where(query) + " ORDER BY " + order + " DESC LIMIT ?"));
    run.text(query.workspace).integer(query.before_id > 0 ? query.before_id : INT64_MAX);
    if (!query.tag.empty()) run.text(query.workspace).text(key);
    if (equals != std::string::npos) run.text(value);
    if (status) run.integer(static_cast<int>(*status));
    if (!query.experiment.empty()) run.text(query.experiment);
    if (query.archived) run.integer(*query.archived ? 1 : 0);
    const std::optional<std::string> behind = end_of_prefix(query.name_prefix);
    if (!query.name_prefix.empty()) run.text(query.name_prefix);
    if (behind) run.text(*behind);
    if (!query.created_by.empty()) run.text(query.created_by);
    if (!query.kind.empty()) run.text(query.kind);
    run.integer(clamped(query.limit));
    LAVANT_TRY(auto jobs, sql::read_all<Job>(run, &sql::read_job, "job"));
    for (Job& job : jobs) LAVANT_TRY_VOID(sql::load_tags(*database, job));
    return jobs;
}

Result<std::vector<Task>> SqliteReader::list_tasks(JobId job) {
    LAVANT_TRY(const Lease database, lend());
    Run run((*database).shaped(std::string("SELECT ") + sql::kTaskColumns +
                               " FROM task WHERE job = ? ORDER BY attempt, node_index"));
    return sql::read_all<Task>(run.integer(job.value), &sql::read_task, "task");
}

Result<std::vector<HistoryEvent>> SqliteReader::list_job_events(JobId job) {
    LAVANT_TRY(const Lease database, lend());
    Run run(
        (*database).shaped(std::string("SELECT ") + sql::kEventColumns +
                           " FROM event INDEXED BY event_job WHERE job = ? AND job > 0 ORDER BY sequence"));
    return sql::read_all<HistoryEvent>(run.integer(job.value), &sql::read_event, "event");
}

Result<std::vector<HistoryEvent>> SqliteReader::list_events(std::int64_t after_sequence, int limit) {
    LAVANT_TRY(const Lease database, lend());
    Run run((*database).shaped(std::string("SELECT ") + sql::kEventColumns +
                               " FROM event WHERE sequence > ? ORDER BY sequence LIMIT ?"));
    return sql::read_all<HistoryEvent>(run.integer(after_sequence).integer(clamped(limit)), &sql::read_event,
                                       "event");
}

Result<std::vector<Node>> SqliteReader::list_nodes() {
    LAVANT_TRY(const Lease database, lend());
    Run run((*database).shaped(std::string("SELECT ") + sql::kNodeColumns +
                               " FROM node WHERE state < 5 ORDER BY id"));
    return sql::read_all<Node>(run, &sql::read_node, "node");
}

Result<std::vector<Quota>> SqliteReader::list_quotas() {
    LAVANT_TRY(const Lease database, lend());
    Run run((*database).shaped(std::string("SELECT ") + sql::kQuotaColumns +
                               " FROM quota ORDER BY location, family, tier, level"));
    return sql::read_all<Quota>(run, &sql::read_quota, "quota");
}

Result<std::vector<Lock>> SqliteReader::list_locks() {
    LAVANT_TRY(const Lease database, lend());
    Run run(
        (*database).shaped(std::string("SELECT ") + sql::kLockColumns + " FROM lock ORDER BY scope, name"));
    return sql::read_all<Lock>(run, &sql::read_lock, "lock");
}

Result<std::vector<LineageEdge>> SqliteReader::list_lineage(const ports::LineageQuery& query) {
    LAVANT_TRY(const Lease database, lend());
    return sql::list_lineage(*database, query);
}

Result<std::vector<ports::UsageSum>> SqliteReader::sum_usage(const ports::UsageQuery& query) {
    LAVANT_TRY(const Lease database, lend());
    return sql::sum_usage(*database, query);
}

Result<std::vector<Pool>> SqliteReader::list_pools() {
    LAVANT_TRY(const Lease database, lend());
    Run run((*database).shaped(std::string("SELECT ") + sql::kPoolColumns + " FROM pool ORDER BY id"));
    return sql::read_all<Pool>(run, &sql::read_pool, "pool");
}

Result<std::optional<Asset>> SqliteReader::find_asset(const AssetKey& key) {
    LAVANT_TRY(const Lease database, lend());
    Run run((*database).shaped(std::string("SELECT ") + sql::kAssetColumns +
                               " FROM asset WHERE workspace = ? AND kind = ? AND name = ? AND version = ?"));
    run.text(key.workspace).text(key.kind).text(key.name).text(key.version);
    LAVANT_TRY(const bool row, run.step());
    if (!row) return std::nullopt;
    return sql::read_asset(run);
}

Result<std::optional<Asset>> SqliteReader::find_asset_by_hash(const std::string& workspace,
                                                              const std::string& kind,
                                                              const std::string& hash) {
    LAVANT_TRY(const Lease database, lend());
    Run run(
        (*database).shaped(std::string("SELECT ") + sql::kAssetColumns +
                           " FROM asset INDEXED BY asset_hash WHERE workspace = ? AND kind = ? AND hash = ?"
                           " AND hash <> '' ORDER BY created_at DESC, id DESC LIMIT 1"));
    LAVANT_TRY(const bool row, run.text(workspace).text(kind).text(hash).step());
    if (!row) return std::nullopt;
    return sql::read_asset(run);
}

Result<std::vector<Asset>> SqliteReader::list_assets(const ports::AssetQuery& query) {
    LAVANT_TRY(const Lease database, lend());
    std::string select = std::string("SELECT ") + sql::kAssetColumns + " FROM asset";
    select += query.name.empty() ? " INDEXED BY asset_listing" : " INDEXED BY asset_key";
    select += " WHERE workspace = ? AND kind = ?";
    select += query.containers || query.unversioned ? " AND version = ''" : " AND version <> ''";
    if (!query.name.empty()) select += " AND name = ?";
    if (query.archived) select += " AND archived = ?";
    Run run((*database).shaped(select + " ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?"));
    run.text(query.workspace).text(query.kind);
    if (!query.name.empty()) run.text(query.name);
    if (query.archived) run.integer(*query.archived ? 1 : 0);
    run.integer(clamped(query.limit)).integer(std::max<std::int64_t>(query.offset, 0));
    return sql::read_all<Asset>(run, &sql::read_asset, "asset");
}

}  // namespace lavant::adapters
