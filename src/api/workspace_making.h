#pragma once
// Makes a workspace through the control loop, once however many ask for it at the same time.

#include <string>

#include "api/context.h"

namespace lavant::api {

// `then` is called once, on any thread. A workspace that is there already is answered as it is.
void make_workspace(Context& context, const WorkspaceName& name, const std::string& location,
                    const std::string& who, Workspaces::Made then);

}  // namespace lavant::api
