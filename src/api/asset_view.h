#pragma once
// How assets read in ARM, and which of their properties are fixed.

#include <string>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "core/model/asset.h"
#include "wire/json.h"

namespace lavant::api {

struct AssetKind {
    std::string name;                       // "environments"
    std::vector<std::string> fixed_fields;  // differ: 409
    bool has_containers = true;
};
const std::vector<AssetKind>& asset_kinds();

// From what a client sent to what is stored: URLs of our storage lose host and account, isArchived moves to
// the row.
[[nodiscard]] Result<wire::Json> to_stored_asset(const AssetKind& kind, const wire::Json& properties);
bool same_content(const AssetKind& kind, const wire::Json& stored, const wire::Json& wanted);
// `stored` with everything that may change taken from `wanted`.
wire::Json merge_asset(const AssetKind& kind, wire::Json stored, const wire::Json& wanted);

[[nodiscard]] Result<wire::Json> version_view(const Context& context, const Call& call, const Asset& asset);
[[nodiscard]] Result<wire::Json> container_view(const Call& call, const Asset& asset);

// The container's row after `version` was added: latestVersion and nextVersion go up.
[[nodiscard]] Result<wire::Json> advance_container(const std::string& stored, const std::string& version);

}  // namespace lavant::api
