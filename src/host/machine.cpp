#include "host/machine.h"

#include <sched.h>

#include <algorithm>
#include <string>

#include "base/files.h"
#include "base/text.h"
#include "host/cgroups.h"

namespace lavant::host {
namespace {

constexpr std::size_t kFileBytesMax = 1U << 20;

std::string text_of(const std::string& path) {
    auto text = read_file(path, kFileBytesMax);
    return text ? *std::move(text) : std::string();
}

std::int64_t smaller(std::int64_t value, std::int64_t limit) {
    return limit > 0 ? std::min(value, limit) : value;
}

// The hierarchy's own folder is where cgroup.procs ends to exist above.
bool is_cgroup(const std::string& folder) { return exists(folder + "/cgroup.procs"); }

void apply_v2_limits(std::string folder, Machine& machine) {
    for (; is_cgroup(folder); folder = parent_of(folder)) {
        machine.memory_bytes =
            smaller(machine.memory_bytes, parse_integer(trim(text_of(folder + "/memory.max"))).value_or(0));
        machine.cpu_millis = smaller(machine.cpu_millis, parse_cpu_max(text_of(folder + "/cpu.max")));
    }
}

void apply_v1_limits(const CgroupPlace& place, Machine& machine) {
    for (std::string folder = place.memory; !folder.empty() && is_cgroup(folder); folder = parent_of(folder))
        machine.memory_bytes =
            smaller(machine.memory_bytes,
                    parse_integer(trim(text_of(folder + "/memory.limit_in_bytes"))).value_or(0));
    for (std::string folder = place.cpu; !folder.empty() && is_cgroup(folder); folder = parent_of(folder)) {
        const auto quota = parse_integer(trim(text_of(folder + "/cpu.cfs_quota_us"))).value_or(-1);
        const auto period = parse_integer(trim(text_of(folder + "/cpu.cfs_period_us"))).value_or(0);
        if (quota > 0 && period > 0) machine.cpu_millis = smaller(machine.cpu_millis, quota * 1000 / period);
    }
}

}  // namespace

std::int64_t parse_memory_total(std::string_view meminfo) {
    for (const std::string_view line : split(meminfo, '\n')) {
        if (!line.starts_with("MemTotal:")) continue;
        std::string_view rest = trim(line.substr(9));
        if (rest.ends_with(" kB")) rest.remove_suffix(3);
        return parse_integer(trim(rest)).value_or(0) * 1024;
    }
    return 0;
}

std::int64_t parse_cpu_max(std::string_view text) {
    const auto words = split(trim(text), ' ');
    if (words.size() != 2) return 0;
    const auto quota = parse_integer(words[0]);
    const auto period = parse_integer(words[1]);
    return quota && period && *period > 0 ? *quota * 1000 / *period : 0;
}

std::vector<std::string> name_gpus(const std::vector<std::string>& device_files) {
    constexpr std::string_view kPrefix = "nvidia";
    std::vector<std::string> names;
    for (const std::string& file : device_files)
        if (file.starts_with(kPrefix) && parse_integer(std::string_view(file).substr(kPrefix.size())))
            names.push_back(std::to_string(names.size()));
    return names;
}

Machine look_at_machine() {
    Machine machine;
    machine.memory_bytes = parse_memory_total(text_of("/proc/meminfo"));
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    machine.cpu_millis =
        ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) * 1000 : 1000;
    const CgroupPlace place = own_cgroup_place();
    if (!place.unified.empty()) apply_v2_limits(place.unified, machine);
    apply_v1_limits(place, machine);
    std::vector<std::string> device_files;
    if (const auto devices = list_directory("/dev"))
        for (const DirectoryEntry& entry : *devices) device_files.push_back(entry.name);
    machine.gpus = name_gpus(device_files);
    return machine;
}

}  // namespace lavant::host
