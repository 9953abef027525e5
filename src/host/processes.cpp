#include "host/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>

namespace lavant::host {
namespace {

// /proc/PID/stat: the name may hold spaces and brackets, so fields count from the last bracket.
struct Stat {
    char state = '?';
    pid_t parent = 0;
    std::uint64_t start_ticks = 0;
};

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<Stat> parse_stat(std::string_view text) {
    const std::size_t bracket = text.rfind(')');
    if (bracket == std::string_view::npos || bracket + 4 > text.size()) return std::nullopt;
    std::string_view rest = text.substr(bracket + 2);
    Stat stat{.state = rest.front()};
    constexpr int kParentField = 4;
    constexpr int kStartField = 22;
    for (int field = 3; !rest.empty(); ++field) {
        const std::size_t space = rest.find(' ');
        const std::string_view word = rest.substr(0, space);
        if (field == kParentField) stat.parent = static_cast<pid_t>(number(word).value_or(0));
        if (field == kStartField) {
            const auto ticks = number(word);
            if (!ticks) return std::nullopt;
            stat.start_ticks = *ticks;
            return stat;
        }
        if (space == std::string_view::npos) break;
        rest.remove_prefix(space + 1);
    }
    return std::nullopt;
}

std::optional<Stat> stat_of(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    std::array<char, 1024> buffer{};
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count <= 0) return std::nullopt;
    return parse_stat({buffer.data(), static_cast<std::size_t>(count)});
}

std::vector<pid_t> all_processes() {
    std::vector<pid_t> found;
    DIR* folder = ::opendir("/proc");
    if (folder == nullptr) return found;
    while (const dirent* entry = ::readdir(folder))
        if (const auto pid = number(entry->d_name)) found.push_back(static_cast<pid_t>(*pid));
    ::closedir(folder);
    return found;
}

// `file` holds texts that end with a zero byte; one of them must be `wanted`.
std::vector<pid_t> processes_with(const char* file, std::string_view wanted) {
    constexpr std::size_t kBytesMax = 4U << 20;
    std::vector<pid_t> found;
    for (const pid_t pid : all_processes()) {
        const auto text = read_file("/proc/" + std::to_string(pid) + file, kBytesMax);
        if (!text || pid == ::getpid()) continue;
        std::string_view rest = *text;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\0'), rest.size());
            if (rest.substr(0, end) == wanted) {
                found.push_back(pid);
                break;
            }
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return found;
}

std::chrono::steady_clock::time_point deadline_after(Duration limit) {
    return std::chrono::steady_clock::now() + limit;
}

}  // namespace

std::optional<ProcessMark> mark_of(pid_t pid) {
    const auto stat = stat_of(pid);
    if (!stat) return std::nullopt;
    return ProcessMark{.pid = pid, .start_ticks = stat->start_ticks};
}

std::optional<Fd> open_process(const ProcessMark& mark) {
    if (mark.pid <= 0) return std::nullopt;
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, mark.pid, 0)));
    if (!pidfd) return std::nullopt;
    // Looked at after the pidfd is open: from now on the pid cannot change hands unnoticed.
    const auto stat = stat_of(mark.pid);
    if (!stat || stat->start_ticks != mark.start_ticks || stat->state == 'Z' || stat->state == 'X')
        return std::nullopt;
    return pidfd;
}

bool wait_until_gone(int pidfd, Duration limit) {
    const auto deadline = deadline_after(limit);
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd one{.fd = pidfd, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (ready > 0) return true;
        if (ready == 0) return false;
        if (errno != EINTR) return false;
    }
}

bool send_signal(int pidfd, int signal_number) {
    return ::syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0) == 0;
}

std::vector<pid_t> descendants_of(pid_t root) {
    struct Entry {
        pid_t pid, parent;
        bool zombie;
    };
    std::vector<Entry> entries;
    for (const pid_t pid : all_processes())
        if (const auto stat = stat_of(pid))
            entries.push_back(
                {.pid = pid, .parent = stat->parent, .zombie = stat->state == 'Z' || stat->state == 'X'});
    std::vector<pid_t> family{root};
    for (std::size_t next = 0; next < family.size(); ++next)
        for (const Entry& entry : entries)
            if (entry.parent == family[next] && !entry.zombie) family.push_back(entry.pid);
    family.erase(family.begin());
    return family;
}

bool kill_descendants(pid_t root, Duration limit) {
    const auto deadline = deadline_after(limit);
    // A stopped process forks no more, so the stopping rounds end with a set that no longer grows.
    std::size_t before = 0;
    while (std::chrono::steady_clock::now() < deadline) {
        const std::vector<pid_t> family = descendants_of(root);
        if (family.empty()) break;
        for (const pid_t pid : family) ::kill(pid, SIGSTOP);
        if (family.size() == before) break;
        before = family.size();
    }
    // One scan may miss a process whose parent ends while it is under way.
    constexpr int kEmptyScansWanted = 3;
    int empty_scans = 0;
    while (true) {
        const std::vector<pid_t> family = descendants_of(root);
        for (const pid_t pid : family) ::kill(pid, SIGKILL);
        empty_scans = family.empty() ? empty_scans + 1 : 0;
        if (empty_scans == kEmptyScansWanted) return true;
        if (std::chrono::steady_clock::now() >= deadline) return false;
        const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
}

std::vector<pid_t> processes_with_environment(std::string_view entry) {
    return processes_with("/environ", entry);
}

std::vector<pid_t> processes_with_argument(std::string_view argument) {
    return processes_with("/cmdline", argument);
}

}  // namespace lavant::host
