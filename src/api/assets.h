#pragma once
// Reading versioned assets of the workspace.

#include <optional>
#include <string>

#include "api/asset_names.h"
#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"

namespace lavant::api {

// By version, or by the label "latest" (the newest one that is not archived).
[[nodiscard]] Result<std::optional<Asset>> find_version(Context& context, const std::string& workspace,
                                                        const std::string& kind, const AssetName& name);

}  // namespace lavant::api
