#pragma once
// `/lavant/v1/users`, `/service-principals` and `/groups`: who there is. docs/access.md.

#include "api/context.h"

namespace lavant::api {

void add_principal_routes(Router& router, Context& context);

}  // namespace lavant::api
