#include "adapters/nodes_local/node_folder.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/files.h"
#include "base/text.h"

namespace lavant::nodes_local {
namespace {

constexpr std::size_t kFileBytesMax = 64U << 10;

// Renamed into place, not synced: after a power cut there is no agent the file could speak of.
Result<void> put_file(const std::string& path, std::string_view text) {
    const std::string beside = path + ".new";
    LAVANT_TRY(Fd file, open_file(beside, O_WRONLY | O_CREAT | O_TRUNC));
    LAVANT_TRY_VOID(write_all(file.get(), text).map_error(in(beside)));
    if (::rename(beside.c_str(), path.c_str()) != 0)
        return fail(system_error("rename to '" + path + "'", errno));
    return {};
}

std::string boot_id() {
    const auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
    return text ? std::string(trim(*text)) : "unknown";
}

}  // namespace

NodeFolder::NodeFolder(const std::string& base, NodeId node)
    : path_(base + "/" + std::to_string(node.value)) {}

Result<void> NodeFolder::write_order(const ports::NodeOrder& order) const {
    const Resources& resources = order.what.resources;
    const std::string text = "{\"node\": " + std::to_string(order.what.node.value) +
                             ", \"pool\": " + std::to_string(order.what.pool.value) +
                             ", \"size\": " + json_quote(order.what.size) +
                             ", \"cpu_millis\": " + std::to_string(resources.cpu_millis) +
                             ", \"memory_bytes\": " + std::to_string(resources.memory_bytes) +
                             ", \"gpus\": " + std::to_string(resources.gpus) +
                             ", \"gpu_names\": " + json_quote(order.what.gpus) + "}\n";
    LAVANT_TRY_VOID(put_file(path_ + "/order", text));
    return put_file(path_ + "/token", order.enrol_token);
}

Result<void> NodeFolder::write_agent(const host::ProcessMark& mark) const {
    return put_file(path_ + "/agent.pid", std::to_string(mark.pid) + " " + std::to_string(mark.start_ticks) +
                                              " " + boot_id() + "\n");
}

std::optional<host::ProcessMark> NodeFolder::agent() const {
    const auto text = read_file(path_ + "/agent.pid", kFileBytesMax);
    if (!text) return std::nullopt;
    const auto words = split(trim(*text), ' ');
    if (words.size() != 3 || words[2] != boot_id()) return std::nullopt;
    const auto pid = parse_integer(words[0]);
    const auto ticks = parse_integer(words[1]);
    if (!pid || !ticks || *pid <= 0) return std::nullopt;
    return host::ProcessMark{.pid = static_cast<pid_t>(*pid),
                             .start_ticks = static_cast<std::uint64_t>(*ticks)};
}

Result<void> NodeFolder::write_cgroup(const host::CgroupPlace& place) const {
    return put_file(path_ + "/cgroup",
                    place.unified + "\n" + place.memory + "\n" + place.cpu + "\n" + place.pids + "\n");
}

std::optional<host::CgroupPlace> NodeFolder::cgroup() const {
    const auto text = read_file(path_ + "/cgroup", kFileBytesMax);
    if (!text) return std::nullopt;
    const auto lines = split(*text, '\n');
    if (lines.size() < 4 || !exists(std::string(lines[0]) + "/cgroup.procs")) return std::nullopt;
    return host::CgroupPlace{.unified = std::string(lines[0]),
                             .memory = std::string(lines[1]),
                             .cpu = std::string(lines[2]),
                             .pids = std::string(lines[3])};
}

void NodeFolder::limit_log(std::uint64_t bytes_max) const {
    struct stat found {};
    if (::stat(log_file().c_str(), &found) != 0 || static_cast<std::uint64_t>(found.st_size) <= bytes_max)
        return;
    // Copied and cut, not renamed: the agent holds the file open, for appending.
    const Fd from(::open(log_file().c_str(), O_RDWR | O_CLOEXEC));
    const Fd to(::open((log_file() + ".1").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!from || !to) return;
    off_t offset = found.st_size - static_cast<off_t>(bytes_max);
    while (::sendfile(to.get(), from.get(), &offset, bytes_max) > 0) {
    }
    static_cast<void>(::ftruncate(from.get(), 0) == 0);
}

}  // namespace lavant::nodes_local
