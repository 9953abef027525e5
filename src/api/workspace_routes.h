#pragma once
// What a client needs before it can do anything: metadata, tokens, discovery, the workspace's datastores and
// computes, health and metrics.

#include "api/context.h"

namespace lavant::api {

void add_workspace_routes(Router& router, Context& context);

}  // namespace lavant::api
