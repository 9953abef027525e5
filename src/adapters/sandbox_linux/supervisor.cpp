#include "adapters/sandbox_linux/supervisor.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "adapters/sandbox_linux/mounts.h"
#include "host/processes.h"

namespace lavant::sandbox_linux {
namespace {

constexpr int kStateFd = 3;
constexpr int kGoFd = 4;
constexpr std::size_t kStackBytes = 64U << 10;

std::int64_t micros(const timeval& time) { return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

std::int64_t monotonic_micros() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

void write_line(const char* text, int length) {
    if (length > 0 && ::write(kStateFd, text, static_cast<std::size_t>(length)) < 0) ::_exit(126);
}

[[noreturn]] void give_up(const Failure& failure) {
    std::array<char, 4600> line{};
    const int length = std::snprintf(line.data(), line.size(), "failed %d %s%s%s\n", failure.error,
                                     failure.step, failure.path[0] != '\0' ? " " : "", failure.path);
    write_line(line.data(), std::min(length, static_cast<int>(line.size()) - 1));
    ::_exit(125);
}

// --- between vfork and exec: memory is shared with the supervisor, so nothing here may allocate ---

struct Starter {
    const Plan* plan = nullptr;
    Failure failure;
};

void set_limit(__rlimit_resource resource, std::int64_t value) {
    rlimit limit{};
    if (value <= 0 || ::getrlimit(resource, &limit) != 0) return;
    const auto wanted = static_cast<rlim_t>(value);
    limit.rlim_max = std::min(limit.rlim_max, wanted);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    ::setrlimit(resource, &limit);
}

// The raw calls: the C library's versions would try to change other threads as well.
Failure drop_powers(const Plan& plan) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {errno, "set no_new_privs", ""};
    if (plan.change_user) {
        const auto id = static_cast<long>(plan.user);
        if (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setresgid, id, id, id) != 0 ||
            ::syscall(SYS_setresuid, id, id, id) != 0)
            return {errno, "change to the task's own user", ""};
        return {};
    }
    if (!plan.drop_capabilities) return {};
    // User 0 would get capabilities back at exec: not with these bits locked.
    ::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED, 0, 0, 0);
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    if (::syscall(SYS_capset, &header, none.data()) != 0) return {errno, "drop capabilities", ""};
    return {};
}

Failure prepare_to_run(const Plan& plan) {
    if (::setsid() < 0) return {errno, "start a session", ""};
    if (::chdir(plan.working_folder) != 0) return {errno, "change to working folder", plan.working_folder};
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NPROC, plan.processes_max);
    set_limit(RLIMIT_DATA, plan.data_bytes_max);
    if (const Failure failure = drop_powers(plan)) return failure;
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    for (const int number : {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP,
                             SIGTTIN, SIGTTOU, SIGALRM, SIGXFSZ})
        ::sigaction(number, &action, nullptr);
    // The two that the C library keeps for itself and does not let sigaction touch: whoever started us may
    // ignore them.
    struct {
        void* handler = nullptr;
        unsigned long flags = 0;
        void* restorer = nullptr;
        unsigned long mask = 0;
    } const by_default;
    for (const int number : {32, 33})
        ::syscall(SYS_rt_sigaction, number, &by_default, nullptr, sizeof by_default.mask);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    return {};
}

int start_command(void* argument) {
    auto& starter = *static_cast<Starter*>(argument);
    starter.failure = prepare_to_run(*starter.plan);
    if (!starter.failure) {
        const Plan& plan = *starter.plan;
        for (const char* const* program = plan.programs; program != nullptr && *program != nullptr; ++program)
            ::execve(*program, plan.words, plan.environment);
        ::execve(plan.shell_arguments[0], plan.shell_arguments, plan.environment);
        starter.failure = {errno, "execute", plan.shell_arguments[0]};
    }
    ::_exit(127);
}

// --- the supervisor itself ---

// Only the log (as 1 and 2), the state file and the go pipe survive; nothing of the agent's stays open.
Failure keep_own_files(const Plan& plan) {
    constexpr int kAbove = 64;
    const int state = ::fcntl(plan.state_fd, F_DUPFD_CLOEXEC, kAbove);
    const int go = ::fcntl(plan.go_fd, F_DUPFD_CLOEXEC, kAbove);
    const int log = ::fcntl(plan.log_fd, F_DUPFD_CLOEXEC, kAbove);
    if (state < 0 || go < 0 || log < 0) return {errno, "prepare file descriptors", ""};
    if (!plan.from_launcher) {
        const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing < 0) return {errno, "open /dev/null", ""};
        ::dup2(nothing, 0);
        ::fcntl(0, F_SETFD, 0);
    }
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::dup3(state, kStateFd, O_CLOEXEC);
    ::dup3(go, kGoFd, O_CLOEXEC);
    if (::syscall(SYS_close_range, kGoFd + 1, ~0U, 0) != 0) return {errno, "close files", ""};
    return {};
}

// True: the agent has recorded this supervisor, so the command must run, even if the agent died since.
bool may_go() {
    char byte = 0;
    while (::read(kGoFd, &byte, 1) < 0 && errno == EINTR) {
    }
    ::close(kGoFd);
    struct stat state {};
    return ::fstat(kStateFd, &state) == 0 && state.st_size > 0;
}

constexpr Duration kKillLimit = std::chrono::seconds(20);

void end_everything(const Plan& plan, pid_t command) {
    if (plan.mounts.view >= 0) {
        ::kill(-1, SIGKILL);  // Process 1 of the namespace: reaches all but itself.
    } else if (plan.find_descendants) {
        host::kill_descendants(::getpid(), kKillLimit);
    } else {
        ::kill(-command, SIGKILL);  // What left its process group dies with the cgroup.
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
bool reap(Ended& ended, pid_t command) {
    bool done = false;
    while (true) {
        int status = 0;
        rusage usage{};
        const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
        if (pid <= 0) return done;
        add_usage(ended, usage);
        if (pid == command) {
            ended.status = status;
            done = true;
        }
    }
}

bool has_children() { return ::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0; }

Ended wait_for(const Plan& plan, pid_t command) {
    Ended ended;
    sigset_t all;
    ::sigfillset(&all);
    while (!reap(ended, command)) {
        const int number = ::sigwaitinfo(&all, nullptr);
        if (number == kEndEverything) end_everything(plan, command);
        if (number > 0 && number != SIGCHLD && number != kEndEverything) ::kill(-command, number);
    }
    // All that is left behind becomes our child sooner or later: when there is no child, nothing is left.
    while (plan.find_descendants && has_children()) {
        host::kill_descendants(::getpid(), kKillLimit);
        reap(ended, command);
    }
    return ended;
}

void write_end(const Ended& ended, std::int64_t wall_micros) {
    std::array<char, 160> line{};
    const int code = WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : 0;
    const int number = WIFSIGNALED(ended.status) ? WTERMSIG(ended.status) : 0;
    const int length =
        std::snprintf(line.data(), line.size(), "end %d %d %lld %lld %lld\n", code, number,
                      static_cast<long long>(ended.cpu_micros),
                      static_cast<long long>(ended.memory_peak_bytes), static_cast<long long>(wall_micros));
    write_line(line.data(), length);
}

}  // namespace

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
    if (!plan.from_launcher) raise_own_oom_score();
    // The agent's secrets are in this process's memory: the task must not be able to look.
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::prctl(PR_SET_NAME, "lavant-task", 0, 0, 0);
    if (plan.find_descendants) ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ::umask(022);
    Failure failure;
    if (plan.mounts.view >= 0) failure = enter_mounts(plan.mounts, plan.working_folder);
    if (!failure && plan.mounts.view < 0 && ::chdir("/") != 0) failure = {errno, "change to", "/"};
    if (const Failure files = keep_own_files(plan); files && !failure) failure = files;
    if (!may_go()) ::_exit(125);
    if (failure) give_up(failure);

    Starter starter{.plan = &plan, .failure = {}};
    alignas(16) std::array<char, kStackBytes> stack;
    const std::int64_t started = monotonic_micros();
    const pid_t command =
        ::clone(start_command, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &starter);
    if (command < 0) give_up({errno, "start a process", ""});
    if (starter.failure) give_up(starter.failure);
    const Ended ended = wait_for(plan, command);
    write_end(ended, monotonic_micros() - started);
    ::_exit(0);
}

}  // namespace lavant::sandbox_linux
