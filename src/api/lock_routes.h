#pragma once
// Resource locks: ARM's Microsoft.Authorization/locks on what can be locked here.

#include <optional>

#include "api/context.h"
#include "base/result.h"
#include "core/model/lock.h"

namespace lavant::api {

void add_lock_routes(Router& router, Context& context);

// A ReadOnly lock on the caller's workspace or its resource group. Our own routes name no workspace: there,
// one on any of them counts, as whatever clients call it, there is one alone.
[[nodiscard]] Result<std::optional<Lock>> find_workspace_lock(Context& context, const Call& call);

}  // namespace lavant::api
