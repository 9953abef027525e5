#pragma once
// The ways in which clients name a versioned asset, and URIs of data, told apart.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/workspace.h"

namespace lavant::api {

struct AssetName {
    std::string name;
    std::string version;  // "" with a label
    std::string label;    // "latest"
};

// ".../{kind}/{name}/versions/{version}", ".../{kind}/{name}/labels/{label}" (with or without "azureml:" in
// front), "azureml:name:version", "azureml:name@label", "name:version", "name@label". nullopt for anything
// else.
std::optional<AssetName> parse_asset_name(std::string_view text, std::string_view kind);

// The workspace that a reference names in front: an ARM id, or azureml:// with subscriptions, resourcegroups
// and workspaces. nullopt: it names none, and means the one in which it is used. Parts that are missing are
// "".
std::optional<WorkspaceName> workspace_in_reference(std::string_view reference);

// Letters, digits, '-', '_' and '.', the first one a letter or a digit, at most kAssetNameChars: what Azure
// takes, and what can be one segment of a path. `what` ("the name of a model") begins the refusal.
inline constexpr std::size_t kAssetNameChars = 255;
[[nodiscard]] Result<void> check_asset_name(std::string_view what, std::string_view name);

struct DatastorePath {
    std::string datastore;
    std::string path;
};
// azureml://datastores/D/paths/P, also in its long form with subscription, resource group and workspace.
std::optional<DatastorePath> parse_datastore_uri(std::string_view uri);
std::string to_short_uri(const DatastorePath& place);  // azureml://datastores/D/paths/P

// "container/path" of a URL of our own storage, whatever host and account spelling: code URIs. nullopt if
// foreign.
std::optional<std::string> parse_storage_url(std::string_view url);

}  // namespace lavant::api
