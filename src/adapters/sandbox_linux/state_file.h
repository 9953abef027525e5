#pragma once
// The file that outlives agent and supervisor: two records at fixed places, one by the agent (who the
// supervisor is), one by the supervisor (how the command ended). Each is a single write, so it is there whole
// or not at all. The file is written over by the next task in the same folder. A supervisor holds a lock on
// it while it lives.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "ports/sandbox.h"

namespace lavant::sandbox_linux {

inline constexpr std::size_t kStartRecordBytes = 256;  // the other record begins here
inline constexpr std::size_t kEndRecordBytesMax = 4096;

struct TaskState {
    std::string start;  // names this start of this task among all; has no space
    pid_t supervisor = 0;
    std::string boot;  // of the machine: pids of an earlier boot mean nothing
    int slot = 0;
    std::int64_t oom_kills = 0;   // of the node's cgroup, when the task started
    std::int64_t cpu_micros = 0;  // of what ran in the task's cgroup before it

    std::optional<ports::TaskExit> end;
    std::string failure;  // the command was never started, and why
};

std::string state_path(const std::string& task_folder);
// "42.1.0:" and what tells two starts of the same task apart.
std::string name_start(TaskRef task, std::uint64_t number);
bool is_start_of(std::string_view start, TaskRef task);
// How the first record begins: a supervisor that finds anything else there was never recorded, and may not
// go.
std::string start_mark(std::string_view start);

// The first record, and an empty second one over whatever was there.
std::string render_started(const TaskState& state);
// Nothing: the agent died before it recorded the supervisor, so the command never ran.
std::optional<TaskState> parse_state(std::string_view text);
[[nodiscard]] Result<std::string> read_state(const Fd& file);

// Whether somebody else, the supervisor, holds the lock that lock_state() took.
[[nodiscard]] Result<void> lock_state(const Fd& file);
bool is_locked(const Fd& file);

}  // namespace lavant::sandbox_linux
