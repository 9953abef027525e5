#include "adapters/host_checks/programs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files.h"
#include "base/text.h"

extern char** environ;

namespace lavant::host_checks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kDyingLimit = std::chrono::milliseconds(500);
constexpr std::size_t kOutputBytesMax = 16U << 10;

struct Running {
    pid_t pid = -1;
    Fd output;  // empty once it is read to its end
    std::string text;
};

Running start(const ProgramAsk& ask) {
    Running running;
    std::array<int, 2> ends{};
    if (ask.path.empty() || ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return running;
    running.output = Fd(ends[0]);
    const Fd theirs(ends[1]);
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> words{ask.path};
    words.insert(words.end(), ask.arguments.begin(), ask.arguments.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawn(&running.pid, ask.path.c_str(), &actions, &attributes, arguments.data(), environ) != 0)
        running = {};
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return running;
}

void read_some(Running& running) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(running.output.get(), bytes.data(), bytes.size());
    if (got > 0 && running.text.size() < kOutputBytesMax)
        running.text.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) running.output.reset();
}

void read_all(std::vector<Running>& all, Clock::time_point end) {
    while (true) {
        std::vector<::pollfd> waiting;
        for (const Running& one : all) waiting.push_back({one.output.get(), POLLIN, 0});
        if (std::ranges::none_of(all, [](const Running& one) { return static_cast<bool>(one.output); }))
            return;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) return;
        if (::poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (waiting[i].revents != 0 && all[i].output) read_some(all[i]);
    }
}

// A program that closed its output ends at once, or is killed too.
ProgramAnswer finish(Running& running, Clock::time_point end) {
    ProgramAnswer answer;
    if (running.pid <= 0) return answer;
    answer.ran = true;
    answer.output = std::string(trim(running.text));
    int status = 0;
    pid_t ended = 0;
    while (!running.output && (ended = ::waitpid(running.pid, &status, WNOHANG)) == 0 && Clock::now() < end)
        ::poll(nullptr, 0, 5);
    if (ended == 0) {
        answer.in_time = false;
        ::kill(-running.pid, SIGKILL);
        // One that hangs in the kernel, as with a broken driver, does not even die: it is left to init.
        const Clock::time_point patience = Clock::now() + kDyingLimit;
        while (::waitpid(running.pid, &status, WNOHANG) == 0 && Clock::now() < patience)
            ::poll(nullptr, 0, 5);
    }
    answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return answer;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& path_variable) {
    for (const std::string_view folder : split(path_variable, ':')) {
        if (!folder.starts_with('/')) continue;
        std::string path = std::string(folder) + "/" + name;
        struct ::stat about {};
        if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(path.c_str(), X_OK) == 0)
            return path;
    }
    return "";
}

std::vector<ProgramAnswer> run_programs(const std::vector<ProgramAsk>& asks,
                                        std::chrono::milliseconds limit) {
    const Clock::time_point end = Clock::now() + limit;
    std::vector<Running> all;
    for (const ProgramAsk& ask : asks) all.push_back(start(ask));
    read_all(all, end);
    std::vector<ProgramAnswer> answers;
    for (Running& one : all) answers.push_back(finish(one, end));
    return answers;
}

}  // namespace lavant::host_checks
