#pragma once
// Asking for more cores: anybody may ask, an owner grants or denies. Kept as assets of kind "quota_requests".

#include "api/context.h"

namespace lavant::api {

void add_quota_request_routes(Router& router, Context& context);

}  // namespace lavant::api
