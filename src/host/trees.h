#pragma once
// Removing folders that somebody else filled: whatever modes are on what is in them. Follows no link.

#include <string>

#include "base/result.h"

namespace lavant::host {

[[nodiscard]] Result<void> remove_contents(const std::string& folder);
[[nodiscard]] Result<void> remove_whole_tree(const std::string& folder);  // Absent is fine.

}  // namespace lavant::host
