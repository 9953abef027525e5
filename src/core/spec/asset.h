#pragma once
// Files of what a workspace keeps by name and version: data, models and environments. What the author left
// out stays empty. Local paths stay local here: who registers the asset uploads them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/spec/command_job.h"
#include "core/spec/document.h"
#include "core/spec/finding.h"

namespace lavant::spec {

inline constexpr std::size_t kAssetNameBytes = 255;
inline constexpr std::size_t kAssetVersionBytes = 255;
inline constexpr std::size_t kAssetDescriptionBytes = 64U << 10;
inline constexpr std::size_t kAssetPathBytes = 8U << 10;
inline constexpr std::size_t kAssetPairsMost = 1'000;  // of tags, of properties
inline constexpr std::size_t kAssetPairBytes = 16U << 10;
inline constexpr std::size_t kReferencedPathsMost = 10'000;  // of an MLTable

// Data and models.
struct AssetSpec {
    std::string name;
    std::string version;  // "": the next one
    std::string description;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> properties;
    std::string type;        // uri_file, uri_folder, mltable; custom_model, mlflow_model, triton_model
    std::string path;        // as written
    std::string local_path;  // where that is on this machine; empty if it is not a local path
    std::string datastore;   // where to upload a local path; "" the workspace's own
    std::vector<std::string> referenced;  // what an MLTable reads, as it says it
    std::optional<Document> flavors;      // of a model
    std::string stage;                    // of a model

    std::vector<std::string> warnings;
    std::vector<Finding> beyond_azure;
};

// All problems at once in Error::fields, with paths, lines and columns. `loader.folder` is the file's.
[[nodiscard]] Result<AssetSpec> parse_data(const Document& document, const ComponentLoader& loader);
[[nodiscard]] Result<AssetSpec> parse_model(const Document& document, const ComponentLoader& loader);

struct EnvironmentFile {
    EnvironmentSpec environment;
    std::map<std::string, std::string> properties;
    std::string datastore;                     // where to upload a build context; "" the workspace's own
    std::optional<Document> inference_config;  // liveness_route, readiness_route, scoring_route
    std::vector<std::string> warnings;
    std::vector<Finding> beyond_azure;
};
[[nodiscard]] Result<EnvironmentFile> parse_environment_file(const Document& document,
                                                             const ComponentLoader& loader);

// "" if it may be the name of a data asset, a model, an environment or a component; else what is wrong.
std::string asset_name_problem(std::string_view name);

}  // namespace lavant::spec
