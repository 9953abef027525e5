#include "cli/server_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/disk_use.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::size_t kBundleBytesMax = 16U << 20;
constexpr int kWhole = 10'000;
constexpr const char* kDefaultEnvironment = "azureml:base:1";
constexpr const char* kSystemBundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                          "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

// The certificates in force before ours: what the shell names, else the system's.
std::string bundle_in_force(const Context& context, const std::string& ours) {
    std::vector<std::string> candidates{context.variable("REQUESTS_CA_BUNDLE"),
                                        context.variable("SSL_CERT_FILE"),
                                        context.variable("CURL_CA_BUNDLE")};
    candidates.insert(candidates.end(), std::begin(kSystemBundles), std::end(kSystemBundles));
    for (const std::string& path : candidates) {
        // After an earlier `eval` the variable names our own bundle: what it was made from is no longer
        // known, and appending to it again would let it grow.
        if (path.empty() || path == ours) continue;
        const auto text = read_file(path, kBundleBytesMax);
        if (text && text->find("BEGIN CERTIFICATE") != std::string::npos) return *text;
    }
    return {};
}

Outcome<void> write_bundle(const Context& context, const std::string& path, const std::string& ca_file) {
    LAVANT_TRY(const std::string ca, read_file(ca_file, kBundleBytesMax));
    const std::string before = context.variable("REQUESTS_CA_BUNDLE");
    if (before == path) {
        // Made by an earlier call from the same shell: it stays as it is while our certificate is in it.
        const auto old = read_file(path, kBundleBytesMax * 2);
        if (old && old->find(trim(ca)) != std::string::npos) return {};
    }
    std::string bundle = bundle_in_force(context, path);
    if (!bundle.empty() && bundle.back() != '\n') bundle += '\n';
    bundle += ca;
    LAVANT_TRY_VOID(write_file_atomically(path, bundle, 0644));
    return {};
}

}  // namespace

Outcome<Exit> bring_up(Context& context, const ServerChoice& choice, int port) {
    LAVANT_TRY(const std::string data, data_folder(context, choice.data));
    LAVANT_TRY(const Started found, find_or_start_local_server(context, {data, port, false}));
    context.console.out << fmt::format("{} at {}, data in {}\n",
                                       found.started ? "started" : "already running",
                                       found.server.address.url, data);
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
    const std::string configured = choice.data.empty() ? context.variable("LAVANT_ENDPOINT") : "";
    Json status = Json::object();
    if (!configured.empty()) {
        LAVANT_TRY(Session session, connect(context, {}));
        ports::ClientRequest request;
        request.url = "/health";
        LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
        status.set("server", answer.status == 200 ? "running" : "not ready")
            .set("url", session.address().url);
    } else {
        LAVANT_TRY(const std::string data, data_folder(context, choice.data));
        auto server = find_local_server(context, data);
        status.set("server", server ? "running" : "not running").set("data", data);
        if (!server) status.set("next", "starts with the next command that needs it");
        if (server) describe_local(std::move(*server), status);
        const DiskUse use = measure_disk_use(data);
        status.set("dataBytes", use.bytes);
        if (!use.is_whole) status.set("dataBytesAtLeast", true);
    }
    LAVANT_TRY_VOID(print(status, output, context.console, [&] {
        std::vector<std::pair<std::string, std::string>> fields;
        for (const auto& [key, value] : status.members())
            fields.emplace_back(key, key == "dataBytes"
                                         ? describe_bytes(static_cast<std::uint64_t>(value.integer()))
                                         : value.scalar_text());
        return render_fields(fields, kWhole);  // Paths are copied: they stay in one piece.
    }));
    return status["server"].text() == "running" ? Exit::Completed : Exit::Unreachable;
}

Outcome<Exit> print_environment(Context& context, const ServerChoice& choice) {
    LAVANT_TRY(const Session session, connect(context, choice));
    const ServerAddress& address = session.address();
    LAVANT_TRY(const std::string data, data_folder(context, choice.data));
    std::string bundle = address.ca_file;
    if (!address.ca_file.empty()) {
        LAVANT_TRY_VOID(make_directories(data));
        bundle = data + "/ca-bundle.pem";
        LAVANT_TRY_VOID(write_bundle(context, bundle, address.ca_file));
    }
    const std::string environment = context.variable("LAVANT_ENV");
    const std::pair<const char*, std::string> lines[] = {
        {"ARM_CLOUD_METADATA_URL", address.url + "/metadata/endpoints?api-version=2020-09-01"},
        {"REQUESTS_CA_BUNDLE", bundle},
        {"IDENTITY_ENDPOINT", address.url + "/msi/token"},
        {"IDENTITY_HEADER", address.token},
        {"MLFLOW_TRACKING_URI", address.url + "/mlflow/v1.0" + session.workspace_path()},
        {"MLFLOW_TRACKING_TOKEN", address.token},
        {"LAVANT_ENDPOINT", address.url},
        {"LAVANT_CA", address.ca_file},
        {"LAVANT_TOKEN", address.token},
        {"LAVANT_SUB", address.workspace.subscription},
        {"LAVANT_RG", address.workspace.resource_group},
        {"LAVANT_WS", address.workspace.name},
        {"LAVANT_ENV", environment.empty() ? kDefaultEnvironment : environment},
    };
    for (const auto& [name, value] : lines)
        context.console.out << "export " << name << "=" << shell_quote(value) << "\n";
    context.console.out.flush();
    return Exit::Completed;
}

Outcome<Exit> create_key(Session& session, const Console& console, const std::string& user) {
    LAVANT_TRY(const Json made, session.post(session.own_path("/keys"), Json::object({{"user", user}})));
    console.out << made["key"].text() << "\n";
    console.out.flush();
    console.err << fmt::format("key {} of {}; it is shown only this once\n",
                               printable(made["id"].scalar_text()), printable(user));
    return Exit::Completed;
}

Outcome<Exit> list_keys(Session& session, const Console& console, const Output& output) {
    LAVANT_TRY(const Json answer, session.get(session.own_path("/keys")));
    const Json& keys = answer["value"];
    LAVANT_TRY_VOID(print(keys, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& key : keys.items()) {
            rows.push_back({printable(key["id"].scalar_text()), printable(key["user"].text()),
                            printable(key["role"].text()), printable(key["createdAt"].text().substr(0, 19))});
        }
        return render_table({{"ID"}, {"USER", Cut::First}, {"ROLE"}, {"CREATED (UTC)"}}, rows, console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> revoke_key(Session& session, const Console& console, const std::string& id) {
    LAVANT_TRY_VOID(session.remove(session.own_path("/keys/" + percent_encode(id))));
    console.out << "revoked " << printable(id) << "\n";
    console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
