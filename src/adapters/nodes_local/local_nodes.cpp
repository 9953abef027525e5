#include "adapters/nodes_local/local_nodes.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "adapters/nodes_local/agent_process.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"

namespace lavant::nodes_local {
namespace {

constexpr Duration kKillLimit = std::chrono::seconds(30);
constexpr std::int64_t kNodeProcessesMax = 8192;

std::string own_executable() {
    std::array<char, 4096> path{};
    const ssize_t count = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    return count > 0 ? std::string(path.data(), static_cast<std::size_t>(count)) : "lavant";
}

// Two servers on one machine must not meet in the cgroup tree.
std::string prefix_for(const std::string& folder) {
    std::uint32_t hash = 2166136261U;
    for (const char c : folder) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15U];
    return "lavant-" + text + "-node-";
}

// The server's own secrets and settings are not the agent's.
std::vector<std::string> inherited_environment() {
    std::vector<std::string> kept;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!std::string_view(*entry).starts_with("LAVANT_")) kept.emplace_back(*entry);
    return kept;
}

std::int64_t clipped(std::int64_t wanted, std::int64_t available) { return std::min(wanted, available); }

host::Machine look_at_machine(const LocalNodesSettings& settings) {
    host::Machine machine = host::look_at_machine();
    if (settings.gpus) machine.gpus = *settings.gpus;
    return machine;
}

}  // namespace

class LocalNodes::Busy {
 public:
    Busy(LocalNodes& nodes, NodeId node) : nodes_(nodes), node_(node) {
        std::unique_lock lock(nodes_.mutex_);
        nodes_.idle_.wait(lock, [&] { return !nodes_.busy_.contains(node_); });
        nodes_.busy_.insert(node_);
    }
    ~Busy() {
        const std::lock_guard lock(nodes_.mutex_);
        nodes_.busy_.erase(node_);
        nodes_.idle_.notify_all();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

 private:
    LocalNodes& nodes_;
    NodeId node_;
};

LocalNodes::LocalNodes(LocalNodesSettings settings)
    : settings_(std::move(settings)),
      machine_(look_at_machine(settings_)),
      cgroup_prefix_(prefix_for(settings_.folder)) {
    if (settings_.allow_cgroups) place_ = host::place_for_limits();
}

Resources LocalNodes::capacity() {
    return {.cpu_millis = machine_.cpu_millis,
            .memory_bytes = machine_.memory_bytes,
            .gpus = static_cast<int>(machine_.gpus.size())};
}

std::string LocalNodes::missing_limits() {
    const std::lock_guard lock(mutex_);
    return missing_limits_;
}

std::vector<std::string> LocalNodes::arguments_for(const NodeFolder& folder, NodeId node) const {
    std::vector<std::string> arguments = settings_.agent_command;
    if (arguments.empty()) arguments = {own_executable(), "agent"};
    arguments.insert(arguments.end(), {"--node", std::to_string(node.value), "--folder", folder.path(),
                                       "--server", settings_.server_url});
    if (!settings_.ca_file.empty()) arguments.insert(arguments.end(), {"--ca", settings_.ca_file});
    arguments.insert(arguments.end(), settings_.agent_arguments.begin(), settings_.agent_arguments.end());
    return arguments;
}

Result<host::Cgroup> LocalNodes::make_cgroup(const NodeFolder& folder, const StartNode& what) {
    // Tasks of an agent that died are still in the old one.
    if (auto place = folder.cgroup()) return host::Cgroup::at(*std::move(place));
    host::CgroupLimits limits{.memory_bytes = clipped(what.resources.memory_bytes, machine_.memory_bytes),
                              .cpu_millis = clipped(what.resources.cpu_millis, machine_.cpu_millis),
                              .pids = kNodeProcessesMax};
    if (limits.cpu_millis >= machine_.cpu_millis)
        limits.cpu_millis = 0;  // A quota that never bites costs time.
    LAVANT_TRY(host::Cgroup cgroup,
               host::Cgroup::make(place_, cgroup_prefix_ + std::to_string(what.node.value), limits));
    std::string missing;
    for (const std::string& name : cgroup.missing_limits()) missing += (missing.empty() ? "" : ", ") + name;
    {
        const std::lock_guard lock(mutex_);
        missing_limits_ = missing;
    }
    LAVANT_TRY_VOID(folder.write_cgroup(cgroup.place()));
    return cgroup;
}

Result<void> LocalNodes::start_node(const ports::NodeOrder& order) {
    const Busy busy(*this, order.what.node);
    const NodeFolder folder(settings_.folder, order.what.node);
    if (const auto agent = folder.agent(); agent && host::open_process(*agent)) return {};
    LAVANT_TRY_VOID(make_directories(folder.path()));
    LAVANT_TRY_VOID(folder.write_order(order));
    folder.limit_log(settings_.log_bytes_max);
    std::optional<host::Cgroup> cgroup;
    if (settings_.allow_cgroups) {
        auto made = make_cgroup(folder, order.what);
        if (made) cgroup = *std::move(made);
        if (!cgroup) {
            const std::lock_guard lock(mutex_);
            missing_limits_ = "memory, cpu, pids (" + made.error().message + ")";
        }
    }
    const DetachedCommand command{.arguments = arguments_for(folder, order.what.node),
                                  .environment = inherited_environment(),
                                  .log_file = folder.log_file(),
                                  .folder = folder.path()};
    const auto started = start_detached(command, [&](const host::ProcessMark& mark) -> Result<void> {
        if (cgroup) LAVANT_TRY_VOID(cgroup->add(mark.pid));
        return folder.write_agent(mark);
    });
    if (!started) return fail(in("starting " + to_string(order.what.node))(started.error()));
    return {};
}

// The agent's arguments name its folder, and its tasks' supervisors are forks of it: all of them are found,
// also those whose agent died. What a supervisor started cannot leave it (it is a subreaper, or a pid
// namespace).
Result<void> LocalNodes::kill_without_cgroup(const NodeFolder& folder) {
    constexpr int kRoundsMax = 100;
    for (int round = 0; round < kRoundsMax; ++round) {
        const std::vector<pid_t> found = host::processes_with_argument(folder.path());
        if (found.empty()) return {};
        for (const pid_t pid : found) {
            host::kill_descendants(pid, kKillLimit);
            ::kill(pid, SIGKILL);
        }
        ::usleep(2000);
    }
    return fail(ErrorCode::DeadlineExceeded, "processes of '" + folder.path() + "' do not die");
}

Result<void> LocalNodes::stop_agent(const NodeFolder& folder, NodeId node) {
    const auto agent = folder.agent();
    const auto pidfd = agent ? host::open_process(*agent) : std::nullopt;
    if (!pidfd) return {};
    // Once it is dead, nothing tells any more what it had started.
    std::vector<host::ProcessMark> started;
    if (!folder.cgroup())
        for (const pid_t pid : host::descendants_of(agent->pid))
            if (const auto mark = host::mark_of(pid)) started.push_back(*mark);
    host::send_signal(pidfd->get(), SIGTERM);
    if (!host::wait_until_gone(pidfd->get(), settings_.stop_grace)) {
        host::send_signal(pidfd->get(), SIGKILL);
        if (!host::wait_until_gone(pidfd->get(), kKillLimit))
            return fail(ErrorCode::DeadlineExceeded, "the agent of " + to_string(node) + " does not die");
    }
    for (const host::ProcessMark& mark : started) {
        const auto left = host::open_process(mark);
        if (!left) continue;
        host::kill_descendants(mark.pid, kKillLimit);
        host::send_signal(left->get(), SIGKILL);
        host::wait_until_gone(left->get(), kKillLimit);
    }
    return {};
}

Result<void> LocalNodes::stop_node(NodeId node) {
    const Busy busy(*this, node);
    const NodeFolder folder(settings_.folder, node);
    if (!exists(folder.path())) return {};
    LAVANT_TRY_VOID(stop_agent(folder, node));
    if (auto place = folder.cgroup()) {
        host::Cgroup cgroup = host::Cgroup::at(*std::move(place));
        if (!cgroup.kill_all(kKillLimit))
            return fail(ErrorCode::DeadlineExceeded, "processes of " + to_string(node) + " do not die");
        if (auto removed = cgroup.remove(); !removed)
            log(Level::Warning, "cgroup_not_removed", {{"problem", removed.error().message}});
    } else {
        LAVANT_TRY_VOID(kill_without_cgroup(folder));
    }
    return remove_tree(folder.path());
}

Result<std::vector<ports::NodeProvider::Held>> LocalNodes::list_nodes() {
    std::vector<Held> held;
    if (!exists(settings_.folder)) return held;
    LAVANT_TRY(const auto entries, list_directory(settings_.folder));
    for (const DirectoryEntry& entry : entries) {
        const auto number = parse_integer(entry.name);
        if (!entry.is_directory || !number || *number <= 0) continue;
        const NodeFolder folder(settings_.folder, NodeId{*number});
        const auto agent = folder.agent();
        held.push_back(
            {.node = NodeId{*number}, .agent_alive = agent && host::open_process(*agent).has_value()});
        folder.limit_log(settings_.log_bytes_max);
    }
    std::ranges::sort(held, {}, &Held::node);
    return held;
}

}  // namespace lavant::nodes_local
