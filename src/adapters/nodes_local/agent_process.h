#pragma once
// Starts a detached process: not our child, in its own session, in a given cgroup, with none of our files.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/processes.h"

namespace lavant::nodes_local {

struct DetachedCommand {
    std::vector<std::string> arguments;  // the first is the executable
    std::vector<std::string> environment;
    std::string log_file;
    std::string folder;  // to run in
};

// Calls `record` with the new process before it executes anything; if that fails, or we die first, the
// process ends without having done anything. Any thread.
[[nodiscard]] Result<host::ProcessMark> start_detached(
    const DetachedCommand& command, const std::function<Result<void>(const host::ProcessMark&)>& record);

}  // namespace lavant::nodes_local
