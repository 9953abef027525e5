#pragma once
// A copy of a database that is in use, and whether a copy is whole.

#include <string>

#include "base/result.h"

namespace lavant::adapters {

// All that was committed before the call, in one file that needs no log beside it. Nobody has to wait for it.
[[nodiscard]] Result<void> copy_database(const std::string& from, const std::string& to);

// Whether it is one of ours, of a schema that this program knows, with nothing broken in it.
[[nodiscard]] Result<void> check_database(const std::string& path);

}  // namespace lavant::adapters
