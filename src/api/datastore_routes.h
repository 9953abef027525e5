#pragma once
#include "api/context.h"

namespace lavant::api {

void add_datastore_routes(Router& router, Context& context);

}  // namespace lavant::api
