#pragma once
// The workspace itself: what ARM shows and changes of it, and our own words for its settings.

#include "api/context.h"

namespace lavant::api {

void add_workspace_settings_routes(Router& router, Context& context);

}  // namespace lavant::api
