#include "adapters/sql/sqlite_store.h"

#include <utility>

#include "adapters/sql/compute_rows.h"
#include "adapters/sql/database.h"
#include "adapters/sql/lineage_rows.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/schema.h"
#include "adapters/sql/writes.h"
#include "wire/messages.h"

namespace lavant::adapters {
namespace {

using sql::Run;

constexpr int kCacheKib = 8'192;
constexpr int kTidiedAtOnce = 1'000;
constexpr std::uint64_t kSparePiece = 256U << 10;

OutboxEntry read_outbox(Run& row) {
    OutboxEntry entry;
    entry.id = row.read_integer();
    entry.effect = row.read_encoded(&wire::decode_effect);
    return entry;
}

Result<void> load_counters(sql::Database& database, LiveRows& rows) {
    static constexpr const char* kCounters =
        "SELECT max(last_job, (SELECT ifnull(max(id), 0) FROM job)),"
        " max(last_node, (SELECT ifnull(max(id), 0) FROM node)),"
        " max(last_pool, (SELECT ifnull(max(id), 0) FROM pool)),"
        " max(last_outbox, (SELECT ifnull(max(id), 0) FROM outbox)),"
        " max(last_event, (SELECT ifnull(max(sequence), 0) FROM event)) FROM counter";
    Run run(database.constant(kCounters));
    LAVANT_TRY(const bool row, run.step());
    if (!row) return fail(ErrorCode::Internal, "database '" + database.path() + "' has lost its counters");
    rows.last_job = run.read_integer();
    rows.last_node = run.read_integer();
    rows.last_pool = run.read_integer();
    rows.last_outbox = run.read_integer();
    rows.last_event = run.read_integer();
    return {};
}

template <class T>
Result<std::vector<T>> load(sql::Database& database, const std::string& query, T (*read)(Run&),
                            std::string_view what) {
    Run run(database.shaped(query));
    return sql::read_all<T>(run, read, what);
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<sql::Database> database) : database_(std::move(database)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const char* vfs) {
    LAVANT_TRY_VOID(sql::prepare_file(path));
    LAVANT_TRY(auto database, sql::Database::open({.path = path, .vfs = vfs, .cache_kib = kCacheKib}));
    LAVANT_TRY_VOID(sql::migrate(*database));
    return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(database)));
}

Result<LiveRows> SqliteStore::load_live() {
    const std::string select = "SELECT ";
    LAVANT_TRY(const auto snapshot, sql::Transaction::begin_reading(*database_));
    LiveRows rows;
    LAVANT_TRY_VOID(load_counters(*database_, rows));
    LAVANT_TRY(rows.jobs, load(*database_,
                               select + sql::kJobHeadColumns +
                                   " FROM job INDEXED BY job_status WHERE status < 5 ORDER BY id",
                               &sql::read_job_head, "job"));
    LAVANT_TRY(rows.tasks, load(*database_,
                                select + sql::kTaskColumns +
                                    " FROM job INDEXED BY job_status CROSS JOIN task ON task.job = job.id AND"
                                    " task.attempt = job.attempt WHERE job.status < 5"
                                    " ORDER BY task.job, task.attempt, task.node_index",
                                &sql::read_task, "task"));
    LAVANT_TRY(rows.nodes,
               load(*database_, select + sql::kNodeColumns + " FROM node WHERE state < 5 ORDER BY id",
                    &sql::read_node, "node"));
    LAVANT_TRY(rows.pools, load(*database_, select + sql::kPoolColumns + " FROM pool ORDER BY id",
                                &sql::read_pool, "pool"));
    LAVANT_TRY(
        rows.quotas,
        load(*database_, select + sql::kQuotaColumns + " FROM quota ORDER BY location, family, tier, level",
             &sql::read_quota, "quota"));
    LAVANT_TRY(rows.locks, load(*database_, select + sql::kLockColumns + " FROM lock ORDER BY scope, name",
                                &sql::read_lock, "lock"));
    LAVANT_TRY(rows.outbox,
               load(*database_, "SELECT id, effect FROM outbox ORDER BY id", &read_outbox, "effect"));
    return rows;
}

Result<std::vector<bool>> SqliteStore::commit(const WriteBatch& batch) {
    if (batch.empty()) return std::vector<bool>();
    if (spare_ == nullptr) return write(batch);
    // A transaction that finds the disk full is rolled back, nothing of it is stored: it may be written
    // again.
    return spare_->with_room(kSparePiece, [&] { return write(batch); });
}

Result<std::vector<bool>> SqliteStore::write(const WriteBatch& batch) {
    LAVANT_TRY(auto transaction, sql::Transaction::begin_writing(*database_));
    LAVANT_TRY_VOID(sql::remove_workspaces(*database_, batch));
    LAVANT_TRY_VOID(sql::write_jobs(*database_, batch));
    LAVANT_TRY_VOID(sql::write_tasks(*database_, batch));
    LAVANT_TRY_VOID(sql::write_nodes(*database_, batch));
    LAVANT_TRY_VOID(sql::write_pools(*database_, batch));
    LAVANT_TRY_VOID(sql::write_quotas(*database_, batch));
    LAVANT_TRY_VOID(sql::write_locks(*database_, batch));
    LAVANT_TRY_VOID(sql::write_usage(*database_, batch));
    LAVANT_TRY_VOID(sql::write_lineage(*database_, batch));
    LAVANT_TRY_VOID(sql::write_events(*database_, batch));
    LAVANT_TRY_VOID(sql::write_outbox(*database_, batch));
    LAVANT_TRY(auto flags, sql::write_assets(*database_, batch));
    LAVANT_TRY_VOID(sql::remove_jobs(*database_, batch));
    LAVANT_TRY_VOID(sql::remove_nodes_and_pools(*database_, batch));
    LAVANT_TRY_VOID(transaction.commit());
    return flags;
}

Result<std::optional<Job>> SqliteStore::find_job(const std::string& workspace, const std::string& name) {
    return sql::find_job(*database_, workspace, name);
}

Result<std::string> SqliteStore::load_launch(JobId job) {
    static constexpr const char* kLaunch = "SELECT launch FROM job_body WHERE job = ?";
    Run run(database_->constant(kLaunch));
    LAVANT_TRY(const bool row, run.integer(job.value).step());
    if (row) return run.read_text();
    return fail(ErrorCode::NotFound,
                "cannot load the launch of job " + std::to_string(job.value) + ": no such job");
}

Result<bool> SqliteStore::tidy(std::int64_t events_kept) {
    static constexpr const char* kLast =
        "SELECT max(last_event, (SELECT ifnull(max(sequence), 0) FROM event)) FROM counter";
    static constexpr const char* kRemove =
        "DELETE FROM event WHERE sequence IN"
        " (SELECT sequence FROM event WHERE sequence <= ? ORDER BY sequence LIMIT ?)";
    std::int64_t last = 0;
    {
        Run newest(database_->constant(kLast));
        LAVANT_TRY(const bool row, newest.step());
        last = row ? newest.read_integer() : 0;
    }
    LAVANT_TRY(
        const int removed,
        Run(database_->constant(kRemove)).integer(last - events_kept).integer(kTidiedAtOnce).execute());
    if (removed == kTidiedAtOnce) return true;
    return database_->shorten_log();
}

}  // namespace lavant::adapters
