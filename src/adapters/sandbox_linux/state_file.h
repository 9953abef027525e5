#pragma once
// The file that outlives agent and supervisor: one line by the agent (who the supervisor is), one by the
// supervisor (how the command ended). Both are single appends, so a line is there whole or not at all.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/processes.h"
#include "ports/sandbox.h"

namespace lavant::sandbox_linux {

struct TaskState {
    host::ProcessMark supervisor;
    std::string boot;  // of the machine: marks of an earlier boot mean nothing
    int slot = 0;
    std::int64_t oom_kills = 0;   // of the node's cgroup, when the task started
    std::int64_t cpu_micros = 0;  // of the task's cgroup, when the task started

    std::optional<ports::TaskExit> end;
    std::string failure;  // the command was never started, and why
};

std::string state_path(const std::string& task_folder);
std::string render_started(const TaskState& state);
// Nothing: the agent died before it recorded the supervisor, so the command never ran.
std::optional<TaskState> parse_state(std::string_view text);

}  // namespace lavant::sandbox_linux
