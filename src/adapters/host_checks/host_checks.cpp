#include "adapters/host_checks/host_checks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "host/machine.h"

namespace lavant::host_checks {
namespace {

using ports::HostCheck;
using Mark = HostCheck::Mark;

constexpr std::uint64_t kDiskFloor = 256ULL << 20;  // below it the server takes no new job
constexpr std::uint64_t kDiskScarce = 5ULL << 30;
constexpr const char* kBundles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                    "/etc/ssl/cert.pem"};

std::string gibibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1ULL << 30));
}

HostCheck check_machine() {
    const host::Machine machine = host::look_at_machine();
    return {"machine", Mark::Ok,
            fmt::format("{:g} CPUs, {} memory", static_cast<double>(machine.cpu_millis) / 1000,
                        gibibytes(static_cast<std::uint64_t>(machine.memory_bytes))),
            "", ""};
}

HostCheck check_shell() {
    if (::access("/bin/bash", X_OK) == 0) return {"shell", Mark::Ok, "/bin/bash", "", ""};
    return {"shell", Mark::Bad, "there is no /bin/bash", "a job's command cannot run",
            install_command("bash")};
}

HostCheck check_loopback() {
    const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (probe && ::bind(probe.get(), reinterpret_cast<const ::sockaddr*>(&place), sizeof place) == 0 &&
        ::listen(probe.get(), 1) == 0)
        return {"network", Mark::Ok, "a port on 127.0.0.1 can be opened", "", ""};
    return {"network", Mark::Bad,
            fmt::format("no port on 127.0.0.1 can be opened ({})", std::strerror(errno)),
            "the embedded server cannot be reached", "sudo ip link set lo up"};
}

HostCheck check_certificates(const HostQuery& query) {
    std::vector<std::string> files{query.variable("SSL_CERT_FILE")};
    files.insert(files.end(), std::begin(kBundles), std::end(kBundles));
    for (const std::string& file : files)
        if (!file.empty() && ::access(file.c_str(), R_OK) == 0)
            return {"certificates", Mark::Ok, file, "", ""};
    return {"certificates", Mark::Off, "no bundle of authorities found",
            "nothing can be fetched over HTTPS: packages, images, data", install_command("ca-certificates")};
}

HostCheck check_clock() {
    ::timex state{};
    const int code = ::adjtimex(&state);
    if (code >= 0 && code != TIME_ERROR && (state.status & STA_UNSYNC) == 0)
        return {"clock", Mark::Ok, "synchronised", "", ""};
    return {"clock", Mark::Off, "the kernel does not know that it is synchronised",
            "tokens bear five minutes of difference between machines, not more",
            "sudo timedatectl set-ntp true"};
}

HostCheck check_zones() {
    if (exists("/usr/share/zoneinfo/Europe/Berlin"))
        return {"time zones", Mark::Ok, "/usr/share/zoneinfo", "", ""};
    return {"time zones", Mark::Off, "no zone data", "schedules in a zone other than UTC cannot run",
            install_command("tzdata")};
}

}  // namespace

DiskFacts read_disk_facts(const std::string& data) {
    DiskFacts facts{data, data, false, 0};
    while (!exists(facts.existing) && facts.existing.size() > 1) facts.existing = parent_of(facts.existing);
    struct ::stat about {};
    facts.writable = ::stat(facts.existing.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
                     ::access(facts.existing.c_str(), W_OK | X_OK) == 0;
    struct ::statvfs space {};
    if (::statvfs(facts.existing.c_str(), &space) == 0)
        facts.free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    return facts;
}

HostCheck judge_disk(const DiskFacts& facts) {
    HostCheck check{"data folder", Mark::Ok, facts.data + ", " + gibibytes(facts.free_bytes) + " free", "",
                    ""};
    if (!facts.writable) {
        check.mark = Mark::Bad;
        check.found = facts.data + " cannot be written";
        check.effect = "the embedded server cannot start";
        check.remedy = "lavant config set data DIR";
    } else if (facts.free_bytes < kDiskFloor) {
        check.mark = Mark::Bad;
        check.effect = "below 256 MiB no new job is taken";
        check.remedy = "free some space, or: lavant config set data DIR";
    } else if (facts.free_bytes < kDiskScarce) {
        check.mark = Mark::Off;
        check.effect = "little room for environments, code and outputs";
        check.remedy = "lavant config set data DIR";
    }
    return check;
}

HostCheck judge_protections(const HostQuery& query) {
    if (query.protections.empty())
        return {"protections", Mark::Off, "unknown: " + query.protections_off,
                "jobs may run without confinement", ""};
    const std::string& text = query.protections;
    const std::size_t off = text.find("off: ");
    if (off == std::string::npos) return {"protections", Mark::Ok, text, "", ""};
    std::string_view on = trim(std::string_view(text).substr(0, off));
    if (on.ends_with(';')) on.remove_suffix(1);
    return {"protections", Mark::Off, on.empty() ? "none" : std::string(on),
            "without: " + text.substr(off + std::string_view("off: ").size()), ""};
}

HostCheck judge_proxy(const HostQuery& query) {
    for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        std::string url = query.variable(name);
        if (url.empty()) continue;
        // A proxy's password is nobody's business on a screen.
        const std::size_t from = url.find("://") == std::string::npos ? 0 : url.find("://") + 3;
        if (const std::size_t at = url.rfind('@'); at != std::string::npos && at > from)
            url = url.substr(0, from) + url.substr(at + 1);
        return {"proxy", Mark::Ok, fmt::format("{} is {}; this machine is reached without it", name, url), "",
                ""};
    }
    return {"proxy", Mark::Ok, "none is set", "", ""};
}

std::vector<HostCheck> check_host(const HostQuery& query) {
    std::vector<HostCheck> checks = judge_kernel(read_kernel_facts());
    for (HostCheck& one : std::vector<HostCheck>{judge_protections(query), check_machine(),
                                                 judge_disk(read_disk_facts(query.data)), check_shell()})
        checks.push_back(std::move(one));
    for (HostCheck& one : check_programs(query)) checks.push_back(std::move(one));
    for (HostCheck& one : std::vector<HostCheck>{check_loopback(), judge_proxy(query),
                                                 check_certificates(query), check_clock(), check_zones()})
        checks.push_back(std::move(one));
    return checks;
}

}  // namespace lavant::host_checks
