#pragma once
// How a workspace reads in ARM.

#include "api/context.h"
#include "wire/json.h"

namespace lavant::api {

wire::Json workspace_view(const Context& context, const Call& call, const Workspace& workspace,
                          const WorkspaceSettings& settings);

}  // namespace lavant::api
