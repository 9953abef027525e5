#pragma once
// A workspace file: what of a workspace can be set here. `az ml workspace update -f` reads the same files.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/spec/document.h"

namespace lavant::spec {

struct ServerlessSpec {
    std::string custom_subnet;  // "" none
    bool no_public_ip = false;
};

// What is absent stays as it is.
struct WorkspaceSpec {
    std::string name;
    std::optional<std::string> display_name;
    std::optional<std::string> description;
    std::optional<std::map<std::string, std::string>> tags;
    std::optional<ServerlessSpec> serverless;
    std::vector<std::string> without_meaning;  // keys that Azure knows and nothing here depends on
};

[[nodiscard]] Result<WorkspaceSpec> parse_workspace(const Document& root);

}  // namespace lavant::spec
