#pragma once
// What is done to a compute that is there: start, stop, restart, list its nodes, take one away.

#include "api/context.h"

namespace lavant::api {

// Where a client asks whether what it began is over, which it is already.
void add_operation(ports::HttpResponse& response, const Context& context, const Call& call);

void add_compute_actions(Router& router, Context& context);

}  // namespace lavant::api
