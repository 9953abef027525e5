#pragma once
// The registry `azureml` with its curated environments, for clients that look things up in a registry
// (MLClient(registry_name="azureml")). Nothing can be written to it.

#include "api/context.h"

namespace lavant::api {

void add_registry_routes(Router& router, Context& context);

}  // namespace lavant::api
