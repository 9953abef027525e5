#pragma once
// VM sizes: as Azure lists them for a region, and our own, where a site's can be made and deleted.

#include "api/context.h"

namespace lavant::api {

void add_size_routes(Router& router, Context& context);

}  // namespace lavant::api
