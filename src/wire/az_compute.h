#pragma once
// A compute as az and the SDK show it: the compute file's own words, with what the server added. From the ARM
// resource.

#include "wire/json.h"

namespace lavant::wire {

Json to_az_compute(const Json& arm);

// One entry of listNodes.
Json to_az_node(const Json& arm);

}  // namespace lavant::wire
