#pragma once
// What a job read and made; which jobs read or made an asset.

#include "api/context.h"

namespace lavant::api {

void add_lineage_routes(Router& router, Context& context);

}  // namespace lavant::api
