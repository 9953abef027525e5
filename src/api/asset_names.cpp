#include "api/asset_names.h"

#include <vector>

#include "api/context.h"
#include "base/text.h"

namespace lavant::api {

std::optional<AssetName> parse_asset_name(std::string_view text, std::string_view kind) {
    constexpr std::string_view kScheme = "azureml:";
    if (text.starts_with(kScheme) && !text.starts_with("azureml://")) text.remove_prefix(kScheme.size());
    if (text.find('/') != std::string_view::npos) {
        const auto parts = split(text, '/');
        for (std::size_t i = 0; i + 3 < parts.size(); ++i) {
            if (!equals_ignoring_case(parts[i], kind) || parts[i + 1].empty() || parts[i + 3].empty())
                continue;
            if (i + 4 != parts.size()) continue;
            AssetName found{std::string(parts[i + 1]), "", ""};
            if (equals_ignoring_case(parts[i + 2], "versions")) found.version = parts[i + 3];
            if (equals_ignoring_case(parts[i + 2], "labels")) found.label = parts[i + 3];
            if (found.version.empty() && found.label.empty()) return std::nullopt;
            return found;
        }
        return std::nullopt;
    }
    if (const std::size_t at = text.find('@'); at != std::string_view::npos && at > 0 && at + 1 < text.size())
        return AssetName{std::string(text.substr(0, at)), "", std::string(text.substr(at + 1))};
    if (const std::size_t at = text.rfind(':');
        at != std::string_view::npos && at > 0 && at + 1 < text.size())
        return AssetName{std::string(text.substr(0, at)), std::string(text.substr(at + 1)), ""};
    return std::nullopt;
}

std::optional<WorkspaceName> workspace_in_reference(std::string_view reference) {
    constexpr std::string_view kShort = "azureml:";
    if (reference.starts_with(kShort)) reference.remove_prefix(kShort.size());
    while (reference.starts_with('/')) reference.remove_prefix(1);
    const auto parts = split(reference, '/');
    WorkspaceName name;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        const auto is = [&](std::string_view word) { return equals_ignoring_case(parts[i], word); };
        if (is("subscriptions")) {
            name.subscription = percent_decode(parts[i + 1]);
        } else if (is("resourceGroups")) {
            name.resource_group = percent_decode(parts[i + 1]);
        } else if (is("workspaces")) {
            name.name = percent_decode(parts[i + 1]);
            return name;
        } else if (!is("providers") && !is("locations")) {
            break;
        }
    }
    if (name == WorkspaceName{}) return std::nullopt;
    return name;
}

Result<void> check_asset_name(std::string_view what, std::string_view name) {
    const bool begins_well = !name.empty() && name.front() != '-' && name.front() != '_';
    if (begins_well && is_plain_name(name, kAssetNameChars)) return {};
    return fail(ErrorCode::InvalidArgument,
                std::string(what) +
                    " has letters, digits, '-', '_' and '.' only, begins with a letter or a digit, and has "
                    "at most " +
                    std::to_string(kAssetNameChars) + " characters");
}

std::optional<DatastorePath> parse_datastore_uri(std::string_view uri) {
    constexpr std::string_view kScheme = "azureml://";
    if (!uri.starts_with(kScheme)) return std::nullopt;
    std::string_view rest = uri.substr(kScheme.size());
    while (!rest.empty()) {  // (subscriptions/s/resourcegroups/g/workspaces/w/)? datastores/d/paths/p
        const std::size_t slash = rest.find('/');
        if (slash == std::string_view::npos) return std::nullopt;
        const std::string_view word = rest.substr(0, slash);
        rest.remove_prefix(slash + 1);
        const std::size_t end = rest.find('/');
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view value = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (!equals_ignoring_case(word, "datastores")) continue;
        constexpr std::string_view kPaths = "paths/";
        if (value.empty() || !rest.starts_with(kPaths)) return std::nullopt;
        return DatastorePath{std::string(value), std::string(rest.substr(kPaths.size()))};
    }
    return std::nullopt;
}

std::string to_short_uri(const DatastorePath& place) {
    return "azureml://datastores/" + place.datastore + "/paths/" + place.path;
}

std::optional<std::string> parse_storage_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    const std::size_t path = url.find('/', scheme + 3);
    if (path == std::string_view::npos) return std::nullopt;
    const std::string_view rest = url.substr(path, url.find('?', path) - path);
    for (const std::string& start :
         {std::string("/storage/") + kStorageAccount + "/", std::string("/storage/") + kStorageHost + "/",
          std::string("/storage/")}) {
        if (!rest.starts_with(start) || rest.size() == start.size()) continue;
        std::string place = percent_decode(rest.substr(start.size()));
        while (place.ends_with('/')) place.pop_back();
        return place;
    }
    return std::nullopt;
}

}  // namespace lavant::api
