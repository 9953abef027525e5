#include "host/cgroups.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/text.h"

namespace lavant::host {
namespace {

constexpr std::size_t kProcFileBytesMax = 8U << 20;
constexpr std::int64_t kCpuPeriodMicros = 100'000;
constexpr const char* kMovedTo = "lavant-server";

bool write_text(const std::string& path, std::string_view text) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string read_text(const std::string& path) {
    auto text = read_file(path, kProcFileBytesMax);
    return text ? *std::move(text) : std::string();
}

bool has_word(std::string_view text, std::string_view word, char separator) {
    for (const std::string_view found : split(text, separator))
        if (trim(found) == word) return true;
    return false;
}

// "key value" lines, as in memory.events, cpu.stat and memory.oom_control.
std::int64_t value_of(std::string_view text, std::string_view key) {
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t space = line.find(' ');
        if (space != std::string_view::npos && line.substr(0, space) == key)
            return parse_integer(trim(line.substr(space + 1))).value_or(0);
    }
    return 0;
}

std::string read_open(const Fd& file) {
    std::array<char, 1024> buffer{};
    const ssize_t count = file ? ::pread(file.get(), buffer.data(), buffer.size(), 0) : 0;
    return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : std::string();
}

struct MountLine {
    std::string_view root, point, type, options;
};

std::optional<MountLine> parse_mount_line(std::string_view line) {
    const auto words = split(line, ' ');
    std::size_t dash = 6;
    while (dash < words.size() && words[dash] != "-") ++dash;
    if (dash + 3 >= words.size()) return std::nullopt;
    return MountLine{
        .root = words[3], .point = words[4], .type = words[dash + 1], .options = words[dash + 3]};
}

// A path inside the hierarchy as seen through a mount that may show only a part of it.
std::string below_mount(const MountLine& mount, std::string_view path) {
    if (mount.root != "/") {
        if (!path.starts_with(mount.root)) return {};
        path.remove_prefix(mount.root.size());
    }
    if (path.find("/..") != std::string_view::npos) return {};
    std::string result(mount.point);
    if (path != "/") result += path;
    return result;
}

std::string membership_path(std::string_view membership, std::string_view controller) {
    for (const std::string_view line : split(membership, '\n')) {
        const std::size_t first = line.find(':');
        if (first == std::string_view::npos) continue;
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string_view names = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? names.empty() : has_word(names, controller, ','))
            return std::string(line.substr(second + 1));
    }
    return {};
}

Result<void> make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
    const int error = errno;
    Error failed = system_error("make cgroup '" + path + "'", error);
    if (error == EACCES || error == EPERM || error == EROFS) failed.code = ErrorCode::PermissionDenied;
    return fail(std::move(failed));
}

Result<void> remove_folder_tree(const std::string& path) {
    if (auto entries = list_directory(path))
        for (const DirectoryEntry& entry : *entries)
            if (entry.is_directory) LAVANT_TRY_VOID(remove_folder_tree(path + "/" + entry.name));
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
    return fail(system_error("remove cgroup '" + path + "'", errno));
}

void signal_members(const std::string& path, int signal_number) {
    for (const std::string_view line : split(read_text(path + "/cgroup.procs"), '\n'))
        if (const auto pid = parse_integer(trim(line)); pid && *pid > 0)
            ::kill(static_cast<pid_t>(*pid), signal_number);
    if (auto entries = list_directory(path))
        for (const DirectoryEntry& entry : *entries)
            if (entry.is_directory) signal_members(path + "/" + entry.name, signal_number);
}

}  // namespace

CgroupPlace parse_cgroup_place(std::string_view mountinfo, std::string_view membership) {
    CgroupPlace place;
    for (const std::string_view line : split(mountinfo, '\n')) {
        const auto mount = parse_mount_line(line);
        if (!mount) continue;
        if (mount->type == "cgroup2" && place.unified.empty()) {
            const std::string path = membership_path(membership, "");
            if (!path.empty()) place.unified = below_mount(*mount, path);
        }
        if (mount->type != "cgroup") continue;
        for (const auto& [name, folder] :
             {std::pair{"memory", &place.memory}, {"cpu", &place.cpu}, {"pids", &place.pids}}) {
            if (!has_word(mount->options, name, ',') || !folder->empty()) continue;
            const std::string path = membership_path(membership, name);
            if (!path.empty()) *folder = below_mount(*mount, path);
        }
    }
    return place;
}

CgroupPlace own_cgroup_place() {
    CgroupPlace place = parse_cgroup_place(read_text("/proc/self/mountinfo"), read_text("/proc/self/cgroup"));
    if (!place.unified.empty())
        place.unified_has_controllers =
            has_word(read_text(place.unified + "/cgroup.controllers"), "memory", ' ');
    return place;
}

CgroupPlace place_for_limits() {
    CgroupPlace place = own_cgroup_place();
    if (!place.unified_has_controllers) return place;
    // We have moved before.
    if (base_name_of(place.unified) == kMovedTo) place.unified = parent_of(place.unified);
    const std::string control = place.unified + "/cgroup.subtree_control";
    if (write_text(control, "+memory +cpu +pids") || errno != EBUSY) return place;
    // Others in it are not ours to move: then there are no limits.
    if (trim(read_text(place.unified + "/cgroup.procs")) != std::to_string(::getpid())) return place;
    const std::string own = place.unified + "/" + kMovedTo;
    if (make_folder(own) && write_text(own + "/cgroup.procs", std::to_string(::getpid())))
        write_text(control, "+memory +cpu +pids");
    return place;
}

Cgroup Cgroup::at(CgroupPlace place) {
    Cgroup cgroup;
    cgroup.place_ = std::move(place);
    cgroup.open_files();
    return cgroup;
}

Result<Cgroup> Cgroup::make(const CgroupPlace& parent, const std::string& name, const CgroupLimits& limits) {
    if (parent.unified.empty())
        return fail(ErrorCode::Unavailable, "no cgroup v2 hierarchy is mounted where this process is");
    CgroupPlace place{.unified = parent.unified + "/" + name,
                      .unified_has_controllers = parent.unified_has_controllers};
    if (limits.any() && parent.unified_has_controllers)
        write_text(parent.unified + "/cgroup.subtree_control", "+memory +cpu +pids");
    LAVANT_TRY_VOID(make_folder(place.unified));
    const auto make_v1 = [&](const std::string& above, bool wanted) {
        const std::string path = above + "/" + name;
        return !above.empty() && wanted && make_folder(path) ? path : std::string();
    };
    place.memory = make_v1(parent.memory, limits.memory_bytes > 0);
    place.cpu = make_v1(parent.cpu, limits.cpu_millis > 0);
    place.pids = make_v1(parent.pids, limits.pids > 0);
    Cgroup cgroup = at(std::move(place));
    if (!cgroup.folder_)
        return fail(ErrorCode::PermissionDenied, "cannot open cgroup '" + cgroup.place_.unified + "'");
    // A cgroup we may make but not move processes into is of no use.
    if (::faccessat(cgroup.folder_.get(), "cgroup.procs", W_OK, AT_EACCESS) != 0) {
        ::rmdir(cgroup.place_.unified.c_str());
        return fail(ErrorCode::PermissionDenied,
                    "cannot move processes into cgroups below '" + parent.unified + "'");
    }
    cgroup.set_limits(limits);
    return cgroup;
}

void Cgroup::open_files() {
    if (place_.unified.empty()) return;
    folder_.reset(::open(place_.unified.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) return;
    events_.reset(::openat(folder_.get(), "cgroup.events", O_RDONLY | O_CLOEXEC));
    oom_.reset(place_.memory.empty()
                   ? ::openat(folder_.get(), "memory.events", O_RDONLY | O_CLOEXEC)
                   : ::open((place_.memory + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
}

void Cgroup::set_limits(const CgroupLimits& limits) {
    const std::string& v2 = place_.unified;
    if (limits.memory_bytes > 0) {
        const std::string bytes = std::to_string(limits.memory_bytes);
        bool set = false;
        if (!place_.memory.empty()) {
            set = write_text(place_.memory + "/memory.limit_in_bytes", bytes);
            write_text(place_.memory + "/memory.memsw.limit_in_bytes", bytes);
            set = write_text(place_.memory + "/memory.limit_in_bytes", bytes) || set;
        } else {
            set = write_text(v2 + "/memory.max", bytes);
            write_text(v2 + "/memory.swap.max", "0");
        }
        if (!set) missing_.emplace_back("memory");
    }
    if (limits.cpu_millis > 0) {
        const std::string quota = std::to_string(limits.cpu_millis * kCpuPeriodMicros / 1000);
        const std::string period = std::to_string(kCpuPeriodMicros);
        const bool set = place_.cpu.empty() ? write_text(v2 + "/cpu.max", quota + " " + period)
                                            : write_text(place_.cpu + "/cpu.cfs_period_us", period) &&
                                                  write_text(place_.cpu + "/cpu.cfs_quota_us", quota);
        if (!set) missing_.emplace_back("cpu");
    }
    if (limits.pids > 0 &&
        !write_text((place_.pids.empty() ? v2 : place_.pids) + "/pids.max", std::to_string(limits.pids)))
        missing_.emplace_back("pids");
}

Result<void> Cgroup::add(pid_t pid) const {
    for (const std::string* folder : {&place_.unified, &place_.memory, &place_.cpu, &place_.pids})
        if (!folder->empty() && !write_text(*folder + "/cgroup.procs", std::to_string(pid)))
            return fail(system_error("move a process into cgroup '" + *folder + "'", errno));
    return {};
}

bool Cgroup::populated() const { return value_of(read_open(events_), "populated") != 0; }

bool Cgroup::kill_all(Duration limit) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (populated()) {
        const Fd kill_file(::openat(folder_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
        // Kernels before 5.14 have no cgroup.kill: frozen processes do not fork while they are signalled.
        if (!kill_file || ::write(kill_file.get(), "1", 1) != 1) {
            write_text(place_.unified + "/cgroup.freeze", "1");
            signal_members(place_.unified, SIGKILL);
            write_text(place_.unified + "/cgroup.freeze", "0");
        }
        if (!populated()) break;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd change{.fd = events_.get(), .events = POLLPRI, .revents = 0};
        constexpr std::int64_t kPollMillisMax = 20;  // The change may have come before we polled.
        ::poll(&change, 1, static_cast<int>(std::min(left.count(), kPollMillisMax)));
    }
    return true;
}

Result<void> Cgroup::remove() {
    Result<void> answer;
    for (const std::string* folder : {&place_.memory, &place_.cpu, &place_.pids, &place_.unified})
        if (!folder->empty())
            if (auto removed = remove_folder_tree(*folder); !removed) answer = std::move(removed);
    return answer;
}

std::int64_t Cgroup::oom_kills() const { return value_of(read_open(oom_), "oom_kill"); }

std::int64_t Cgroup::cpu_micros() const {
    return value_of(read_text(place_.unified + "/cpu.stat"), "usage_usec");
}

std::int64_t Cgroup::memory_peak_bytes() const {
    const std::string path = place_.memory.empty() ? place_.unified + "/memory.peak"
                                                   : place_.memory + "/memory.max_usage_in_bytes";
    return parse_integer(trim(read_text(path))).value_or(0);
}

}  // namespace lavant::host
