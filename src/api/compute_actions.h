#pragma once
// What is done to a compute that is there: start, stop, restart, list its nodes, take one away.

#include "api/context.h"

namespace lavant::api {

void add_compute_actions(Router& router, Context& context);

}  // namespace lavant::api
