#pragma once
// `/lavant/v1/keys`: API keys, made, shown, changed, rotated and revoked by owners. A key's secret is in one
// answer only; the server keeps its hash.

#include "api/context.h"

namespace lavant::api {

void add_key_routes(Router& router, Context& context);

}  // namespace lavant::api
