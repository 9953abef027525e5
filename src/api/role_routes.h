#pragma once
// `/lavant/v1/role-assignments` (of a workspace), `/lavant/v1/server/role-assignments` and
// `/lavant/v1/whoami`. docs/access.md.

#include "api/context.h"

namespace lavant::api {

void add_role_routes(Router& router, Context& context);

}  // namespace lavant::api
