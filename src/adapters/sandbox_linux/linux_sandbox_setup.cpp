// How a sandbox finds out what this machine and user allow.

#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "adapters/sandbox_linux/linux_sandbox.h"
#include "base/text.h"
#include "host/processes.h"

namespace lavant::sandbox_linux {
namespace {

// As root only: whether this process may become that user (in a container with few users it may not).
bool may_change_user(uid_t user) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::setgid(user) == 0 && ::setuid(user) == 0 ? 0 : 1);
    int status = 1;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

}  // namespace

Result<std::unique_ptr<LinuxSandbox>> LinuxSandbox::make(SandboxSettings settings) {
    LAVANT_TRY_VOID(make_directories(settings.folder));
    std::unique_ptr<LinuxSandbox> sandbox(new LinuxSandbox(std::move(settings)));
    LAVANT_TRY(const std::string boot, read_file("/proc/sys/kernel/random/boot_id", 256));
    sandbox->boot_ = std::string(trim(boot)).substr(0, 8);
    sandbox->make_arenas();
    sandbox->set_up_cgroups();
    sandbox->set_up_namespaces();
    sandbox->check_confinement();
    sandbox->start_launcher();
    return sandbox;
}

void LinuxSandbox::set_up_cgroups() {
    if (!settings_.allow_cgroups) {
        cgroups_off_ = "switched off";
        return;
    }
    const host::CgroupPlace own = host::own_cgroup_place();
    auto tried = host::Cgroup::make(own, slots_.settings().name + "task-0", {});
    if (!tried) {
        cgroups_off_ = tried.error().message;
        return;
    }
    static_cast<void>(
        tried->remove());  // Refused where a task of an earlier agent is in it, as it should be.
    node_ = host::Cgroup::at(own);
    slots_.settings().parent = own;
}

void LinuxSandbox::set_up_namespaces() {
    if (!settings_.allow_namespaces) {
        namespaces_off_ = "switched off";
        return;
    }
    auto view = make_system_view();
    if (!view) {
        if (auto possible = try_user_namespace(); !possible) {
            namespaces_off_ = possible.error().message;
            return;
        }
        if (auto entered = enter_user_namespace(); !entered) {
            namespaces_off_ = entered.error().message;
            return;
        }
        view = make_system_view();
        if (!view) {
            namespaces_off_ = view.error().message;
            return;
        }
    }
    view_ = *std::move(view);
    in_user_namespace_ = in_made_user_namespace();
    slots_.settings().scratch_folders = true;
    set_up_users();
}

void LinuxSandbox::set_up_users() {
    if (::geteuid() != 0) {
        users_off_ = "tasks run as the agent's user";
    } else if (!may_change_user(settings_.first_user)) {
        users_off_ = "user " + std::to_string(settings_.first_user) + " is not available here";
    } else {
        slots_.settings().first_user = settings_.first_user;
        slots_.settings().identities = static_cast<bool>(make_identity(settings_.first_user));
    }
    overlay_ = settings_.allow_overlay;
    if (!overlay_) overlay_off_ = "switched off";
    if (overlay_ && slots_.settings().first_user && !slots_.settings().identities) {
        overlay_ = false;
        overlay_off_ = "no idmapped mounts";
    }
}

// Nothing tells better whether confinement works than a confined task. It has a slot apart: the others may
// hold tasks of an agent before us.
Result<void> LinuxSandbox::try_task(bool with_overlay) {
    SlotSettings apart = slots_.settings();
    apart.folder += "/trial";
    apart.name += "trial-";
    Slots others = std::exchange(slots_, Slots(std::move(apart)));
    const std::int64_t copied = std::exchange(settings_.copied_code_bytes_max, -1);
    auto tried = run_trial(with_overlay);
    settings_.copied_code_bytes_max = copied;
    slots_.remove_free();
    slots_ = std::move(others);
    return tried;
}

Result<void> LinuxSandbox::run_trial(bool with_overlay) {
    const std::string folder = settings_.folder + "/trial/task";
    LAVANT_TRY_VOID(remove_tree(settings_.folder + "/trial"));
    LAVANT_TRY_VOID(make_directories(folder));
    LAVANT_TRY_VOID(make_directories(folder + "/code"));
    LAVANT_TRY_VOID(make_directories(folder + "/input"));
    ports::ConfinedTask task{.ref = {.job = JobId{-1}},
                             .folder = folder,
                             .script = "exit 0",
                             .environment = {},
                             .code_folder = with_overlay ? folder + "/code" : "",
                             .working_folder = folder + "/wd",
                             .log_file = folder + "/log",
                             .binds = {{.path = folder + "/input", .writable = false}}};
    LAVANT_TRY(const ports::RunningTask running, start(task));
    constexpr Duration kTrialLimit = std::chrono::seconds(20);
    if (!host::wait_until_gone(running.pidfd, kTrialLimit)) static_cast<void>(kill(task.ref));
    const auto ended = collect(task.ref);
    release(task.ref);
    static_cast<void>(remove_tree(settings_.folder + "/trial"));
    if (!ended) return fail(ended.error());
    if (ended->known && ended->exit_code == 0 && ended->signal == 0) return {};
    return fail(ErrorCode::Unavailable, "a trial task ended with exit code " +
                                            std::to_string(ended->exit_code) + " and signal " +
                                            std::to_string(ended->signal));
}

void LinuxSandbox::check_confinement() {
    if (!view_) return;
    if (overlay_) {
        auto tried = try_task(true);
        if (!tried && !std::exchange(settings_.attach_layers, true)) tried = try_task(true);
        if (tried) return;
        overlay_ = false;
        overlay_off_ = tried.error().message;
    }
    auto tried = try_task(false);
    if (!tried && slots_.settings().identities) {
        // Without idmapped mounts inputs change owner instead.
        slots_.settings().identities = false;
        tried = try_task(false);
    }
    if (tried) return;
    namespaces_off_ = tried.error().message;
    view_.reset();
    slots_.settings().first_user.reset();
}

void LinuxSandbox::make_arenas() {
    constexpr std::size_t kEachBytes = 256U << 10;
    const bool shared = shared_.make(static_cast<std::size_t>(settings_.tasks_max) * kEachBytes);
    for (int i = 0; i < settings_.tasks_max; ++i) {
        if (shared) {
            arenas_.emplace_back(shared_.begin() + static_cast<std::size_t>(i) * kEachBytes, kEachBytes);
        } else {
            arenas_.emplace_back();
        }
    }
}

void LinuxSandbox::start_launcher() {
    launcher_.start();
    if (launcher_.running() && !try_task(false)) launcher_.stop();
}

std::string LinuxSandbox::protections() const {
    std::string on;
    std::string off;
    const auto tell = [&](const std::string& what, const std::string& why_not) {
        std::string& list = why_not.empty() ? on : off;
        if (!list.empty()) list += why_not.empty() ? ", " : "; ";
        list += what;
        if (!why_not.empty()) list += " (" + why_not + ")";
    };
    tell(in_user_namespace_ ? "pid, mount, ipc and user namespaces" : "pid, mount and ipc namespaces",
         namespaces_off_);
    if (namespaces_off_.empty()) {
        tell("read-only system", "");
        tell("private /tmp", "");
        tell("a user per task", users_off_);
        tell("overlay working folder", overlay_off_);
    }
    tell("cgroup tracking", cgroups_off_);
    if (!cgroups_off_.empty() && !namespaces_off_.empty()) tell("process groups", "");
    return on + (off.empty() ? "" : (on.empty() ? "" : "; ") + std::string("off: ") + off);
}

}  // namespace lavant::sandbox_linux
