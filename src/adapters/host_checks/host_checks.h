#pragma once
// Looks at this machine for `lavant doctor`: what is there for jobs, what is not, what that changes, and the
// command that turns it on. Changes nothing. Ends within about two seconds, whatever other programs do.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/cgroups.h"
#include "ports/host_check.h"

namespace lavant::host_checks {

struct HostQuery {
    std::string data;  // folder of the embedded server; need not exist
    std::function<std::string(const std::string&)> variable;
    std::string protections;      // of a trial sandbox (ports::Sandbox); "": it could not be made
    std::string protections_off;  // why it could not
    std::string gpus = {};        // what the setting of that name says; "": nothing
};
std::vector<ports::HostCheck> check_host(const HostQuery& query);

// --- the parts, for their tests ---

struct KernelFacts {
    std::string release;  // "6.1.0-13-amd64"
    bool is_root = false;
    std::string userns_clone;  // texts of /proc/sys files, "" where absent
    std::string apparmor_userns;
    std::string max_userns;
    std::string filesystems;  // of /proc/filesystems
    host::CgroupPlace cgroups;
    bool cgroups_writable = false;
    std::string controllers;  // that may be used below our cgroup
};
KernelFacts read_kernel_facts();
std::vector<ports::HostCheck> judge_kernel(const KernelFacts& facts);

struct DiskFacts {
    std::string data;
    std::string existing;  // the folder itself, or the nearest above it that is there
    bool writable = false;
    std::uint64_t free_bytes = 0;
};
DiskFacts read_disk_facts(const std::string& data);
ports::HostCheck judge_disk(const DiskFacts& facts);
ports::HostCheck judge_protections(const HostQuery& query);
ports::HostCheck judge_proxy(const HostQuery& query);

std::vector<ports::HostCheck> check_programs(const HostQuery& query);
// "sudo apt install podman", by the package manager that is there.
std::string install_command(const std::string& package);

}  // namespace lavant::host_checks
