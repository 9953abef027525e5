#include "cli/local_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "wire/json.h"

extern char** environ;

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::size_t kEndpointBytesMax = 64U << 10;
constexpr std::size_t kKeyBytesMax = 4U << 10;
constexpr std::size_t kLogTailBytes = 4U << 10;
constexpr int kReadyFd = 3;  // of the started server
constexpr int kReadyTimeoutMs = 30'000;
constexpr int kWinnerTimeoutMs = 10'000;
constexpr int kStopTimeoutMs = 60'000;
constexpr int kHealthTimeoutS = 5;
constexpr int kStartAttempts = 5;

int elapsed_ms(std::chrono::steady_clock::time_point since) {
    const auto length = std::chrono::steady_clock::now() - since;
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(length).count());
}

std::string absolute(const std::string& path) {
    if (path.starts_with("/")) return path;
    return working_folder() + "/" + path;
}

// The last lines a server that did not come up left behind.
std::string log_tail(const std::string& data) {
    auto file = open_file(data + "/serve.log", O_RDONLY | O_CLOEXEC);
    if (!file) return {};
    const off_t size = ::lseek(file->get(), 0, SEEK_END);
    const off_t from =
        size > static_cast<off_t>(kLogTailBytes) ? size - static_cast<off_t>(kLogTailBytes) : 0;
    std::string tail(kLogTailBytes, '\0');
    const ssize_t got = ::pread(file->get(), tail.data(), tail.size(), from);
    tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::string_view last = trim(tail);
    return printable(last.substr(last.rfind('\n') == std::string_view::npos ? 0 : last.rfind('\n') + 1));
}

class SpawnActions {
 public:
    SpawnActions() {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
    }
    ~SpawnActions() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ::posix_spawn_file_actions_t* actions() { return &actions_; }
    ::posix_spawnattr_t* attributes() { return &attributes_; }

 private:
    ::posix_spawn_file_actions_t actions_{};
    ::posix_spawnattr_t attributes_{};
};

// Starts `lavant serve` in a session of its own; returns the end of the pipe where it says how it went.
Result<Fd> spawn_server(const Context& context, const StartOptions& options) {
    LAVANT_TRY(Fd log,
               open_file(options.data + "/serve.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("make a pipe", errno));
    Fd ours(ends[0]);
    const Fd theirs(ends[1]);
    SpawnActions spawn;
    ::posix_spawn_file_actions_addopen(spawn.actions(), 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(spawn.actions(), log.get(), 1);
    ::posix_spawn_file_actions_adddup2(spawn.actions(), log.get(), 2);
    ::posix_spawn_file_actions_adddup2(spawn.actions(), theirs.get(), kReadyFd);
    ::posix_spawn_file_actions_addchdir_np(spawn.actions(), "/");
    ::sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(spawn.attributes(), &none);
    ::posix_spawnattr_setflags(spawn.attributes(), POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);

    std::vector<std::string> words{context.program, "serve",      "--data",
                                   options.data,    "--port",     std::to_string(options.port),
                                   "--embedded",    "--ready-fd", std::to_string(kReadyFd)};
    const Setting& idle = context.config.setting("idle_exit_s");
    if (!options.leaves_when_idle) {
        words.insert(words.end(), {"--idle-exit", "0"});
    } else if (idle.origin.source != Source::Default) {
        words.insert(words.end(), {"--idle-exit", idle.value});
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::pid_t pid = 0;
    const int error = ::posix_spawn(&pid, context.program.c_str(), spawn.actions(), spawn.attributes(),
                                    arguments.data(), environ);
    if (error != 0) return fail(system_error("start '" + context.program + " serve'", error));
    return ours;
}

// The line the server wrote, "" if it closed the pipe without one.
Outcome<std::string> await_line(const Fd& pipe) {
    const auto began = std::chrono::steady_clock::now();
    std::string text;
    for (;;) {
        ::pollfd ready{pipe.get(), POLLIN, 0};
        const int left = kReadyTimeoutMs - elapsed_ms(began);
        if (left <= 0)
            return stop(Exit::Unreachable, ErrorCode::DeadlineExceeded,
                        "the local server did not get ready within 30 s");
        const int polled = ::poll(&ready, 1, left);
        if (polled < 0 && errno != EINTR) return fail(system_error("wait for the local server", errno));
        if (polled <= 0) continue;
        std::array<char, 512> bytes{};
        const ssize_t got = ::read(pipe.get(), bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
        const std::size_t end = text.find('\n');
        if (end != std::string::npos) return text.substr(0, end);
        if (got <= 0 || text.size() > kLogTailBytes) return std::string(trim(text));
    }
}

// Another process starts the server: waits until its endpoint file appears and answers. None after a while.
std::optional<LocalServer> await_winner(Context& context, const std::string& data) {
    const Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!watch || ::inotify_add_watch(watch.get(), data.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
        return std::nullopt;
    const auto began = std::chrono::steady_clock::now();
    while (elapsed_ms(began) < kWinnerTimeoutMs) {
        // Looked at after the watch stands, so that no change is missed in between.
        if (auto server = find_local_server(context, data)) return server;
        ::pollfd changed{watch.get(), POLLIN, 0};
        ::poll(&changed, 1, 1'000);
        std::array<char, 4096> events{};
        while (::read(watch.get(), events.data(), events.size()) > 0) {
        }
    }
    return std::nullopt;
}

}  // namespace

Outcome<std::string> data_folder(const Context& context, const std::string& from_flag) {
    std::string folder = from_flag;
    if (folder.empty()) folder = context.config["data"];
    if (folder.starts_with("~/")) folder = context.variable("HOME") + folder.substr(1);
    if (folder.empty()) {
        const std::string state = context.variable("XDG_STATE_HOME");
        if (state.starts_with("/"))
            folder = state + "/lavant";  // A relative one is invalid by its specification.
    }
    if (folder.empty()) {
        const std::string home = context.variable("HOME");
        if (home.empty()) {
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        "cannot tell where the data lies: set LAVANT_DATA or HOME, or give --data");
        }
        folder = home + "/.local/state/lavant";
    }
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    return absolute(folder);
}

std::optional<LocalServer> find_local_server(Context& context, const std::string& data) {
    const auto text = read_file(data + "/endpoint", kEndpointBytesMax);
    if (!text) return std::nullopt;
    const auto endpoint = wire::parse_json(*text);
    if (!endpoint || (*endpoint)["url"].text().empty()) return std::nullopt;
    LocalServer server;
    server.address.url = (*endpoint)["url"].string();
    while (server.address.url.ends_with('/')) server.address.url.pop_back();
    server.address.ca_file = (*endpoint)["ca"].string(data + "/tls/ca.pem");
    server.pid = static_cast<int>((*endpoint)["pid"].integer());
    server.build = {(*endpoint)["version"].string(), (*endpoint)["build"].string(),
                    (*endpoint)["builtAt"].integer()};
    server.since = (*endpoint)["since"].string();
    server.is_embedded = (*endpoint)["embedded"].boolean();
    server.leaves_when_idle = (*endpoint)["idleExit"].integer() > 0;
    if (const auto key = read_file(data + "/owner.key", kKeyBytesMax))
        server.address.token = std::string(trim(*key));
    server.client = context.make_client(server.address.ca_file);
    ports::ClientRequest health;
    health.url = server.address.url + "/health";
    health.timeout_s = kHealthTimeoutS;
    const auto answer = server.client->send(health);
    if (!answer || answer->status != 200) return std::nullopt;
    return server;
}

namespace {

// Asks that very process to leave and waits until it is gone. Whoever else asked it before us is as good.
Outcome<void> ask_to_leave(Context& context, const LocalServer& server, const std::string& data) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, server.pid, 0)));
    if (!process) {
        if (errno == ESRCH) return {};
        return fail(system_error(fmt::format("find process {}", server.pid), errno));
    }
    // The number may be another process's by now; the server that still answers under it is not.
    if (const auto now = find_local_server(context, data); !now || now->pid != server.pid) return {};
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH) {
        return fail(system_error(fmt::format("stop the server (process {})", server.pid), errno));
    }
    const auto began = std::chrono::steady_clock::now();
    for (;;) {
        ::pollfd gone{process.get(), POLLIN, 0};
        const int left = kStopTimeoutMs - elapsed_ms(began);
        if (left <= 0) break;
        if (::poll(&gone, 1, left) > 0) return {};
    }
    return stop(Exit::Failed, ErrorCode::DeadlineExceeded,
                fmt::format("the server (process {}) is still there after 60 s; look at {}/serve.log",
                            server.pid, data));
}

Outcome<Started> start_local_server(Context& context, const StartOptions& options);

// Several may do this at once: each waits for the same end, and one of them starts what follows.
Outcome<Started> replace(Context& context, const LocalServer& old, StartOptions options) {
    options.leaves_when_idle = options.leaves_when_idle && old.leaves_when_idle;
    LAVANT_TRY_VOID(ask_to_leave(context, old, options.data));
    LAVANT_TRY(Started started, start_local_server(context, options));
    if (started.started && supersedes(context.build, old.build))
        context.console.err << fmt::format("restarted the local server: {}; running jobs go on\n",
                                           printable(describe_change(old.build, context.build)));
    started.started = false;  // It is said already.
    return started;
}

}  // namespace

Outcome<Started> find_or_start_local_server(Context& context, const StartOptions& options) {
    if (auto server = find_local_server(context, options.data)) {
        const bool must_stay = !options.leaves_when_idle && server->leaves_when_idle &&
                               !supersedes(server->build, context.build);
        if (server->is_embedded && server->pid > 1 && (must_stay || supersedes(context.build, server->build)))
            return replace(context, *server, options);
        return Started{std::move(*server), false};
    }
    return start_local_server(context, options);
}

namespace {

// The process that the endpoint file names, if it is there. 0: none.
int living_server(const std::string& data) {
    const auto text = read_file(data + "/endpoint", kEndpointBytesMax);
    const auto endpoint = text ? wire::parse_json(*text) : Result<Json>(Json());
    const int pid = endpoint ? static_cast<int>((*endpoint)["pid"].integer()) : 0;
    return pid > 1 && ::kill(pid, 0) == 0 ? pid : 0;
}

Outcome<Started> start_local_server(Context& context, const StartOptions& options) {
    if (auto made = make_directories(options.data); !made) {
        return tl::make_unexpected(
            Failure(Exit::Unreachable, in("cannot start the local server")(std::move(made).error())));
    }
    for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
        LAVANT_TRY(const Fd pipe, spawn_server(context, options));
        LAVANT_TRY(const std::string line, await_line(pipe));
        if (line == "ready") {
            if (auto server = find_local_server(context, options.data))
                return Started{std::move(*server), true};
            return stop(
                Exit::Unreachable, ErrorCode::Unavailable,
                "the local server started but does not answer; look at " + options.data + "/serve.log");
        }
        if (line == "taken") {
            if (auto server = await_winner(context, options.data)) return Started{std::move(*server), false};
            if (const int pid = living_server(options.data); pid > 1)
                return stop(
                    Exit::Unreachable, ErrorCode::Unavailable,
                    fmt::format("the local server (process {0}) does not answer; look at {1}/serve.log, or "
                                "end it: kill {0}",
                                pid, options.data));
            continue;  // The winner died before it was ready, or leaves right now.
        }
        std::string why = line.starts_with("error ") ? printable(line.substr(6)) : log_tail(options.data);
        if (why.empty()) why = "it ended without a word; look at " + options.data + "/serve.log";
        return stop(Exit::Unreachable, ErrorCode::Unavailable, "cannot start the local server: " + why);
    }
    return stop(Exit::Unreachable, ErrorCode::Unavailable,
                "another process holds " + options.data +
                    "/lock but serves nobody; stop it or choose another --data");
}

}  // namespace

Outcome<bool> stop_local_server(Context& context, const std::string& data) {
    const auto server = find_local_server(context, data);
    if (!server || server->pid <= 1) return false;
    LAVANT_TRY_VOID(ask_to_leave(context, *server, data));
    return true;
}

}  // namespace lavant::cli
