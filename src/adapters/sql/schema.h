#pragma once
// The schema: numbered migrations that only go forward. The number reached is kept in PRAGMA user_version.

#include <cstdint>
#include <span>

#include "adapters/sql/database.h"

namespace lavant::sql {

struct Migration {
    const char* name;  // "0001_spine"
    const char* script;
};

std::span<const Migration> migrations();

// Brings `database` to the newest schema, each migration in a transaction of its own. A database of a newer
// version, or of another program, is refused.
[[nodiscard]] Result<void> migrate(Database& database, std::span<const Migration> steps = migrations());

}  // namespace lavant::sql
