#pragma once
// The curated environments of Azure's registry `azureml`, as far as this server knows them: names, images
// and versions, so that clients find what their files name. Jobs run them on what stands in for an image.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "wire/json.h"

namespace lavant::api {

inline constexpr std::string_view kCuratedRegistry = "azureml";
inline constexpr std::string_view kCuratedPrefix = "AzureML-";  // of those that workspaces show as their own

struct CuratedEnvironment {
    std::string_view name;
    int latest = 1;  // every version up to it is there
    std::string_view image;
    std::string_view description;
};
std::span<const CuratedEnvironment> curated_environments();
const CuratedEnvironment* find_curated(std::string_view name);  // nullptr: not in the catalogue

// "7" for a version that is there; "latest" and "default" are the newest.
std::optional<std::string> curated_version(const CuratedEnvironment& environment,
                                           std::string_view version_or_label);
std::string curated_id(std::string_view name, std::string_view version);
wire::Json curated_version_view(const CuratedEnvironment& environment, const std::string& version);
wire::Json curated_container_view(const CuratedEnvironment& environment);

// "azureml:AzureML-x:3" and the like as azureml://registries/azureml/environments/AzureML-x/versions/3;
// anything else as it is.
std::string to_registry_reference(std::string_view reference);

}  // namespace lavant::api
