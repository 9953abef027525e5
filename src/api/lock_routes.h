#pragma once
// Resource locks: ARM's Microsoft.Authorization/locks on what can be locked here.

#include <optional>

#include "api/context.h"
#include "base/result.h"
#include "core/model/lock.h"

namespace lavant::api {

void add_lock_routes(Router& router, Context& context);

// A ReadOnly lock on the workspace or its resource group. Whatever clients call them, there is one of each.
[[nodiscard]] Result<std::optional<Lock>> find_workspace_lock(Context& context);

}  // namespace lavant::api
