#pragma once
// A program that travels inside another one, put where it can be executed.

#include <string>
#include <string_view>

#include "base/result.h"

namespace lavant::nodes_local {

// Afterwards `path` holds exactly `program` and may be executed. What is there already is compared byte by
// byte; it is replaced by a rename, so that processes that run the old one go on. PermissionDenied: the file
// system runs no programs. No other thread may fork meanwhile: its child would hold the file open for
// writing.
[[nodiscard]] Result<void> install_program(const std::string& path, std::string_view program);

}  // namespace lavant::nodes_local
