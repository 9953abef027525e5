#pragma once
// ARM routes for schedules: kept, shown, switched on and off, and triggered by hand.

#include "api/context.h"

namespace lavant::api {

void add_schedule_routes(Router& router, Context& context);

}  // namespace lavant::api
