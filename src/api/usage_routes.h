#pragma once
// The ledger, added up: who used how many node-seconds, and what they would have cost.

#include "api/context.h"

namespace lavant::api {

void add_usage_routes(Router& router, Context& context);

}  // namespace lavant::api
