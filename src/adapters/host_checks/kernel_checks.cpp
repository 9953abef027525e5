#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/host_checks/host_checks.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::host_checks {
namespace {

using ports::HostCheck;
using Mark = HostCheck::Mark;

constexpr std::pair<int, int> kNeeded{5, 3};  // processes by descriptor
constexpr std::pair<int, int> kAll{5, 12};    // mounts that map users
constexpr std::size_t kSmallFile = 64U << 10;

std::string small_file(const std::string& path) {
    const auto text = read_file(path, kSmallFile);
    return text ? std::string(trim(*text)) : "";
}

std::pair<int, int> version_of(std::string_view release) {
    const auto parts = split(release, '.');
    const auto number = [&](std::size_t i) {
        const std::string_view part = i < parts.size() ? parts[i] : "";
        const std::size_t end = std::min(part.find_first_not_of("0123456789"), part.size());
        return static_cast<int>(parse_integer(part.substr(0, end)).value_or(0));
    };
    return {number(0), number(1)};
}

HostCheck judge_release(const KernelFacts& facts) {
    const std::string found = "Linux " + facts.release;
    const auto version = version_of(facts.release);
    if (version < kNeeded)
        return {"kernel", Mark::Bad, found, "jobs need Linux 5.3 or later", "upgrade the system"};
    if (version < kAll)
        return {"kernel", Mark::Off, found, "before Linux 5.12 inputs are copied for each user of a job", ""};
    return {"kernel", Mark::Ok, found, "", ""};
}

HostCheck judge_cgroups(const KernelFacts& facts) {
    const host::CgroupPlace& place = facts.cgroups;
    const bool limits_in_v1 = !place.memory.empty() || !place.cpu.empty();
    HostCheck check{"cgroups", Mark::Ok, "", "", ""};
    if (place.unified.empty() && !limits_in_v1) {
        check = {"cgroups", Mark::Off, "none", "the sizes of jobs are not kept: no limit of memory or CPUs",
                 "mount -t cgroup2 none /sys/fs/cgroup"};
        return check;
    }
    const std::string layout = place.unified_has_controllers ? "v2" : limits_in_v1 ? "v1 for limits" : "v2";
    check.found = layout + (facts.controllers.empty() ? "" : " with " + facts.controllers);
    if (!facts.cgroups_writable) {
        check.mark = Mark::Off;
        check.found += ", not delegated to this user";
        check.effect =
            "the sizes of jobs are kept by process limits only, and their peak memory is not known";
        if (!facts.is_root)  // systemd delegates v2 alone
            check.remedy = place.unified_has_controllers
                               ? "systemd-run --user --scope -p Delegate=yes lavant up"
                               : "boot with systemd.unified_cgroup_hierarchy=1";
    } else if (facts.controllers.find("memory") == std::string::npos && !limits_in_v1) {
        check.mark = Mark::Off;
        check.effect = "without the memory controller a job may take more memory than its size has";
    }
    return check;
}

HostCheck judge_user_namespaces(const KernelFacts& facts) {
    HostCheck check{"user namespaces", Mark::Off, "", "", ""};
    check.effect = "jobs are not confined: they run as you, and see what you see";
    if (facts.max_userns == "0") {
        check.found = "the limit of this machine is 0";
        check.remedy = "sudo sysctl -w user.max_user_namespaces=15000";
    } else if (facts.userns_clone == "0") {
        check.found = "switched off for ordinary users";
        check.remedy = "sudo sysctl -w kernel.unprivileged_userns_clone=1";
    } else if (facts.apparmor_userns == "1") {
        check.found = "restricted by AppArmor for ordinary users";
        check.remedy = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
    } else {
        return {"user namespaces", Mark::Ok, "allowed", "", ""};
    }
    if (facts.is_root) return {"user namespaces", Mark::Ok, check.found + "; root needs none", "", ""};
    return check;
}

HostCheck judge_overlay(const KernelFacts& facts) {
    const auto lines = split(facts.filesystems, '\n');
    const bool there =
        std::ranges::any_of(lines, [](std::string_view line) { return line.ends_with("\toverlay"); });
    if (there) return {"overlayfs", Mark::Ok, "known to the kernel", "", ""};
    return {"overlayfs", Mark::Off, "not loaded", "each job gets a copy of its code, which takes longer",
            "sudo modprobe overlay"};
}

}  // namespace

KernelFacts read_kernel_facts() {
    KernelFacts facts;
    ::utsname name{};
    if (::uname(&name) == 0) facts.release = name.release;
    facts.is_root = ::geteuid() == 0;
    facts.userns_clone = small_file("/proc/sys/kernel/unprivileged_userns_clone");
    facts.apparmor_userns = small_file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    facts.max_userns = small_file("/proc/sys/user/max_user_namespaces");
    if (const auto text = read_file("/proc/filesystems", kSmallFile)) facts.filesystems = *text;
    facts.cgroups = host::own_cgroup_place();
    const host::CgroupPlace& place = facts.cgroups;
    if (place.unified_has_controllers) {
        facts.controllers = small_file(place.unified + "/cgroup.controllers");
        facts.cgroups_writable = ::access(place.unified.c_str(), W_OK) == 0;
        return facts;
    }
    const std::pair<const char*, const std::string&> v1[] = {
        {"memory", place.memory}, {"cpu", place.cpu}, {"pids", place.pids}};
    facts.cgroups_writable = !place.unified.empty() && ::access(place.unified.c_str(), W_OK) == 0;
    for (const auto& [controller, folder] : v1) {
        if (folder.empty()) continue;
        facts.controllers += (facts.controllers.empty() ? "" : " ") + std::string(controller);
        facts.cgroups_writable = facts.cgroups_writable && ::access(folder.c_str(), W_OK) == 0;
    }
    return facts;
}

std::vector<HostCheck> judge_kernel(const KernelFacts& facts) {
    return {judge_release(facts), judge_cgroups(facts), judge_user_namespaces(facts), judge_overlay(facts)};
}

}  // namespace lavant::host_checks
