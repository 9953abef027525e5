#pragma once
// A checked compute specification to the ARM request body that makes it. (The server's direction is
// arm_compute.h.)

#include "core/model/workspace.h"
#include "core/spec/compute.h"
#include "wire/json.h"

namespace lavant::wire {

// Whole: with the defaults that Azure's client fills in. Changes: nothing but what the author wrote.
// `workspace` is whose resource group a network is looked for in.
Json to_arm_compute(const spec::ComputeSpec& spec, spec::ComputeText text, const WorkspaceName& workspace);

}  // namespace lavant::wire
