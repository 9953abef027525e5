#pragma once
// Run history as azure-ai-ml reads it (stream, download, update, archive), and log files behind short-lived
// URLs.

#include "api/context.h"

namespace lavant::api {

void add_history_routes(Router& router, Context& context);

}  // namespace lavant::api
