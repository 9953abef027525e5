#pragma once
// Reading versioned assets of the workspace.

#include <optional>
#include <string>
#include <string_view>

#include "api/asset_names.h"
#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"

namespace lavant::api {

// What azure-ai-ml asks for where no version of a component is given.
inline constexpr std::string_view kDefaultComponentVersion = "azureml_default";

// By version, or by the label "latest" (the newest one that is not archived).
[[nodiscard]] Result<std::optional<Asset>> find_version(Context& context, const std::string& workspace,
                                                        const std::string& kind, const AssetName& name);

// InvalidArgument for a reference that names another workspace: what is used lies in the workspace it is used
// in, and a name there must not silently mean a thing here. Nobody learns whether the other one exists.
[[nodiscard]] Result<void> check_scope(Context& context, const std::string& workspace,
                                       std::string_view reference);

}  // namespace lavant::api
