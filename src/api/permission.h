#pragma once
// The one place where it is decided whether a caller may use a route.

#include "api/context.h"

namespace lavant::api {

// By the route's need, the workspace of the call and the resource in its path. From then on the caller's role
// is the one that counts there.
[[nodiscard]] Result<void> check_permission(Context& context, Call& call, Need need);

// "computes/gpu" of a path about that compute; "" for one about none.
std::string resource_in(std::string_view path);

}  // namespace lavant::api
