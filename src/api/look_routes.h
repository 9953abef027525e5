#pragma once
// Requests that look at a workspace or at a plan and change nothing: diagnose, and the validation of a
// deployment, which azure-ai-ml asks for before it registers a component.

#include "api/context.h"

namespace lavant::api {

void add_look_routes(Router& router, Context& context);

}  // namespace lavant::api
