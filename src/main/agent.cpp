#include "main/agent.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "adapters/agent_link/agent_link.h"
#include "adapters/sandbox_linux/linux_sandbox.h"
#include "agent/loop.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "host/machine.h"
#include "main/system_clock.h"
#include "main/version.h"
#include "wire/json.h"

namespace lavant {
namespace {

constexpr int kUsage = 2;
constexpr const char* kUsageLine =
    "usage: lavant agent --node N --folder /DIR --server URL --ca FILE [--token-file FILE] "
    "[--memory-bytes N] [--no-sandbox] [--no-cgroups]";
constexpr uid_t kFirstUser = 200'000;
constexpr std::int64_t kNodesWithOwnUsers = 10'000;

struct Arguments {
    std::int64_t node = 0;
    std::string folder;
    std::string server;
    std::string ca_file;
    std::string token_file;
    std::int64_t memory_bytes = 0;
    bool sandbox = true;
    bool cgroups = true;
};

Result<Arguments> parse(const std::vector<std::string>& words) {
    Arguments found;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& flag = words[i];
        if (flag == "--no-sandbox") {
            found.sandbox = false;
            continue;
        }
        if (flag == "--no-cgroups") {
            found.cgroups = false;
            continue;
        }
        if (i + 1 == words.size()) return fail(ErrorCode::InvalidArgument, "'" + flag + "' needs a value");
        const std::string& value = words[++i];
        const auto number = [&](std::int64_t& into) {
            const auto parsed = parse_integer(value);
            if (parsed) into = *parsed;
            return parsed.has_value();
        };
        const bool good = flag == "--node"           ? number(found.node)
                          : flag == "--memory-bytes" ? number(found.memory_bytes)
                          : flag == "--folder"       ? (found.folder = value, true)
                          : flag == "--server"       ? (found.server = value, true)
                          : flag == "--ca"           ? (found.ca_file = value, true)
                          : flag == "--token-file"   ? (found.token_file = value, true)
                                                     : false;
        if (!good) return fail(ErrorCode::InvalidArgument, "'" + flag + " " + value + "' is not understood");
    }
    if (found.node <= 0 || !found.folder.starts_with('/') || found.server.empty() || found.ca_file.empty())
        return fail(ErrorCode::InvalidArgument, kUsageLine);
    if (found.token_file.empty()) found.token_file = found.folder + "/token";
    return found;
}

std::string random_name() {
    std::string bytes(8, '\0');
    const Result<Fd> source = open_file("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (!source || ::read(source->get(), bytes.data(), bytes.size()) != 8) bytes = std::to_string(::getpid());
    return to_hex(bytes);
}

// What the provider ordered for this node.
struct Order {
    Resources resources;
    std::string gpus;
};

Order read_order(const std::string& folder) {
    const Result<std::string> text = read_file(folder + "/order", 64U << 10);
    const Result<wire::Json> order = text ? wire::parse_json(*text) : Result<wire::Json>(wire::Json());
    if (!order) return {};
    return {.resources = {.cpu_millis = (*order)["cpu_millis"].integer(),
                          .memory_bytes = (*order)["memory_bytes"].integer(),
                          .gpus = static_cast<int>((*order)["gpus"].integer())},
            .gpus = (*order)["gpu_names"].string()};
}

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

Result<void> run(const Arguments& arguments) {
    LAVANT_TRY_VOID(make_directories(arguments.folder));
    // Before anything that could start a thread: as an ordinary user it enters a user namespace.
    LAVANT_TRY(const std::unique_ptr<sandbox_linux::LinuxSandbox> sandbox,
               sandbox_linux::LinuxSandbox::make(
                   {.folder = arguments.folder + "/sandbox",
                    .name = "node-" + std::to_string(arguments.node),
                    .first_user = kFirstUser + static_cast<uid_t>(arguments.node % kNodesWithOwnUsers) *
                                                   limits::kTasksPerNode,
                    .tasks_max = limits::kTasksPerNode,
                    .allow_namespaces = arguments.sandbox,
                    .allow_cgroups = arguments.cgroups,
                    .memory_bytes = arguments.memory_bytes}));
    LAVANT_TRY(const std::unique_ptr<adapters::AgentLink> link,
               adapters::AgentLink::make({.server_url = arguments.server, .ca_file = arguments.ca_file}));
    SystemClock clock;
    const std::string machine_boot(
        trim(read_file("/proc/sys/kernel/random/boot_id", 256).value_or("unknown")));
    const Order order = read_order(arguments.folder);
    agent::LoopSettings settings{
        .node = {arguments.node},
        .folder = arguments.folder,
        .server_url = arguments.server,
        .ca_file = arguments.ca_file,
        .enrol_token = std::string(trim(read_file(arguments.token_file, 4096).value_or(""))),
        .boot = machine_boot + "." + random_name(),
        .machine_boot = machine_boot,
        // Until nodes have networks of their own, those on the server's machine meet on its loopback.
        .host = is_loopback_url(arguments.server) ? "127.0.0.1" : host_name(),
        .resources = order.resources,
        .gpus = order.gpus,
        .machine_has_gpus = !host::look_at_machine().gpus.empty(),
        .confined = arguments.sandbox};
    settings.machine.tasks_max = limits::kTasksPerNode;
    if (is_loopback_url(arguments.server)) settings.machine.wake_grace = std::chrono::seconds(60);
    agent::Loop loop(std::move(settings), {*link, *link, *sandbox, clock});
    LAVANT_TRY_VOID(loop.start());
    log(Level::Info, "agent_started",
        {{"node", std::to_string(arguments.node)}, {"protections", sandbox->protections()}});
    link->run();
    log(Level::Info, "agent_left", {{"node", std::to_string(arguments.node)}});
    return {};
}

}  // namespace

int run_agent(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--version"}) {
        std::printf("lavant-agent %s\n", kVersion);
        return 0;
    }
    if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
        std::printf("%s\n\nRuns a node; the server starts it where the node is to be.\n", kUsageLine);
        return 0;
    }
    const Result<Arguments> arguments = parse(words);
    if (!arguments) {
        std::fprintf(stderr, "lavant: %s\n", arguments.error().message.c_str());
        return kUsage;
    }
    const Result<void> result = run(*arguments);
    if (result) return 0;
    log(Level::Error, "agent_failed", {{"error", result.error().message}});
    return 1;
}

}  // namespace lavant
