#include "cli/server_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/disk_use.h"
#include "cli/fingerprint.h"
#include "cli/local_server.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kWhole = 10'000;

// "jobsRunning" -> "jobs running"
std::string in_words(std::string_view key) { return key == "dataBytes" ? "data size" : part_words(key, ' '); }

// The line that people compare at `lavant login`.
std::string fingerprint(const Context& context, const std::string& ca_file) {
    return ca_file.empty() ? "" : fingerprint_of_file(ca_file, context.crypto);
}

}  // namespace

Outcome<Exit> bring_up(Context& context, const ServerChoice& choice, int port) {
    LAVANT_TRY(const std::string data, data_folder(context, choice.data));
    LAVANT_TRY(const Started found, find_or_start_local_server(context, {data, port, false}));
    const std::string& url = found.server.address.url;
    if (port != 0 && !url.ends_with(":" + std::to_string(port)))
        return stop(
            Exit::Refused, ErrorCode::Conflict,
            fmt::format("the local server runs at {}, not at port {}; end it first: lavant down", url, port));
    context.console.out << fmt::format("{} at {}, data in {}\n",
                                       found.started ? "started" : "already running",
                                       found.server.address.url, data);
    if (const std::string text = fingerprint(context, found.server.address.ca_file); !text.empty())
        context.console.out << "ca fingerprint  " << text << "\n";
    context.console.out.flush();
    return Exit::Completed;
}

namespace {

constexpr int kCountedMax = 100;  // jobs on one page

// Jobs in any of these states, up to a page of each.
int count_jobs(Session& session, std::initializer_list<const char*> statuses) {
    int count = 0;
    for (const char* status : statuses) {
        const auto page = session.get(session.workspace_path(
            fmt::format("/jobs?listViewType=All&status={}&%24top={}", status, kCountedMax)));
        if (page) count += static_cast<int>((*page)["value"].size());
    }
    return count;
}

int count_running(Session& session) {
    return count_jobs(session, {"Running", "Preparing", "Finalizing", "CancelRequested"});
}

std::string jobs(int count) {
    return fmt::format("{}{} {}", count, count >= kCountedMax ? " or more" : "", count == 1 ? "job" : "jobs");
}

Session session_of(LocalServer server) {
    server.address.workspace = default_workspace();
    return {std::move(server.client), std::move(server.address)};
}

void describe_local(LocalServer server, Json& status) {
    status.set("url", server.address.url)
        .set("pid", server.pid)
        .set("version", server.build.version)
        .set("since", server.since)
        .set("mode", !server.is_embedded       ? "lavant serve"
                     : server.leaves_when_idle ? "leaves when idle"
                                               : "stays until lavant down");
    Session session = session_of(std::move(server));
    status.set("jobsRunning", count_running(session)).set("jobsQueued", count_jobs(session, {"Queued"}));
    if (const auto nodes = session.get(session.own_path("/nodes")))
        status.set("nodes", (*nodes)["value"].size());
}

}  // namespace

Outcome<Exit> take_down(Context& context, const ServerChoice& choice) {
    LAVANT_TRY(const std::string data, data_folder(context, choice.data));
    int running = 0;
    int queued = 0;
    if (auto server = find_local_server(context, data)) {
        Session session = session_of(std::move(*server));
        running = count_running(session);
        queued = count_jobs(session, {"Queued"});
    }
    LAVANT_TRY(const bool stopped, stop_local_server(context, data));
    context.console.out << (stopped ? "stopped the server of " : "no server runs for ") << data << "\n";
    if (stopped && running > 0)
        context.console.out << fmt::format(
            "{} {} on without it for 10 minutes at most; the next command that needs a server takes over\n",
            jobs(running), running == 1 ? "goes" : "go");
    if (stopped && queued > 0)
        context.console.out << fmt::format("{} {} for a server\n", jobs(queued),
                                           queued == 1 ? "waits" : "wait");
    context.console.out.flush();
    return Exit::Completed;
}

Outcome<Exit> show_status(Context& context, const ServerChoice& choice, const Output& output) {
    const ServerInUse used = server_in_use(context, choice);
    const std::string embedded =
        used.kind == ServerInUse::Kind::Endpoint ? embedded_behind(context, used.name) : "";
    Json status = Json::object();
    std::string ca_file;
    if (used.kind != ServerInUse::Kind::Local && embedded.empty()) {
        LAVANT_TRY(Session session, connect(context, choice));
        ports::ClientRequest request;
        request.url = "/health";
        LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
        status.set("server", answer.status == 200 ? "running" : "not ready");
        if (!session.address().context.empty()) status.set("context", session.address().context);
        status.set("url", session.address().url);
        ca_file = session.address().ca_file;
    } else {
        LAVANT_TRY(const std::string data, data_folder(context, choice.data));
        auto server = find_local_server(context, data);
        status.set("server", server ? "running" : "not running").set("data", data);
        if (server) ca_file = server->address.ca_file;
        if (!server) status.set("next", "starts with the next command that needs it");
        if (server) describe_local(std::move(*server), status);
        const DiskUse use = measure_disk_use(data);
        status.set("dataBytes", use.bytes);
        if (!use.is_whole) status.set("dataBytesAtLeast", true);
    }
    if (const std::string text = fingerprint(context, ca_file); !text.empty())
        status.set("caFingerprint", text);
    LAVANT_TRY_VOID(print(status, output, context.console, [&] {
        std::vector<std::pair<std::string, std::string>> fields;
        for (const auto& [key, value] : status.members())
            fields.emplace_back(in_words(key),
                                key == "dataBytes"
                                    ? describe_bytes(static_cast<std::uint64_t>(value.integer()))
                                    : value.scalar_text());
        return render_fields(fields, kWhole);  // Paths are copied: they stay in one piece.
    }));
    return status["server"].text() == "running" ? Exit::Completed : Exit::Unreachable;
}

}  // namespace lavant::cli
