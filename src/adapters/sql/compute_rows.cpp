#include "adapters/sql/compute_rows.h"

#include <algorithm>

#include "adapters/sql/rows.h"

namespace lavant::sql {
namespace {

ports::UsageSum read_sum(Run& row) {
    ports::UsageSum sum;
    sum.user = row.read_text();
    sum.job = row.read_text();
    sum.compute = row.read_text();
    sum.entries = row.read_integer();
    sum.node_micros = row.read_integer();
    sum.price_micros = row.read_integer();
    return sum;
}

const char* columns_of(ports::UsageBy by) {
    switch (by) {
        case ports::UsageBy::User:
            return "user, '', ''";
        case ports::UsageBy::Job:
            return "user, job, compute";
        case ports::UsageBy::Compute:
            break;
    }
    return "'', '', compute";
}

}  // namespace

Quota read_quota(Run& row) {
    Quota quota;
    quota.key.location = row.read_text();
    quota.key.family = row.read_text();
    quota.key.tier = row.read_enum(Tier::LowPriority);
    quota.level = row.read_enum(QuotaLevel::Workspace);
    quota.cores = row.read_integer();
    return quota;
}

Lock read_lock(Run& row) {
    Lock lock;
    lock.scope = row.read_text();
    lock.name = row.read_text();
    lock.level = row.read_enum(LockLevel::ReadOnly);
    lock.notes = row.read_text();
    lock.created_by = row.read_text();
    lock.created_at = row.read_instant();
    return lock;
}

Result<void> write_quotas(Database& database, const WriteBatch& batch) {
    static constexpr const char* kPut =
        "INSERT INTO quota (location, family, tier, level, cores) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (location, family, tier, level) DO UPDATE SET cores = excluded.cores";
    for (const Quota& quota : batch.quotas) {
        Run run(database.constant(kPut));
        run.text(quota.key.location).text(quota.key.family).integer(static_cast<int>(quota.key.tier));
        LAVANT_TRY_VOID(run.integer(static_cast<int>(quota.level)).integer(quota.cores).execute());
    }
    return {};
}

Result<void> write_locks(Database& database, const WriteBatch& batch) {
    static constexpr const char* kPut =
        "INSERT INTO lock (scope, name, level, notes, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (scope, name) DO UPDATE SET level = excluded.level, notes = excluded.notes,"
        " created_by = excluded.created_by, created_at = excluded.created_at";
    static constexpr const char* kDelete = "DELETE FROM lock WHERE scope = ? AND name = ?";
    for (const LockWrite& write : batch.locks) {
        const Lock& lock = write.lock;
        Run run(database.constant(write.remove ? kDelete : kPut));
        run.text(lock.scope).text(lock.name);
        if (!write.remove)
            run.integer(static_cast<int>(lock.level))
                .text(lock.notes)
                .text(lock.created_by)
                .instant(lock.created_at);
        LAVANT_TRY_VOID(run.execute());
    }
    return {};
}

Result<void> write_usage(Database& database, const WriteBatch& batch) {
    static constexpr const char* kInsert =
        "INSERT INTO usage (ended_at, kind, workspace, user, job, compute, size, tier, node, node_micros,"
        " price_micros) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    for (const UsageEntry& entry : batch.usage) {
        Run run(database.constant(kInsert));
        run.instant(entry.ended_at).integer(static_cast<int>(entry.kind)).text(entry.workspace);
        run.text(entry.user).text(entry.job).text(entry.compute).text(entry.size).text(entry.tier);
        run.integer(entry.node.value).integer(entry.node_micros).integer(entry.price_micros);
        LAVANT_TRY_VOID(run.execute());
    }
    return {};
}

Result<std::vector<ports::UsageSum>> sum_usage(Database& database, const ports::UsageQuery& query) {
    const std::string columns = columns_of(query.by);
    Run run(database.shaped("SELECT " + columns +
                            ", count(*), sum(node_micros), sum(price_micros) FROM usage"
                            " WHERE workspace = ? AND kind = ? AND ended_at >= ? AND ended_at < ?"
                            " GROUP BY 1, 2, 3 ORDER BY 5 DESC, 1, 2, 3 LIMIT ?"));
    run.text(query.workspace).integer(static_cast<int>(query.kind)).instant(query.since).instant(query.until);
    run.integer(std::clamp(query.limit, 0, ports::kRowsPerQuery));
    return read_all<ports::UsageSum>(run, &read_sum, "usage");
}

}  // namespace lavant::sql
