#pragma once
// Which assets a job read and which it made.

#include <string>

#include "base/id.h"

namespace lavant {

enum class LineageRole { Input, Output };

struct LineageEdge {
    JobId job;
    std::string job_name;
    std::string workspace;
    LineageRole role = LineageRole::Input;
    std::string port;  // the name of the input or output
    std::string kind;  // "data", "models", "environments", "codes", "components"
    std::string name;
    std::string version;
    bool operator==(const LineageEdge&) const = default;
};

}  // namespace lavant
