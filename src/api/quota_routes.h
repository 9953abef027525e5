#pragma once
// Quotas and usages: Azure's own routes, and ours below /lavant/v1/quotas.

#include "api/context.h"

namespace lavant::api {

void add_quota_routes(Router& router, Context& context);

}  // namespace lavant::api
