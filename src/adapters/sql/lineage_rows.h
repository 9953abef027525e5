#pragma once
// Rows of lineage, and the end of all rows of a workspace.

#include "adapters/sql/database.h"
#include "core/model/record.h"
#include "ports/store.h"

namespace lavant::sql {

[[nodiscard]] Result<void> write_lineage(Database& database, const WriteBatch& batch);
[[nodiscard]] Result<std::vector<LineageEdge>> list_lineage(Database& database,
                                                            const ports::LineageQuery& query);
// Jobs with all that is theirs, and assets. History and the ledger stay.
[[nodiscard]] Result<void> remove_workspaces(Database& database, const WriteBatch& batch);

}  // namespace lavant::sql
