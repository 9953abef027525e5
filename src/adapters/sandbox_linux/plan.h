#pragma once
// Everything a task's supervisor needs, worked out by the agent before it forks: after the fork only system
// calls are left to do. Plain memory of an Arena: the agent's heap is not there after the fork.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace lavant::sandbox_linux {

// Where and why setting up failed. Texts must outlive it: literals, or strings of the plan.
struct Failure {
    int error = 0;  // errno; 0: nothing failed
    const char* step = "";
    const char* path = "";
    explicit operator bool() const { return error != 0; }
};

struct BindStep {
    const char* path = "";
    const char* source = nullptr;  // where it lies, without a link on the way; null: at `path`
    bool writable = false;
    bool owned_by_task = false;  // show the agent's files as the task's own (idmapped), where possible
};

// The task's own mount namespace. `view` is a prepared one (system_view.h) that each task gets a copy of.
struct MountPlan {
    int view = -1;      // -1: no namespaces
    int identity = -1;  // user namespace for idmapped mounts; -1: none
    const char* private_folder =
        "";  // hidden behind an empty tmpfs, so that the folders of other tasks are not seen
    const char* scratch_folder = "";  // becomes /tmp; empty: a tmpfs
    const BindStep* binds = nullptr;  // outer folders before inner ones
    std::size_t bind_count = 0;
    const char* overlay_lower = "";  // empty: the working folder is among the binds
    const char* overlay_upper = "";
    const char* overlay_work = "";
    bool overlay_in_user_namespace = false;
    // Kernels before 6.15 want the layers in the namespace of the overlay: then they are mounted here for the
    // time it is made, and upper and work are paths below the second. Empty: not needed.
    const char* overlay_lower_at = "";
    const char* overlay_layers = "";  // the folder of both on the machine
    const char* overlay_layers_at = "";
};

inline constexpr std::size_t kPlanStackBytes = 64U << 10;

// Lists of texts end with a null pointer.
struct Plan {
    const char* const* programs = nullptr;  // tried in order with `words`, before the shell
    char* const* words = nullptr;
    char* const* shell_arguments = nullptr;  // the first is the shell's path
    char* const* environment = nullptr;
    const char* start_mark = "";       // how the state file begins once this start is recorded
    char* supervisor_stack = nullptr;  // both of kPlanStackBytes
    char* command_stack = nullptr;
    const char* working_folder = "";
    MountPlan mounts;
    bool change_user = false;  // to `user`, which no other task of this machine has
    uid_t user = 0;
    bool drop_capabilities = false;  // same user, but none of the agent's powers
    bool find_descendants =
        false;  // no cgroup and no pid namespace: the supervisor finds what is left behind
    std::int64_t processes_max = 0;  // 0: as inherited
    std::int64_t data_bytes_max = 0;
    bool from_launcher =
        false;  // which has raised the out-of-memory score and opened /dev/null for its children
    int state_fd = -1;
    int log_fd = -1;
    int go_fd = -1;  // closes when the agent has recorded the supervisor, or died
};

// Asks a supervisor to kill everything it started; not forwarded to the task.
inline constexpr int kEndEverything = 63;

}  // namespace lavant::sandbox_linux
