#pragma once
// The parts of a sweep on the wire, for jobs (ARM's spelling) and for steps (the file's own).

#include "core/spec/sweep.h"
#include "wire/json.h"

namespace lavant::wire {

// ["uniform", [0.1, 1.0]], ["choice", [["a", "b"]]]
Json distribution_list(const spec::Document& space);
// {"policyType": "Bandit", …}
std::int64_t default_interval(std::string_view policy);  // of evaluations, as the SDK's policies have it
Json early_termination_of(const spec::EarlyTerminationSpec& stop);

}  // namespace lavant::wire
