#include "adapters/nodes_local/agent_process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/files.h"

namespace lavant::nodes_local {
namespace {

struct Pipe {
    Fd reader, writer;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("make a pipe", errno));
    return Pipe{.reader = Fd(ends[0]), .writer = Fd(ends[1])};
}

// What the child needs, made before the fork: other threads may hold any lock at that moment.
struct Prepared {
    std::vector<char*> arguments, environment;
    const char* folder = "";
    int log = -1;
    int announce = -1;   // the child's pid goes here; later its errno, if it cannot execute
    int go = -1;         // a byte comes when the process is recorded
    int go_writer = -1;  // our copy must be closed in the child, or the pipe never ends
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

void reset_signals() {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) ::sigaction(number, &action, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const Prepared& prepared) {
    ::close(prepared.go_writer);
    const pid_t own = ::getpid();
    if (::write(prepared.announce, &own, sizeof own) != sizeof own) ::_exit(1);
    char byte = 0;
    ssize_t count = 0;
    while ((count = ::read(prepared.go, &byte, 1)) < 0 && errno == EINTR) {
    }
    if (count != 1) ::_exit(1);
    reset_signals();
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, 0);
    ::dup2(prepared.log, 1);
    ::dup2(prepared.log, 2);
    ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    if (::chdir(prepared.folder) == 0)
        ::execve(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t told = ::write(prepared.announce, &error, sizeof error);
    ::_exit(127);
}

std::optional<int> read_number(const Fd& reader) {
    int number = 0;
    ssize_t count = 0;
    while ((count = ::read(reader.get(), &number, sizeof number)) < 0 && errno == EINTR) {
    }
    if (count != sizeof number) return std::nullopt;
    return number;
}

}  // namespace

Result<host::ProcessMark> start_detached(
    const DetachedCommand& command, const std::function<Result<void>(const host::ProcessMark&)>& record) {
    LAVANT_TRY(const Fd log, open_file(command.log_file, O_WRONLY | O_CREAT | O_APPEND));
    LAVANT_TRY(Pipe announce, make_pipe());
    LAVANT_TRY(Pipe go, make_pipe());
    const Prepared prepared{.arguments = pointers(command.arguments),
                            .environment = pointers(command.environment),
                            .folder = command.folder.c_str(),
                            .log = log.get(),
                            .announce = announce.writer.get(),
                            .go = go.reader.get(),
                            .go_writer = go.writer.get()};
    const pid_t between = ::fork();
    if (between < 0) return fail(system_error("start a process", errno));
    if (between == 0) {
        ::setsid();
        const pid_t child = ::fork();
        if (child == 0) run_child(prepared);
        ::_exit(child > 0 ? 0 : 1);
    }
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
    }
    announce.writer.reset();
    const auto pid = read_number(announce.reader);
    const auto mark = pid ? host::mark_of(*pid) : std::nullopt;
    if (!mark)
        return fail(ErrorCode::Unavailable,
                    "cannot start '" + command.arguments[0] + "': no process could be made");
    LAVANT_TRY_VOID(record(*mark));
    LAVANT_TRY_VOID(write_all(go.writer.get(), "g"));
    // Closes without a word when the program runs.
    if (const auto error = read_number(announce.reader)) {
        if (const auto ending = host::open_process(*mark))
            host::wait_until_gone(ending->get(), std::chrono::seconds(10));
        return fail(system_error("execute '" + command.arguments[0] + "'", *error));
    }
    return *mark;
}

}  // namespace lavant::nodes_local
