#pragma once
// Which environment a job gets. No container engine is used here: `host` is the interpreter of the machine
// (or of the folder the client names), and the images of a small catalogue run on it, with a note in the log
// that says so.

#include <map>
#include <string>
#include <string_view>

#include "api/context.h"
#include "base/result.h"
#include "core/model/launch.h"

namespace lavant::api {

inline constexpr const char* kHostImage = "lavant/host";  // the image of the registered default, base:1

inline constexpr std::string_view kBaseEnvironment = "base";  // which every workspace has

struct EnvironmentAsk {
    std::string workspace;    // its key
    std::string id;           // as in the job's environmentId
    std::string python_home;  // from `lavant.python_home`, for the host environment
};
[[nodiscard]] Result<LaunchEnvironment> resolve_environment(Context& context, const EnvironmentAsk& ask);

// The environment that stands in for an image, if the catalogue knows it.
[[nodiscard]] Result<LaunchEnvironment> environment_of_image(const std::string& image);

}  // namespace lavant::api
