#pragma once
// Quotas, locks and the ledger: rows to values and back.

#include "adapters/sql/database.h"
#include "core/model/record.h"
#include "ports/store.h"

namespace lavant::sql {

inline constexpr const char* kQuotaColumns = "location, family, tier, level, cores";
inline constexpr const char* kLockColumns = "scope, name, level, notes, created_by, created_at";

Quota read_quota(Run& row);
Lock read_lock(Run& row);

[[nodiscard]] Result<void> write_quotas(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_locks(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_usage(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<std::vector<ports::UsageSum>> sum_usage(Database& database,
                                                             const ports::UsageQuery& query);

}  // namespace lavant::sql
