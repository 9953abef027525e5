#pragma once
// The rows of workspaces: server-wide assets, named by the three names of the workspace, with its key as
// their hash. Those that were deleted stay, archived: their names are not made again by themselves.

#include <string>
#include <vector>

#include "app/staging.h"
#include "base/result.h"
#include "core/model/workspace.h"
#include "ports/store.h"

namespace lavant::app {

inline constexpr const char* kWorkspaceKind = "workspaces";
inline constexpr const char* kDatastoreKind = "datastores";

// Names are one however they are spelt: "sub/group/name" in lower case, every part encoded.
std::string row_name_of(const WorkspaceName& name);

[[nodiscard]] Result<std::vector<std::string>> list_workspace_keys(ports::Reader& reader);

// Every container in which jobs of the workspace may stage files: its own, and those of datastores that lie
// in our storage, which are the hashes of their rows.
[[nodiscard]] Result<Containers> list_containers(ports::Reader& reader, const std::string& workspace);

}  // namespace lavant::app
