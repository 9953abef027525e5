#pragma once
// Everything a task's supervisor needs, worked out by the agent before it forks: after the fork only system
// calls are left to do.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lavant::sandbox_linux {

// Where and why setting up failed. Texts must outlive it: literals, or strings of the plan.
struct Failure {
    int error = 0;  // errno; 0: nothing failed
    const char* step = "";
    const char* path = "";
    explicit operator bool() const { return error != 0; }
};

struct BindStep {
    std::string path;
    bool writable = false;
    bool owned_by_task = false;  // show the agent's files as the task's own (idmapped), where possible
};

// The task's own mount namespace. `view` is a prepared one (system_view.h) that each task gets a copy of.
struct MountPlan {
    int view = -1;               // -1: no namespaces
    int identity = -1;           // user namespace for idmapped mounts; -1: none
    std::string private_folder;  // hidden behind an empty tmpfs, so that the folders of other tasks are not seen
    std::string scratch_folder;  // becomes /tmp; empty: a tmpfs
    std::vector<BindStep> binds;
    std::string overlay_lower;   // empty: the working folder is among the binds
    std::string overlay_upper;
    std::string overlay_work;
    bool overlay_in_user_namespace = false;
};

struct Plan {
    std::vector<const char*> programs;     // tried in order with `words`, before the shell
    std::vector<char*> words;              // null-terminated
    std::vector<char*> shell_arguments;    // null-terminated, the first is the shell's path
    std::vector<char*> environment;        // null-terminated
    std::string working_folder;
    MountPlan mounts;
    bool change_user = false;  // to `user`, which no other task of this machine has
    uid_t user = 0;
    bool drop_capabilities = false;  // same user, but none of the agent's powers
    bool find_descendants = false;   // no cgroup and no pid namespace: the supervisor finds what is left behind
    std::int64_t processes_max = 0;  // 0: as inherited
    std::int64_t data_bytes_max = 0;
    int state_fd = -1;
    int log_fd = -1;
    int go_fd = -1;  // closes when the agent has recorded the supervisor, or died
};

// Asks a supervisor to kill everything it started; not forwarded to the task.
inline constexpr int kEndEverything = 63;

}  // namespace lavant::sandbox_linux
