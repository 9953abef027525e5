#pragma once
// How assets read in ARM, and which of their properties are fixed.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "core/model/asset.h"
#include "wire/json.h"

namespace lavant::api {

struct AssetKind {
    std::string name;                       // "environments"
    std::string one;                        // "environment"
    std::vector<std::string> fixed_fields;  // differ: 409
    bool has_containers = true;
};
const std::vector<AssetKind>& asset_kinds();
const AssetKind* find_asset_kind(std::string_view name);

// No asset's properties are larger than this as text.
inline constexpr std::size_t kAssetBytes = 1U << 20;

// From what a client sent to what is stored: URLs of our storage lose host and account, isArchived moves to
// the row. Components are completed elsewhere (component_spec.h).
[[nodiscard]] Result<wire::Json> to_stored_asset(const AssetKind& kind, const wire::Json& properties);
// The first of the fixed fields in which they differ; nullopt: the same asset.
std::optional<std::string> changed_field(const AssetKind& kind, const wire::Json& stored,
                                         const wire::Json& wanted);
// `stored` with everything that may change taken from `wanted`.
wire::Json merge_asset(const AssetKind& kind, wire::Json stored, const wire::Json& wanted);

// With a label, the id says so: .../labels/default.
[[nodiscard]] Result<wire::Json> version_view(const Context& context, const Call& call, const Asset& asset,
                                              std::string_view label = {});
// latestVersion is that of the newest version that is not archived.
[[nodiscard]] Result<wire::Json> container_view(const Context& context, const Call& call, const Asset& asset);

// The container's row after `version` was added: nextVersion goes up.
[[nodiscard]] Result<wire::Json> advance_container(const std::string& stored, const std::string& version);

// 2026-01-02-03-04-05-6789012: the next version of a component.
std::string to_version_stamp(Instant at);

}  // namespace lavant::api
