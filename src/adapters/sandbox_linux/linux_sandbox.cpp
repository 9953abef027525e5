#include "adapters/sandbox_linux/linux_sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "adapters/sandbox_linux/make_plan.h"
#include "adapters/sandbox_linux/supervisor.h"
#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "host/processes.h"

namespace lavant::sandbox_linux {
namespace {

constexpr Duration kPoliteLimit = std::chrono::seconds(2);
constexpr Duration kKillLimit = std::chrono::seconds(30);

std::string name_of_task(TaskRef ref) {
    return std::to_string(ref.job.value) + "." + std::to_string(ref.attempt) + "." +
           std::to_string(ref.index);
}

tl::unexpected<Error> unknown(TaskRef ref) {
    return fail(ErrorCode::NotFound, "task " + name_of_task(ref) + " is not in this sandbox");
}

Instant now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return from_micros(std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000);
}

// No handler of the agent may run in the child before it has its own signal settings.
class SignalsBlocked {
 public:
    SignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
    sigset_t before_{};
};

Result<void> give_file(int file, uid_t owner, const std::string& path) {
    struct stat found {};
    if (::fstat(file, &found) == 0 && found.st_uid == owner && found.st_gid == owner) return {};
    if (::fchown(file, owner, owner) == 0) return {};
    return fail(system_error("give '" + path + "'", errno));
}

void reap(const Fd& pidfd) {
    siginfo_t info{};
    while (::waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED) < 0 && errno == EINTR) {
    }
}

}  // namespace

LinuxSandbox::LinuxSandbox(SandboxSettings settings)
    : settings_(std::move(settings)),
      slots_({.folder = settings_.folder,
              .name = settings_.name.empty() ? "" : settings_.name + "-",
              .slots_max = settings_.tasks_max}) {}

LinuxSandbox::~LinuxSandbox() { slots_.remove_free(); }

Result<ports::RunningTask> LinuxSandbox::start(const ports::ConfinedTask& task) {
    if (tasks_.contains(task.ref))
        return fail(ErrorCode::AlreadyExists, "task " + name_of_task(task.ref) + " was started already");
    LAVANT_TRY(const int number, slots_.take());
    const auto launched = [&]() -> Result<Running> {
        const Slot& slot = slots_.at(number);
        const bool overlay = wants_overlay(task);
        LAVANT_TRY_VOID(prepare_folders(task, slot, overlay));
        const PlanRules rules{.view = view_ ? &*view_ : nullptr,
                              .overlay = overlay,
                              .attach_layers = settings_.attach_layers,
                              .in_user_namespace = in_user_namespace_,
                              .memory_bytes = settings_.memory_bytes,
                              .processes_max = settings_.processes_max};
        LAVANT_TRY(Plan plan, make_plan(task, slot, rules, arenas_[static_cast<std::size_t>(number)]));
        LAVANT_TRY(Running running, launch(task, slot, plan));
        running.overlay = overlay;
        running.used_scratch = confines(task);
        return running;
    };
    auto running = launched();
    if (!running) {
        slots_.give_back(number, true);
        return fail(in("starting task " + name_of_task(task.ref))(std::move(running).error()));
    }
    const ports::RunningTask answer{
        .ref = task.ref, .pid = running->state.supervisor, .pidfd = running->pidfd.get()};
    tasks_.emplace(task.ref, *std::move(running));
    return answer;
}

bool LinuxSandbox::wants_overlay(const ports::ConfinedTask& task) {
    if (!overlay_ || !confines(task) || task.code_folder.empty()) return false;
    if (settings_.copied_code_bytes_max < 0) return true;
    const auto known = small_code_.find(task.code_folder);
    if (known != small_code_.end()) return !known->second;
    constexpr std::size_t kKnownMax = 1000;
    constexpr int kCopiedFilesMax = 32;
    if (small_code_.size() >= kKnownMax) small_code_.clear();
    const bool small = is_small_tree(
        task.code_folder,
        {.files = kCopiedFilesMax, .bytes = static_cast<std::uint64_t>(settings_.copied_code_bytes_max)});
    small_code_[task.code_folder] = small;
    return !small;
}

Result<void> LinuxSandbox::prepare_folders(const ports::ConfinedTask& task, const Slot& slot, bool overlay) {
    const bool confined = confines(task);
    const Owner owner = confined ? slot.owner : std::nullopt;
    std::string written = task.working_folder;
    if (overlay) {
        written = overlay_upper_of(task.folder);
        LAVANT_TRY_VOID(make_folder_for(overlay_work_of(task.folder), std::nullopt));
    }
    if (!task.code_folder.empty() && written == task.working_folder) {
        LAVANT_TRY_VOID(copy_tree(task.code_folder, task.working_folder, owner));
    } else {
        LAVANT_TRY_VOID(make_folder_for(written, owner));
    }
    for (const char* name : {"/outputs", "/logs"}) LAVANT_TRY_VOID(make_folder_for(written + name, owner));
    if (!task.outputs_before.empty())
        LAVANT_TRY_VOID(move_tree(task.outputs_before, written + "/outputs", owner));
    if (!owner) return {};
    for (const ports::Bind& bind : task.binds)
        if (bind.writable || (!slot.identity && lies_in(bind.path, task.folder)))
            LAVANT_TRY_VOID(give_tree(bind.path, *owner));
    return {};
}

Result<LinuxSandbox::Running> LinuxSandbox::launch(const ports::ConfinedTask& task, const Slot& slot,
                                                   Plan& plan) {
    Running running{.folder = task.folder};
    LAVANT_TRY(running.state_file, open_file(state_path(task.folder), O_RDWR | O_CREAT));
    LAVANT_TRY_VOID(lock_state(running.state_file));
    LAVANT_TRY(const Fd log_file, open_file(task.log_file, O_WRONLY | O_CREAT | O_APPEND));
    if (plan.change_user) LAVANT_TRY_VOID(give_file(log_file.get(), plan.user, task.log_file));
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("make a pipe", errno));
    const Fd go_reader(ends[0]);
    Fd go_writer(ends[1]);
    plan.state_fd = running.state_file.get();
    plan.log_fd = log_file.get();
    plan.go_fd = go_reader.get();

    running.state.start = name_start(task.ref, ++starts_);
    running.state.boot = boot_;
    running.state.slot = slot.number;
    running.state.oom_kills = node_.oom_kills();
    running.state.cpu_micros = slot.cpu_micros;
    running.started = now();
    LAVANT_TRY(const pid_t pid, fork_for(plan, slot, running.state.start));
    // It is our child and nobody has waited for it: the pid cannot mean another process.
    running.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    CHECK(running.pidfd, "a child that was not waited for has a pidfd");
    running.state.supervisor = pid;
    const std::string record = render_started(running.state);
    if (::pwrite(running.state_file.get(), record.data(), record.size(), 0) !=
        static_cast<ssize_t>(record.size())) {
        Error error = system_error("write '" + state_path(task.folder) + "'", errno);
        host::send_signal(running.pidfd.get(), SIGKILL);
        reap(running.pidfd);
        return fail(std::move(error));
    }
    go_writer.reset();
    return running;
}

Result<pid_t> LinuxSandbox::fork_for(Plan& plan, const Slot& slot, std::string& start) {
    const ForkPlace place{.namespaces = plan.mounts.view >= 0,
                          .cgroup = slot.leaf ? slot.leaf->folder_fd() : -1};
    Arena& arena = arenas_[static_cast<std::size_t>(slot.number)];
    plan.start_mark = arena.text({start_mark(start)});
    LAVANT_TRY(const pid_t launched, launcher_.launch(plan, place, arena));
    if (launched > 0) return launched;
    // A launcher that died may have made a supervisor before: under the old name, which is never recorded.
    start = start.substr(0, start.find(':') + 1) + "again." + start.substr(start.find(':') + 1);
    plan.start_mark = arena.text({start_mark(start)});
    const SignalsBlocked blocked;
    const pid_t pid = fork_supervisor(plan, place);
    if (pid < 0) return fail(system_error("start the task's supervisor", errno));
    return pid;
}

LinuxSandbox::Running* LinuxSandbox::find(TaskRef ref) {
    const auto found = tasks_.find(ref);
    return found == tasks_.end() ? nullptr : &found->second;
}

Result<void> LinuxSandbox::signal(TaskRef task, int signal_number) {
    const Running* running = find(task);
    if (running == nullptr) return unknown(task);
    if (signal_number == SIGKILL) return kill(task);
    if (signal_number == SIGSTOP || signal_number == kEndEverything)
        return fail(ErrorCode::InvalidArgument,
                    "signal " + std::to_string(signal_number) + " cannot be forwarded");
    if (running->pidfd) host::send_signal(running->pidfd.get(), signal_number);
    return {};
}

Result<void> LinuxSandbox::kill(TaskRef task) {
    const Running* running = find(task);
    if (running == nullptr) return unknown(task);
    if (running->pidfd) {
        const int pidfd = running->pidfd.get();
        // Asked first, the supervisor can still write down what the task used.
        host::send_signal(pidfd, kEndEverything);
        if (!host::wait_until_gone(pidfd, kPoliteLimit)) {
            host::send_signal(pidfd, SIGKILL);
            if (!host::wait_until_gone(pidfd, kKillLimit))
                return fail(ErrorCode::DeadlineExceeded, "task " + name_of_task(task) + " does not die");
        }
    }
    return end_left_behind(*running);
}

Result<void> LinuxSandbox::end_left_behind(const Running& task) {
    Slot& slot = slots_.at(task.state.slot);
    if (slot.leaf) {
        if (slot.leaf->populated() && !slot.leaf->kill_all(kKillLimit))
            return fail(ErrorCode::DeadlineExceeded,
                        "processes in cgroup '" + slot.leaf->place().unified + "' do not die");
        return {};
    }
    if (view_) return {};
    const auto state = read_state(task.state_file);
    const auto parsed = state ? parse_state(*state) : std::nullopt;
    if (parsed && parsed->end) return {};
    // The supervisor was killed from outside: what it started is known by its environment only.
    constexpr int kRoundsMax = 1000;
    for (int round = 0; round < kRoundsMax; ++round) {
        const auto left = host::processes_with_environment(marker_of(task.folder));
        if (left.empty()) return {};
        for (const pid_t pid : left) ::kill(pid, SIGKILL);
        ::usleep(1000);
    }
    return fail(ErrorCode::DeadlineExceeded, "processes of a task in '" + task.folder + "' do not die");
}

Result<ports::TaskExit> LinuxSandbox::collect(TaskRef ref) {
    Running* task = find(ref);
    if (task == nullptr) return unknown(ref);
    if (task->pidfd) {
        if (!host::wait_until_gone(task->pidfd.get(), Duration{0}))
            return fail(ErrorCode::Conflict,
                        "task " + name_of_task(ref) + " is still running; kill it first");
        reap(task->pidfd);
        task->pidfd.reset();
    }
    LAVANT_TRY_VOID(end_left_behind(*task));
    LAVANT_TRY(const std::string text, read_state(task->state_file));
    const auto state = parse_state(text);
    if (!state) return fail(ErrorCode::Internal, "'" + state_path(task->folder) + "' is damaged");
    if (!state->failure.empty())
        return fail(ErrorCode::Unavailable,
                    "task " + name_of_task(ref) + " could not be confined: " + state->failure);
    ports::TaskExit exit = state->end.value_or(ports::TaskExit{});
    if (!exit.known) exit.usage = usage(ref);
    slots_.at(task->state.slot).cpu_micros += exit.usage.cpu_micros;
    const bool failed = !exit.known || exit.signal != 0 || exit.exit_code != 0;
    exit.out_of_memory = failed && node_.oom_kills() > task->state.oom_kills;
    return exit;
}

// While the lock is held its holder lives, so that its pid is nobody else's.
Fd LinuxSandbox::find_supervisor(const Running& task) const {
    if (task.state.boot != boot_ || !is_locked(task.state_file)) return {};
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, task.state.supervisor, 0)));
    return is_locked(task.state_file) ? std::move(pidfd) : Fd();
}

Result<std::vector<ports::RunningTask>> LinuxSandbox::recover(const std::vector<ports::ConfinedTask>& known) {
    std::vector<std::pair<TaskRef, Running>> candidates;
    for (const ports::ConfinedTask& task : known) {
        auto file = open_file(state_path(task.folder), O_RDWR);
        const auto text = file ? read_state(*file) : Result<std::string>(fail(file.error()));
        auto state = text ? parse_state(*text) : std::nullopt;
        // What an earlier task left in this folder says nothing of this one.
        if (!state || !is_start_of(state->start, task.ref) || tasks_.contains(task.ref)) continue;
        Running running{.folder = task.folder,
                        .state = *std::move(state),
                        .state_file = *std::move(file),
                        .started = now()};
        running.pidfd = find_supervisor(running);
        candidates.emplace_back(task.ref, std::move(running));
    }
    // Those that live come first: one that ended must not take another along that was in its slot later.
    std::ranges::stable_partition(candidates,
                                  [](const auto& one) { return static_cast<bool>(one.second.pidfd); });
    std::vector<ports::RunningTask> found;
    for (auto& [ref, running] : candidates) {
        if (slots_.is_taken(running.state.slot)) continue;
        LAVANT_TRY_VOID(slots_.take_again(running.state.slot));
        found.push_back(
            {.ref = ref, .pid = running.pidfd ? running.state.supervisor : 0, .pidfd = running.pidfd.get()});
        tasks_.emplace(ref, std::move(running));
    }
    return found;
}

std::string LinuxSandbox::written_files(const ports::ConfinedTask& task) {
    std::string upper = overlay_upper_of(task.folder);
    return exists(upper) ? upper : task.working_folder;
}

Usage LinuxSandbox::usage(TaskRef ref) {
    const Running* task = find(ref);
    if (task == nullptr) return {};
    const Slot& slot = slots_.at(task->state.slot);
    Usage usage{.wall_micros = (now() - task->started).count()};
    if (slot.leaf) {
        usage.cpu_micros = slot.leaf->cpu_micros() - task->state.cpu_micros;
        usage.memory_peak_bytes = slot.leaf->memory_peak_bytes();
    }
    return usage;
}

void LinuxSandbox::release(TaskRef ref) {
    const Running* task = find(ref);
    if (task == nullptr) return;
    // The kernel leaves folders there that an ordinary user cannot list, so that its spool could not be
    // removed.
    if (task->overlay) static_cast<void>(remove_tree(overlay_work_of(task->folder)));
    slots_.give_back(task->state.slot, task->used_scratch);
    tasks_.erase(ref);
}

}  // namespace lavant::sandbox_linux
