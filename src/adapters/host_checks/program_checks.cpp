#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/host_checks/host_checks.h"
#include "adapters/host_checks/programs.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::host_checks {
namespace {

using ports::HostCheck;
using Mark = HostCheck::Mark;

constexpr std::chrono::milliseconds kProgramLimit{2'000};
constexpr std::size_t kLineChars = 120;

std::string first_line(std::string_view text) {
    return std::string(trim(text.substr(0, text.find('\n')))).substr(0, kLineChars);
}

// What a program said of itself, or that it did not.
std::string version_in(const ProgramAnswer& answer) {
    if (!answer.in_time) return "there, but did not answer within 2 s";
    const std::string line = first_line(answer.output);
    return line.empty() ? "there, but it does not tell its version" : line;
}

HostCheck judge_engine(const std::string& name, const std::string& path, const ProgramAnswer& version,
                       const std::string& remedy) {
    const std::string effect = "nothing yet: images are not run in containers in this version";
    if (path.empty()) return {name, Mark::Off, "not found", effect, ""};
    if (version.fine() && !version.output.empty())
        return {name, Mark::Ok, first_line(version.output) + ", usable", "", ""};
    return {name, Mark::Off,
            version.in_time ? "there, but it does not work for this user"
                            : "there, but did not answer within 2 s",
            effect, remedy};
}

HostCheck judge_python(const std::string& path, const ProgramAnswer& answer) {
    const std::string effect = "jobs that run Python find none";
    if (path.empty())
        return {"python", Mark::Off, "python3 not found", effect, install_command("python3-venv")};
    if (!answer.fine()) return {"python", Mark::Off, path + " does not run", effect, path + " --version"};
    const auto lines = split(answer.output, '\n');
    const std::string modules = lines.size() > 1 ? std::string(lines[1]) : "";
    const std::string found = "Python " + first_line(answer.output) + " (" + path + ")";
    if (modules.find("venv") != std::string::npos && modules.find("ensurepip") != std::string::npos)
        return {"python", Mark::Ok, found + " with venv", "", ""};
    return {"python", Mark::Off, found + " without venv",
            "it runs scripts, but an environment cannot be built with it", install_command("python3-venv")};
}

// One of several that do the same.
HostCheck judge_conda(const std::vector<std::pair<std::string, ProgramAnswer>>& tools) {
    for (const auto& [name, answer] : tools) {
        if (!answer.ran) continue;
        const std::string version = version_in(answer);
        return {"conda", Mark::Ok, version.starts_with(name) ? version : name + " " + version, "", ""};
    }
    return {"conda", Mark::Off, "neither micromamba nor conda found",
            "nothing yet: environments are not built in this version", ""};
}

HostCheck judge_optional(const std::string& name, const std::string& path, const ProgramAnswer& answer,
                         const std::string& effect, const std::string& remedy) {
    if (path.empty()) return {name, Mark::Off, "not found", effect, remedy};
    return {name, Mark::Ok, version_in(answer), "", ""};
}

int count_devices(const std::string& folder, std::string_view prefix) {
    const auto entries = list_directory(folder);
    if (!entries) return 0;
    return static_cast<int>(std::ranges::count_if(*entries, [&](const DirectoryEntry& entry) {
        const std::string_view rest =
            std::string_view(entry.name).substr(std::min(prefix.size(), entry.name.size()));
        return entry.name.starts_with(prefix) && !rest.empty() &&
               rest.find_first_not_of("0123456789") == std::string_view::npos;
    }));
}

HostCheck judge_gpus(const std::string& path, const ProgramAnswer& answer) {
    const int devices = count_devices("/dev", "nvidia");
    const int others = count_devices("/dev/dri", "renderD");
    if (answer.fine() && !answer.output.empty()) {
        const auto lines = split(answer.output, '\n');
        return {"gpus", Mark::Ok, fmt::format("{}: {}", lines.size(), first_line(answer.output)), "", ""};
    }
    const std::string effect = "jobs that ask for a GPU run without one here";
    if (devices > 0)
        return {"gpus", Mark::Off,
                fmt::format("{} NVIDIA devices, but nvidia-smi {}", devices,
                            path.empty() ? "is not there" : "fails"),
                effect, "install the driver's programs, then: nvidia-smi"};
    if (!path.empty()) return {"gpus", Mark::Off, "nvidia-smi finds none", effect, "nvidia-smi"};
    if (others > 0)
        return {"gpus", Mark::Off, fmt::format("{} render devices, none of NVIDIA", others), effect, ""};
    return {"gpus", Mark::Off, "none", effect, ""};
}

}  // namespace

std::string install_command(const std::string& package) {
    for (const auto& [program, command] :
         {std::pair("/usr/bin/apt-get", "sudo apt install "), std::pair("/usr/bin/dnf", "sudo dnf install "),
          std::pair("/usr/bin/zypper", "sudo zypper install "), std::pair("/sbin/apk", "sudo apk add "),
          std::pair("/usr/bin/pacman", "sudo pacman -S ")}) {
        if (::access(program, X_OK) == 0) return command + package;
    }
    return "install " + package;
}

std::vector<HostCheck> check_programs(const HostQuery& query) {
    const std::string path = query.variable("PATH");
    const std::pair<const char*, std::vector<std::string>> asks[] = {
        {"podman", {"version", "--format", "podman {{.Client.Version}}"}},
        {"docker", {"version", "--format", "docker {{.Server.Version}}"}},
        {"python3",
         {"-c",
          "import sys,importlib.util as u;print('.'.join(map(str,sys.version_info[:3])));"
          "print(' '.join(m for m in('venv','ensurepip')if u.find_spec(m)))"}},
        {"uv", {"--version"}},
        {"micromamba", {"--version"}},
        {"conda", {"--version"}},
        {"nvidia-smi", {"--query-gpu=name,memory.total", "--format=csv,noheader"}},
        {"git", {"--version"}},
        {"ssh", {"-G", "localhost"}},  // `ssh -V` speaks on standard error
        {"sinfo", {"--version"}},
        {"kubectl", {"version", "--client"}},
    };
    std::vector<std::string> paths;
    std::vector<ProgramAsk> list;
    for (const auto& [name, arguments] : asks) {
        paths.push_back(find_program(name, path));
        list.push_back({paths.back(), arguments});
    }
    const std::vector<ProgramAnswer> answers = run_programs(list, kProgramLimit);
    HostCheck ssh = judge_optional("ssh", paths[8], answers[8],
                                   "nothing yet: machines are not reached by SSH in this version", "");
    if (!paths[8].empty()) ssh.found = paths[8];
    return {judge_engine("podman", paths[0], answers[0], "podman info"),
            judge_engine("docker", paths[1], answers[1],
                         "sudo systemctl start docker; sudo usermod -aG docker $USER"),
            judge_python(paths[2], answers[2]),
            judge_optional("uv", paths[3], answers[3],
                           "nothing yet: environments are not built in this version", ""),
            judge_conda({{"micromamba", answers[4]}, {"conda", answers[5]}}),
            query.gpus.empty() ? judge_gpus(paths[6], answers[6])
                               : HostCheck{"gpus", Mark::Ok, query.gpus + ", by the setting gpus", "", ""},
            judge_optional("git", paths[7], answers[7], "jobs do not tell which commit they came from",
                           install_command("git")),
            std::move(ssh),
            judge_optional("slurm", paths[9], answers[9],
                           "nothing yet: Slurm clusters are not used in this version", ""),
            judge_optional("kubectl", paths[10], answers[10],
                           "nothing yet: Kubernetes clusters are not used in this version", "")};
}

}  // namespace lavant::host_checks
