#pragma once
// Tries what protections a job would have on this machine, for `lavant doctor`.

#include <string>

#include "base/result.h"

namespace lavant {

// As ports::Sandbox::protections() tells it. The sandbox is made in a process of its own (it may enter a user
// namespace) and in a folder below `data`, or below `otherwise` where that cannot be written; both go again.
[[nodiscard]] Result<std::string> try_protections(const std::string& data, const std::string& otherwise);

}  // namespace lavant
