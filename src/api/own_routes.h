#pragma once
// Our own routes, below /lavant/v1: what Azure's API has no words for.

#include "api/context.h"

namespace lavant::api {

void add_own_routes(Router& router, Context& context);

}  // namespace lavant::api
