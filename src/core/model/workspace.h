#pragma once
// A workspace is named by subscription, resource group and name; inside we use one key.

#include <optional>
#include <string>
#include <string_view>

namespace lavant {

struct WorkspaceName {
    std::string subscription;
    std::string resource_group;
    std::string name;
    bool operator==(const WorkspaceName&) const = default;
};

// The key of the workspace that is there from the start. Those of others begin with kWorkspaceKeyStart.
inline constexpr const char* kDefaultWorkspace = "default";
inline constexpr char kWorkspaceKeyStart = 'w';

// The two datastores every workspace has from the start, and the blob containers behind them: these of the
// default workspace, for others with the workspace's key behind.
inline constexpr const char* kBlobDatastore = "workspaceblobstore";
inline constexpr const char* kArtifactDatastore = "workspaceartifactstore";
inline constexpr const char* kBlobContainer = "azureml-blobstore";
inline constexpr const char* kArtifactContainer = "azureml";

inline std::string blob_container(std::string_view workspace) {
    std::string container = kBlobContainer;
    return workspace == kDefaultWorkspace ? container : (container += '-').append(workspace);
}

inline std::string artifact_container(std::string_view workspace) {
    std::string container = kArtifactContainer;
    return workspace == kDefaultWorkspace ? container : (container += '-').append(workspace);
}

// Whose artifacts a container has; nullopt: nobody's.
inline std::optional<std::string_view> workspace_of_artifacts(std::string_view container) {
    constexpr std::string_view kStart = "azureml-";
    if (container == kArtifactContainer) return kDefaultWorkspace;
    if (container.size() <= kStart.size() || !container.starts_with(kStart)) return std::nullopt;
    container.remove_prefix(kStart.size());
    return container.front() == kWorkspaceKeyStart ? std::optional(container) : std::nullopt;
}

// Each code snapshot, and each upload of another asset, has a container of its own; whose it is stands in the
// name.
inline constexpr std::string_view kCodeStart = "code-";
inline constexpr std::string_view kUploadStart = "upload-";

inline std::string named_container(std::string_view start, std::string_view workspace, std::string_view id) {
    std::string container(start);
    if (workspace != kDefaultWorkspace) container.append(workspace) += '-';
    return container.append(id);
}
inline std::string code_container(std::string_view workspace, std::string_view id) {
    return named_container(kCodeStart, workspace, id);
}
inline std::string upload_container(std::string_view workspace, std::string_view id) {
    return named_container(kUploadStart, workspace, id);
}

inline std::optional<std::string> workspace_in_name(std::string_view start, std::string_view container) {
    if (!container.starts_with(start)) return std::nullopt;
    container.remove_prefix(start.size());
    const std::size_t dash = container.find('-');
    if (container.empty() || container.front() != kWorkspaceKeyStart || dash == std::string_view::npos)
        return kDefaultWorkspace;
    return std::string(container.substr(0, dash));
}
// Whose code (or upload) a container has; nullopt: it has none.
inline std::optional<std::string> workspace_of_code(std::string_view container) {
    return workspace_in_name(kCodeStart, container);
}
inline std::optional<std::string> workspace_of_upload(std::string_view container) {
    return workspace_in_name(kUploadStart, container);
}

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
