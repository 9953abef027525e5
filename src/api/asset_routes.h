#pragma once
// ARM routes for versioned assets: codes, environments, data, models. A version is written once; what it is
// made of never changes after that, its description, tags and archiving may.

#include "api/context.h"

namespace lavant::api {

void add_asset_routes(Router& router, Context& context);

}  // namespace lavant::api
