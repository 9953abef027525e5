#pragma once
// A workspace is named by subscription, resource group and name; inside we use one key.

#include <string>

namespace lavant {

struct WorkspaceName {
    std::string subscription;
    std::string resource_group;
    std::string name;
    bool operator==(const WorkspaceName&) const = default;
};

inline const WorkspaceName& default_workspace() {
    static const WorkspaceName workspace{"00000000-0000-0000-0000-000000000001", "lavant", "default"};
    return workspace;
}

}  // namespace lavant
