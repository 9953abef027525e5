#pragma once
// Which computes the workspace has, by name: for messages that name them, and to see that one is there.

#include <string>
#include <vector>

#include "api/context.h"
#include "base/result.h"

namespace lavant::api {

inline constexpr const char* kComputeKind = "computes";

[[nodiscard]] Result<std::vector<std::string>> list_compute_names(Context& context);  // by name

}  // namespace lavant::api
