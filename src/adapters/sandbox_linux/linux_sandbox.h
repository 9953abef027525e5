#pragma once
// ports::Sandbox with namespaces and cgroups, as root or as an ordinary user, falling back step by step to
// process groups; protections() tells which steps hold. Not for containers of images: see the environments.
// May put the calling process into a user namespace of its own (an ordinary user's agent): make it early,
// while the process has one thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/sandbox_linux/arena.h"
#include "adapters/sandbox_linux/launcher.h"
#include "adapters/sandbox_linux/plan.h"
#include "adapters/sandbox_linux/slots.h"
#include "adapters/sandbox_linux/state_file.h"
#include "adapters/sandbox_linux/system_view.h"
#include "ports/sandbox.h"

namespace lavant::sandbox_linux {

struct SandboxSettings {
    std::string folder;  // the sandbox's own, on the file system of the tasks' spool; made if missing
    std::string name;    // starts the names of its cgroups, for agents that share one cgroup
    uid_t first_user =
        200'000;  // as root: task n runs as first_user + n; distinct for each node of a machine
    int tasks_max = 64;
    bool allow_namespaces = true;
    bool allow_cgroups = true;
    bool allow_overlay = true;
    bool attach_layers = false;  // of overlays; found out where the kernel wants it
    std::int64_t copied_code_bytes_max =
        256 << 10;                  // smaller code is copied, which costs less than an overlay; -1: never
    std::int64_t memory_bytes = 0;  // limits of each process, only where no cgroup limits the node
    std::int64_t processes_max = 0;
};

class LinuxSandbox final : public ports::Sandbox {
 public:
    [[nodiscard]] static Result<std::unique_ptr<LinuxSandbox>> make(SandboxSettings settings);
    ~LinuxSandbox() override;
    LinuxSandbox(const LinuxSandbox&) = delete;
    LinuxSandbox& operator=(const LinuxSandbox&) = delete;

    [[nodiscard]] Result<ports::RunningTask> start(const ports::ConfinedTask& task) override;
    [[nodiscard]] Result<void> signal(TaskRef task, int signal_number) override;
    [[nodiscard]] Result<void> kill(TaskRef task) override;
    [[nodiscard]] Result<ports::TaskExit> collect(TaskRef task) override;
    [[nodiscard]] Result<std::vector<ports::RunningTask>> recover(
        const std::vector<ports::ConfinedTask>& known) override;
    std::string written_files(const ports::ConfinedTask& task) override;
    Usage usage(TaskRef task) override;
    void release(TaskRef task) override;
    std::string protections() const override;

 private:
    struct Running {
        std::string folder;
        TaskState state;
        Fd state_file;
        Fd pidfd;  // empty: it ended before we came
        Instant started{};
        bool overlay = true;
        bool used_scratch = true;
    };

    explicit LinuxSandbox(SandboxSettings settings);
    void set_up_cgroups();
    void set_up_namespaces();
    void set_up_users();
    [[nodiscard]] Result<void> try_task(bool with_overlay);
    [[nodiscard]] Result<void> run_trial(bool with_overlay);
    void check_confinement();
    void start_launcher();

    bool wants_overlay(const ports::ConfinedTask& task);
    bool confines(const ports::ConfinedTask& task) const { return task.confined && view_.has_value(); }
    [[nodiscard]] Result<void> prepare_folders(const ports::ConfinedTask& task, const Slot& slot,
                                               bool overlay);
    [[nodiscard]] Result<pid_t> fork_for(Plan& plan, const Slot& slot, std::string& start);
    void make_arenas();
    [[nodiscard]] Result<Running> launch(const ports::ConfinedTask& task, const Slot& slot, Plan& plan);
    [[nodiscard]] Result<void> end_left_behind(const Running& task);
    Fd find_supervisor(const Running& task) const;
    Running* find(TaskRef ref);

    SandboxSettings settings_;
    std::string boot_;
    host::Cgroup node_;  // the cgroup the agent is in: its out-of-memory count is the node's
    Slots slots_;
    std::optional<SystemView> view_;
    bool in_user_namespace_ = false;
    bool overlay_ = false;
    std::string cgroups_off_, namespaces_off_, users_off_, overlay_off_;  // why; empty: on
    std::map<std::string, bool> small_code_;                              // by folder; snapshots never change
    SharedBlock shared_;
    std::vector<Arena> arenas_;  // one for each slot
    Launcher launcher_;
    std::map<TaskRef, Running> tasks_;
    std::uint64_t starts_ = 0;
};

}  // namespace lavant::sandbox_linux
