#pragma once
// The workspace itself: what ARM shows and changes of it, and our own words for its settings.

#include <functional>

#include "api/context.h"
#include "wire/json.h"

namespace lavant::api {

// By an ARM body; answers the workspace as it is then.
void update_workspace(Context& context, const SharedCall& call);
// The same, of a body that is not the request's; errors are answered, success is not.
void change_workspace(Context& context, const SharedCall& call, const wire::Json& body,
                      std::function<void()> then);
void add_workspace_settings_routes(Router& router, Context& context);

}  // namespace lavant::api
