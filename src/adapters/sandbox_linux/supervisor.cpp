#include "adapters/sandbox_linux/supervisor.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "adapters/sandbox_linux/mounts.h"
#include "adapters/sandbox_linux/state_file.h"
#include "adapters/sandbox_linux/sys.h"
#include "host/processes.h"

namespace lavant::sandbox_linux {
namespace {

constexpr int kStateFd = 3;
constexpr int kGoFd = 4;
constexpr std::size_t kSignalBytes = 8;  // of the kernel's signal sets

std::int64_t micros(const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

std::int64_t monotonic_micros() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

[[noreturn]] void leave(Sys& sys, int code) {
    while (true) sys.call(SYS_exit_group, code);
}

void write_line(Sys& sys, const char* text, int length) {
    if (length > 0 && sys.call(SYS_pwrite64, kStateFd, text, length, kStartRecordBytes) < 0) leave(sys, 126);
}

[[noreturn]] void give_up(Sys& sys, const Failure& failure) {
    std::array<char, kEndRecordBytesMax> line{};
    const int length = std::snprintf(line.data(), line.size(), "failed %d %s%s%s\n", failure.error,
                                     failure.step, failure.path[0] != '\0' ? " " : "", failure.path);
    if (length >= static_cast<int>(line.size())) line[line.size() - 1] = '\n';
    write_line(sys, line.data(), std::min(length, static_cast<int>(line.size())));
    leave(sys, 125);
}

// --- between vfork and exec: memory is shared with the supervisor, so nothing here may allocate ---

struct Starter {
    const Plan* plan = nullptr;
    Failure failure;
};

void set_limit(Sys& sys, int resource, std::int64_t value) {
    rlimit limit{};
    if (value <= 0 || sys.call(SYS_prlimit64, 0, resource, nullptr, &limit) != 0) return;
    const auto wanted = static_cast<rlim_t>(value);
    limit.rlim_max = std::min(limit.rlim_max, wanted);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    sys.call(SYS_prlimit64, 0, resource, &limit, nullptr);
}

Failure drop_powers(Sys& sys, const Plan& plan) {
    if (sys.prctl(PR_SET_NO_NEW_PRIVS, 1) != 0) return {sys.error, "set no_new_privs", ""};
    if (plan.change_user) {
        const auto id = static_cast<long>(plan.user);
        if (sys.call(SYS_setgroups, 0, nullptr) != 0 || sys.call(SYS_setresgid, id, id, id) != 0 ||
            sys.call(SYS_setresuid, id, id, id) != 0)
            return {sys.error, "change to the task's own user", ""};
        return {};
    }
    if (!plan.drop_capabilities) return {};
    // User 0 would get capabilities back at exec: not with these bits locked.
    sys.prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED);
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    if (sys.call(SYS_capset, &header, none.data()) != 0) return {sys.error, "drop capabilities", ""};
    return {};
}

Failure prepare_to_run(Sys& sys, const Plan& plan) {
    if (sys.call(SYS_setsid) < 0) return {sys.error, "start a session", ""};
    if (sys.chdir(plan.working_folder) != 0)
        return {sys.error, "change to working folder", plan.working_folder};
    const rlimit no_core{};
    sys.call(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, nullptr);
    set_limit(sys, RLIMIT_NPROC, plan.processes_max);
    set_limit(sys, RLIMIT_DATA, plan.data_bytes_max);
    if (const Failure failure = drop_powers(sys, plan)) return failure;
    if (!plan.from_launcher) reset_signals();
    const unsigned long none = 0;
    sys.call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kSignalBytes);
    return {};
}

int start_command(void* argument) {
    auto& starter = *static_cast<Starter*>(argument);
    Sys sys;
    starter.failure = prepare_to_run(sys, *starter.plan);
    if (!starter.failure) {
        const Plan& plan = *starter.plan;
        for (const char* const* program = plan.programs; program != nullptr && *program != nullptr; ++program)
            sys.call(SYS_execve, *program, plan.words, plan.environment);
        sys.call(SYS_execve, plan.shell_arguments[0], plan.shell_arguments, plan.environment);
        starter.failure = {sys.error, "execute", plan.shell_arguments[0]};
    }
    leave(sys, 127);
}

// --- the supervisor itself ---

// Only the log (as 1 and 2), the state file and the go pipe survive; nothing of the agent's stays open.
Failure keep_own_files(Sys& sys, const Plan& plan) {
    constexpr int kAbove = 64;
    const int state = sys.fcntl(plan.state_fd, F_DUPFD_CLOEXEC, kAbove);
    const int go = sys.fcntl(plan.go_fd, F_DUPFD_CLOEXEC, kAbove);
    const int log = sys.fcntl(plan.log_fd, F_DUPFD_CLOEXEC, kAbove);
    if (state < 0 || go < 0 || log < 0) return {sys.error, "prepare file descriptors", ""};
    if (!plan.from_launcher) {
        const int nothing = sys.open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing < 0) return {sys.error, "open /dev/null", ""};
        if (nothing != 0) sys.dup3(nothing, 0, 0);
        sys.fcntl(0, F_SETFD, 0);
    }
    sys.dup3(log, 1, 0);
    sys.dup3(log, 2, 0);
    sys.dup3(state, kStateFd, O_CLOEXEC);
    sys.dup3(go, kGoFd, O_CLOEXEC);
    if (sys.call(SYS_close_range, kGoFd + 1, ~0U, 0) != 0) return {sys.error, "close files", ""};
    return {};
}

// True: the agent has recorded this supervisor, so the command must run, even if the agent died since.
bool may_go(Sys& sys, const Plan& plan) {
    char byte = 0;
    while (sys.read(kGoFd, &byte, 1) < 0 && sys.error == EINTR) {
    }
    sys.close(kGoFd);
    std::array<char, kStartRecordBytes> record{};
    const std::size_t length = std::strlen(plan.start_mark);
    return sys.call(SYS_pread64, kStateFd, record.data(), record.size(), 0) >= static_cast<long>(length) &&
           std::memcmp(record.data(), plan.start_mark, length) == 0;
}

constexpr Duration kKillLimit = std::chrono::seconds(20);

void end_everything(Sys& sys, const Plan& plan, pid_t command) {
    if (plan.mounts.view >= 0) {
        sys.kill(-1, SIGKILL);  // Process 1 of the namespace: reaches all but itself.
    } else if (plan.find_descendants) {
        host::kill_descendants(::getpid(), kKillLimit);
    } else {
        sys.kill(-command, SIGKILL);  // What left its process group dies with the cgroup.
    }
}

struct Ended {
    int status = 0;
    std::int64_t cpu_micros = 0;
    std::int64_t memory_peak_bytes = 0;
};

void add_usage(Ended& ended, const rusage& usage) {
    ended.cpu_micros += micros(usage.ru_utime) + micros(usage.ru_stime);
    ended.memory_peak_bytes = std::max<std::int64_t>(ended.memory_peak_bytes, usage.ru_maxrss * 1024);
}

// True when the command itself was among those that ended.
bool reap(Sys& sys, Ended& ended, pid_t command) {
    bool done = false;
    while (true) {
        int status = 0;
        rusage usage{};
        const long pid = sys.call(SYS_wait4, -1, &status, WNOHANG, &usage);
        if (pid <= 0) return done;
        add_usage(ended, usage);
        if (pid == command) {
            ended.status = status;
            done = true;
        }
    }
}

bool has_children(Sys& sys) {
    return sys.call(SYS_waitid, P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT, nullptr) == 0;
}

Ended wait_for(Sys& sys, const Plan& plan, pid_t command) {
    Ended ended;
    const unsigned long all = ~0UL;
    while (!reap(sys, ended, command)) {
        const int number =
            static_cast<int>(sys.call(SYS_rt_sigtimedwait, &all, nullptr, nullptr, kSignalBytes));
        if (number == kEndEverything) end_everything(sys, plan, command);
        if (number > 0 && number != SIGCHLD && number != kEndEverything) sys.kill(-command, number);
    }
    // All that is left behind becomes our child sooner or later: when there is no child, nothing is left.
    while (plan.find_descendants && has_children(sys)) {
        host::kill_descendants(::getpid(), kKillLimit);
        reap(sys, ended, command);
    }
    return ended;
}

void write_end(Sys& sys, const Ended& ended, std::int64_t wall_micros) {
    std::array<char, 160> line{};
    const int code = WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : 0;
    const int number = WIFSIGNALED(ended.status) ? WTERMSIG(ended.status) : 0;
    const int length =
        std::snprintf(line.data(), line.size(), "end %d %d %lld %lld %lld\n", code, number,
                      static_cast<long long>(ended.cpu_micros),
                      static_cast<long long>(ended.memory_peak_bytes), static_cast<long long>(wall_micros));
    write_line(sys, line.data(), length);
}

}  // namespace

// The kernel's sigaction; the C library's version does not let two signals be touched that it keeps for
// itself.
namespace {
struct DefaultAction {
    void* handler = nullptr;
    unsigned long flags = 0;
    void* restorer = nullptr;
    unsigned long mask = 0;
};
}  // namespace

void reset_signals() {
    Sys sys;
    const DefaultAction by_default;
    for (int number = 1; number < _NSIG; ++number)
        if (number != SIGKILL && number != SIGSTOP)
            sys.call(SYS_rt_sigaction, number, &by_default, nullptr, kSignalBytes);
}

void raise_own_oom_score() {
    // An ordinary user's process may write this of itself only while it is dumpable.
    const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    if (dumpable != 1) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(file, "600", 3);
        ::close(file);
    }
    if (dumpable != 1) ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void supervise(const Plan& plan) {
    Sys sys;
    if (!plan.from_launcher) raise_own_oom_score();
    // The agent's secrets may be in this process's memory: the task must not be able to look.
    sys.prctl(PR_SET_DUMPABLE, 0);
    sys.call(SYS_prctl, PR_SET_NAME, "lavant-task", 0, 0, 0);
    if (plan.find_descendants) sys.prctl(PR_SET_CHILD_SUBREAPER, 1);
    sys.call(SYS_umask, 022);
    Failure failure;
    if (plan.mounts.view >= 0) failure = enter_mounts(sys, plan.mounts, plan.working_folder);
    if (!failure && plan.mounts.view < 0 && sys.chdir("/") != 0) failure = {sys.error, "change to", "/"};
    if (const Failure files = keep_own_files(sys, plan); files && !failure) failure = files;
    if (!may_go(sys, plan)) leave(sys, 125);
    if (failure) give_up(sys, failure);

    Starter starter{.plan = &plan, .failure = {}};
    const std::int64_t started = monotonic_micros();
    const pid_t command = ::clone(start_command, plan.command_stack + kPlanStackBytes,
                                  CLONE_VM | CLONE_VFORK | SIGCHLD, &starter);
    if (command < 0) give_up(sys, {EAGAIN, "start a process", ""});
    if (starter.failure) give_up(sys, starter.failure);
    const Ended ended = wait_for(sys, plan, command);
    write_end(sys, ended, monotonic_micros() - started);
    leave(sys, 0);
}

}  // namespace lavant::sandbox_linux
