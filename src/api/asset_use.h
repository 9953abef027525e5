#pragma once
// Which assets live jobs depend on.

#include <vector>

#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"

namespace lavant::api {

// Conflict, with the name of a job, if one that has not ended names an asset among these.
[[nodiscard]] Result<void> check_unused(Context& context, const std::vector<Asset>& assets);

}  // namespace lavant::api
