#pragma once
// ARM routes for versioned assets: codes, environments, data, models, components.

#include "api/context.h"

namespace lavant::api {

void add_asset_routes(Router& router, Context& context);

}  // namespace lavant::api
