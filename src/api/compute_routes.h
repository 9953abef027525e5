#pragma once
// ARM routes for computes: clusters, instances and attached machines are made, changed, shown and deleted.

#include "api/context.h"

namespace lavant::api {

void add_compute_routes(Router& router, Context& context);

}  // namespace lavant::api
