#pragma once
// Runs one task's processes confined, and knows for certain when they are all dead. Agent side.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/node.h"

namespace lavant::ports {

struct Bind {
    std::string path;  // the same inside and outside
    bool writable = false;
    // Where `path` led when it was checked, without any link; empty: not asked. What is seen is this, or
    // nothing.
    std::string source = {};
};

struct ConfinedTask {
    TaskRef ref;
    std::string folder;                    // the task's spool; the sandbox's own files there are named run.*
    std::string script;                    // for bash -c
    std::vector<std::string> environment;  // complete, "NAME=value"
    std::string code_folder;               // read-only snapshot; empty for none
    std::string working_folder;            // where the script runs: a private writable view of code_folder
    std::string log_file;                  // opened by the child, append only, for stdout and stderr
    std::vector<Bind> binds;               // what else it may see: inputs, outputs, environment
    std::string outputs_before = {};       // what ./outputs begins with: moved there from this folder
    bool confined = true;                  // false: no namespaces (still its own process group and cgroup)
};

struct TaskExit {
    bool known = false;  // false: the supervisor was killed too; nobody knows how the command ended
    int exit_code = 0;
    int signal = 0;
    bool out_of_memory = false;
    Usage usage;
};

struct RunningTask {
    TaskRef ref;
    int pid = 0;
    int pidfd = -1;  // readable when the supervisor is gone; owned by the sandbox
};

// One thread. A task's supervisor survives the agent: it writes the exit status into the spool, so that an
// agent started anew can take the task over.
class Sandbox {
 public:
    virtual ~Sandbox() = default;
    // Makes `working_folder` ready (overlay, reflink or copy) and starts the script.
    [[nodiscard]] virtual Result<RunningTask> start(const ConfinedTask& task) = 0;
    [[nodiscard]] virtual Result<void> signal(TaskRef task, int signal_number) = 0;
    // Kills every process of the task; returns when none is left.
    [[nodiscard]] virtual Result<void> kill(TaskRef task) = 0;
    // After pidfd became readable: kills what the command left behind, and tells how it ended.
    [[nodiscard]] virtual Result<TaskExit> collect(TaskRef task) = 0;
    // Tasks found in the spool after an agent restart: those still running get a pidfd, the others -1.
    // Those whose command was never started are left out: they may be started.
    [[nodiscard]] virtual Result<std::vector<RunningTask>> recover(
        const std::vector<ConfinedTask>& known) = 0;
    // Where files written below `working_folder` are seen from outside (the overlay's upper folder, or
    // itself).
    virtual std::string written_files(const ConfinedTask& task) = 0;
    virtual Usage usage(TaskRef task) = 0;
    // Frees mounts, cgroup and uid of an ended task. The spool folder itself is the caller's.
    virtual void release(TaskRef task) = 0;
    // One line: what is on, and what is off and why: "pid and mount namespaces, private /tmp; off: cgroup
    // limits (…)".
    virtual std::string protections() const = 0;
};

}  // namespace lavant::ports
