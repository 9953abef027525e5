#pragma once
// A workspace is named by subscription, resource group and name; inside we use one key.

#include <string>
#include <string_view>

namespace lavant {

struct WorkspaceName {
    std::string subscription;
    std::string resource_group;
    std::string name;
    bool operator==(const WorkspaceName&) const = default;
};

// The two datastores every workspace has from the start, and the blob containers behind them.
inline constexpr const char* kBlobDatastore = "workspaceblobstore";
inline constexpr const char* kArtifactDatastore = "workspaceartifactstore";
inline constexpr const char* kBlobContainer = "azureml-blobstore";
inline constexpr const char* kArtifactContainer = "azureml";

// What an attempt uploads lies below this folder of its container until it is published.
inline constexpr std::string_view kStagingFolder = ".lavant-staging";

inline std::string artifact_prefix(const std::string& job_name) {
    return "ExperimentRun/dcid." + job_name + "/";
}

// Where a job's named outputs go, each into a folder of its name, unless the job says otherwise.
inline std::string output_prefix(const std::string& job_name) { return "azureml/" + job_name + "/"; }

inline const WorkspaceName& default_workspace() {
    static const WorkspaceName workspace{"00000000-0000-0000-0000-000000000001", "lavant", "default"};
    return workspace;
}

}  // namespace lavant
