#include "main/throwaway.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/files.h"
#include "cli/connect.h"
#include "cli/local_server.h"
#include "main/purge.h"

extern char** environ;

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;
using cli::ServerChoice;

Outcome<std::string> make_folder(const Context& context) {
    const std::string parent =
        context.variable("TMPDIR").starts_with("/") ? context.variable("TMPDIR") : "/tmp";
    std::string pattern = parent + "/lavant-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr)
        return fail(system_error("make a folder in '" + parent + "'", errno));
    return pattern;
}

constexpr int kSignalBase = 128;
volatile std::sig_atomic_t g_signal = 0;  // the last one that asked us to end

std::string name_in(const std::string& line) { return line.substr(0, line.find('=')); }

}  // namespace

// Whoever ends us early must still leave nothing behind: a signal ends what we wait for, then all is removed.
void Throwaway::take_signals() {
    struct ::sigaction action {};
    action.sa_handler = [](int signal) { g_signal = signal; };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct ::sigaction before {};
        // One that was ignored when we came (nohup) stays ignored.
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        ::sigaction(signal, &action, nullptr);
    }
}

bool Throwaway::was_interrupted() { return g_signal != 0; }

Outcome<Throwaway> Throwaway::start(Context& context) {
    take_signals();
    LAVANT_TRY(std::string folder, make_folder(context));
    Throwaway made(context, std::move(folder));
    ServerChoice choice;
    choice.data = made.folder_ + "/data";
    LAVANT_TRY_VOID(cli::find_or_start_local_server(context, {choice.data, 0, false}));
    LAVANT_TRY(made.variables_, cli::variables_for(context, choice));
    LAVANT_TRY_VOID(make_directories(made.folder_ + "/bin"));
    if (::symlink(context.program.c_str(), (made.folder_ + "/bin/lavant").c_str()) != 0)
        return fail(system_error("link '" + context.program + "'", errno));
    return made;
}

Throwaway::Throwaway(Throwaway&& other) noexcept
    : context_(other.context_),
      folder_(std::exchange(other.folder_, "")),
      variables_(std::move(other.variables_)) {}

Throwaway::~Throwaway() {
    if (folder_.empty()) return;
    if (const auto removed = remove_everything(context_, DataFolder{folder_ + "/data"}); !removed)
        (void)cli::report(removed.error(), context_.console);
    (void)remove_tree(folder_);
}

Outcome<int> Throwaway::run(std::vector<std::string> words, const std::string& in_folder) const {
    std::vector<std::string> environment;
    for (char** line = environ; *line != nullptr; ++line) {
        const std::string name = name_in(*line);
        bool ours = name == "PATH";
        for (const auto& [key, value] : variables_) ours = ours || key == name;
        if (!ours) environment.emplace_back(*line);
    }
    const std::string path = context_.variable("PATH");
    const std::string searched = folder_ + "/bin:" + (path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path);
    environment.push_back("PATH=" + searched);
    ::setenv("PATH", searched.c_str(), 1);  // where the command itself is looked for
    for (const auto& [key, value] : variables_)
        if (!value.empty()) environment.push_back(key + "=" + value);
    std::vector<char*> pointers;
    for (std::string& line : environment) pointers.push_back(line.data());
    pointers.push_back(nullptr);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addchdir_np(&actions, in_folder.c_str());
    ::posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (was_interrupted()) return kSignalBase + g_signal;
    ::pid_t child = 0;
    const int error = ::posix_spawnp(&child, words.front().c_str(), &actions, &attributes, arguments.data(),
                                     pointers.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    constexpr int kNotFound = 127;
    if (error != 0)
        return cli::stop(static_cast<Exit>(kNotFound), ErrorCode::NotFound,
                         system_error("run '" + words.front() + "'", error).message);
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    ::pollfd ended{process.get(), POLLIN, 0};
    constexpr int kLookAgainMs = 200;  // A signal may come right before the wait.
    bool told = false;
    while (::poll(&ended, 1, kLookAgainMs) <= 0) {
        // Ctrl-C reaches the child by the terminal; the others are for us alone.
        if (!told && (g_signal == SIGTERM || g_signal == SIGHUP)) told = ::kill(child, g_signal) == 0;
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

}  // namespace lavant
