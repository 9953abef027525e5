#pragma once
// The statements that write a batch. Each answers Conflict where a guard does not hold; the caller rolls
// back.

#include <vector>

#include "adapters/sql/database.h"
#include "core/model/record.h"

namespace lavant::sql {

[[nodiscard]] Result<void> write_jobs(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_tasks(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_nodes(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_pools(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> remove_nodes_and_pools(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_events(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> write_outbox(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<void> remove_jobs(Database& database, const WriteBatch& batch);
// One flag per entry: whether the row was as expected.
[[nodiscard]] Result<std::vector<bool>> write_assets(Database& database, const WriteBatch& batch);

}  // namespace lavant::sql
