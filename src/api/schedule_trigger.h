#pragma once
// When a schedule acts: the `trigger` of its properties, checked and in the spelling that clients get back.

#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace lavant::api {

// Everything wrong with it goes to `problems`, with the place.
wire::Json complete_trigger(const wire::Json& sent, std::vector<FieldProblem>& problems);

}  // namespace lavant::api
