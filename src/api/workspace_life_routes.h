#pragma once
// Workspaces are made, listed and deleted; the templates by which azure-ai-ml makes one are understood as far
// as they say which.

#include "api/context.h"

namespace lavant::api {

void add_workspace_life_routes(Router& router, Context& context);

}  // namespace lavant::api
