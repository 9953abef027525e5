#include "cli/compute_commands.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/ask.h"
#include "cli/asset_kind.h"
#include "core/model/compute.h"
#include "core/spec/problems.h"
#include "wire/az_compute.h"

namespace lavant::cli {
namespace {

using wire::Json;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kNamesMost = 30;
constexpr int kPatienceSeconds = 2;

bool is_cluster(const Json& compute) { return compute["type"].text() == "amlcompute"; }
bool is_instance(const Json& compute) { return compute["type"].text() == "computeinstance"; }

Outcome<std::vector<Json>> fetch_all(Session& session) {
    LAVANT_TRY(std::vector<Json> found,
               fetch_list(session, "computes", session.workspace_path("/computes"), "", 0));
    for (Json& one : found) one = wire::to_az_compute(one);
    return found;
}

std::int64_t nodes_that_are(const Json& compute, std::string_view how) {
    return compute["lavant"]["nodes"][how].integer();
}

// "3 (0-4)"
std::string nodes_in_short(const Json& compute) {
    if (is_instance(compute)) return compute["state"].text() == "Stopped" ? "0" : "1";
    if (!is_cluster(compute)) return {};
    return fmt::format("{} ({}-{})", compute["lavant"]["current_node_count"].integer(),
                       compute["min_instances"].integer(), compute["max_instances"].integer());
}

std::string state_of(const Json& compute) {
    if (is_instance(compute)) return printable(compute["state"].text());
    if (!is_cluster(compute)) return "attached";
    return printable(compute["lavant"]["allocation_state"].text());
}

// "2 of 0 to 4: 1 idle, 1 busy", and those that come or go where there are some.
std::string nodes_in_words(const Json& compute) {
    std::string text = fmt::format("{} now, ", compute["lavant"]["current_node_count"].integer());
    const std::int64_t least = compute["min_instances"].integer();
    const std::int64_t most = compute["max_instances"].integer();
    text += least == most ? fmt::format("always {}", most) : fmt::format("from {} to {}", least, most);
    text += fmt::format(": {} idle, {} busy, {} starting", nodes_that_are(compute, "idle"),
                        nodes_that_are(compute, "running"), nodes_that_are(compute, "preparing"));
    for (const char* how : {"leaving", "unusable", "preempted"})
        if (const std::int64_t count = nodes_that_are(compute, how); count > 0)
            text += fmt::format(", {} {}", count, how);
    return text;
}

void add(Fields& fields, const char* key, const Json& value) {
    if (value.is_null() || (value.is_string() && value.text().empty())) return;
    fields.emplace_back(key, printable(value.scalar_text()));
}

void add_identity(Fields& fields, const Json& identity) {
    if (!identity.is_object()) return;
    std::string text = printable(identity["type"].text());
    for (const Json& user : identity["user_assigned_identities"].items())
        text += " " + printable(user["resource_id"].text());
    fields.emplace_back("identity", text);
}

void add_access(Fields& fields, const Json& compute) {
    add(fields, "subnet", compute.get("network_settings.subnet"));
    if (!is_cluster(compute) && !is_instance(compute)) return;
    const std::string user = compute.get("ssh_settings.admin_username").string();
    fields.emplace_back("ssh", compute["ssh_public_access_enabled"].boolean()
                                   ? "on" + (user.empty() ? "" : ", as " + printable(user))
                                   : "off");
    if (!compute["enable_node_public_ip"].boolean(true)) fields.emplace_back("public ip", "no");
}

std::string table_of(const Json& computes, int width) {
    if (computes.size() == 0) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& compute : computes.items())
        rows.push_back({printable(compute["name"].text()), printable(compute["type"].text()),
                        printable(compute["size"].text()), nodes_in_short(compute), state_of(compute)});
    return render_table(
        {{"NAME", Cut::Last}, {"TYPE", Cut::First}, {"SIZE", Cut::First}, {"NODES"}, {"STATE"}}, rows, width);
}

Outcome<ComputeKind> read_kind(const std::string& word) {
    if (const auto kind = parse_compute_kind(word)) return *kind;
    std::vector<std::string> names;
    for (const ComputeKind kind : kEveryComputeKind) names.emplace_back(name_of(kind));
    return stop(Exit::Usage, ErrorCode::InvalidArgument,
                fmt::format("there is no type '{}'{}", printable(word), spec::suggestion(word, names)));
}

}  // namespace

void say_compute_warnings(const Json& arm, const Console& console) {
    for (const Json& warning : arm.get("properties.lavant.warnings").items())
        console.note("warning: " + printable(warning.text()), Colour::Yellow);
}

std::string render_compute_line(const Json& compute) {
    std::string line =
        fmt::format("{}  {}", printable(compute["name"].text()), printable(compute["type"].text()));
    if (is_cluster(compute)) {
        const std::int64_t least = compute["min_instances"].integer();
        const std::int64_t most = compute["max_instances"].integer();
        line +=
            fmt::format("  {}  {}{} node{}", printable(compute["size"].text()),
                        least == most ? "always " : fmt::format("{} to ", least), most, most == 1 ? "" : "s");
    }
    if (is_instance(compute))
        line += fmt::format("  {}  {}", printable(compute["size"].text()), state_of(compute));
    return line + "\n";
}

std::string render_compute(const Json& compute, const Console& console) {
    const Json& own = compute["lavant"];
    Fields fields;
    add(fields, "name", compute["name"]);
    add(fields, "type", compute["type"]);
    if (is_instance(compute)) add(fields, "state", compute["state"]);
    add(fields, "description", compute["description"]);
    if (is_cluster(compute)) fields.emplace_back("nodes", nodes_in_words(compute));
    add(fields, "not growing", own["not_growing"]);
    for (const Json& warning : own["warnings"].items()) add(fields, "warning", warning);
    add(fields, "size", compute["size"]);
    add(fields, "tier", compute["tier"]);
    add(fields, "node sharing", compute["node_sharing"]);
    if (compute.has("idle_time_before_scale_down"))
        fields.emplace_back("released after",
                            fmt::format("{} s idle", compute["idle_time_before_scale_down"].integer()));
    if (compute.has("idle_time_before_shutdown_minutes"))
        fields.emplace_back("idle shutdown",
                            fmt::format("after {} min: kept, nothing acts on it yet",
                                        compute["idle_time_before_shutdown_minutes"].integer()));
    add(fields, "location", compute["location"]);
    add(fields, "resource", compute["resource_id"]);
    add(fields, "namespace", compute["namespace"]);
    add_access(fields, compute);
    add_identity(fields, compute["identity"]);
    for (const auto& [key, value] : compute["tags"].members())
        fields.emplace_back("tag", printable(key) + " = " + printable(value.scalar_text()));
    if (!compute["created_on"].text().empty())
        fields.emplace_back("created", short_time(compute["created_on"].text()) + " UTC");
    add(fields, "created by", own["created_by"]);
    return render_fields(fields, console.width);
}

Outcome<Exit> show_compute(Session& session, const Console& console, const std::string& name,
                           const Output& output) {
    LAVANT_TRY(const Json arm, session.get(session.compute_path(name)));
    const Json compute = wire::to_az_compute(arm);
    LAVANT_TRY_VOID(print(compute, output, console, [&] { return render_compute(compute, console); }));
    return Exit::Completed;
}

Outcome<Exit> list_computes(Session& session, const Console& console, const ComputeFilter& filter,
                            const Output& output) {
    std::string wanted;
    if (!filter.type.empty()) {
        LAVANT_TRY(const ComputeKind kind, read_kind(filter.type));
        wanted = name_of(kind);
    }
    LAVANT_TRY(std::vector<Json> all, fetch_all(session));
    std::erase_if(all, [&](const Json& one) { return !wanted.empty() && one["type"].text() != wanted; });
    if (filter.max > 0 && std::ssize(all) > filter.max) all.resize(static_cast<std::size_t>(filter.max));
    const Json found(std::move(all));
    if (found.size() == 0 && output.format == Format::Table)
        console.note(
            "no computes; jobs run serverless, or make one: lavant compute create --name cpu-cluster "
            "--max-instances 4");
    LAVANT_TRY_VOID(print(found, output, console, [&] { return table_of(found, console.width); }));
    return Exit::Completed;
}

Outcome<Exit> list_nodes(Session& session, const Console& console, const std::string& name,
                         const Output& output) {
    LAVANT_TRY(const Json answer, session.post(session.compute_path(name) + "/listNodes", Json::object()));
    Json nodes = Json::array();
    for (const Json& one : answer["nodes"].items()) nodes.append(wire::to_az_node(one));
    if (nodes.size() == 0 && output.format == Format::Table)
        console.note(printable(name) + " has no node now; one comes with the first job");
    LAVANT_TRY_VOID(print(nodes, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& node : nodes.items())
            rows.push_back({printable(node["node_id"].text()), printable(node["node_state"].text()),
                            printable(node["current_job_name"].text()),
                            printable(node["private_ip_address"].text())});
        return rows.empty() ? std::string()
                            : render_table({{"NODE"}, {"STATE"}, {"JOB", Cut::Last}, {"ADDRESS"}}, rows,
                                           console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> remove_compute(Session& session, Context& context, const RemoveOptions& options) {
    const bool detach = options.how == Removal::Detach;
    const std::string name = printable(options.name);
    if (detach) {
        LAVANT_TRY(const Json there, session.get(session.compute_path(options.name)));
        const auto kind = parse_compute_kind(there.get("properties.computeType").text());
        if (kind && !is_attached(*kind))
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("'{0}' is of type {1} and cannot be detached; delete it: lavant compute "
                                    "delete {0}",
                                    name, name_of(*kind)));
    }
    if (!options.yes) {
        LAVANT_TRY(const bool sure,
                   ask(context, fmt::format("{} compute {}?", detach ? "detach" : "delete", name)));
        if (!sure)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        detach ? "nothing was detached" : "nothing was deleted");
    }
    LAVANT_TRY_VOID(
        session.remove(session.compute_path(options.name) +
                       (detach ? "?underlyingResourceAction=Detach" : "?underlyingResourceAction=Delete")));
    context.console.err << (detach ? "detached " : "deleted ") << name << "\n";
    return Exit::Completed;
}

Outcome<Exit> power_compute(Session& session, const Console& console, const std::string& name,
                            const std::string& verb) {
    LAVANT_TRY_VOID(session.post(session.compute_path(name) + "/" + verb, Json::object()));
    LAVANT_TRY(const Json arm, session.get(session.compute_path(name)));
    console.err << render_compute_line(wire::to_az_compute(arm));
    return Exit::Completed;
}

Outcome<Exit> evict_node(Session& session, const Console& console, const std::string& name,
                         const std::string& node, const Output& output) {
    Json body = Json::object();
    if (!node.empty()) body.set("node", node);
    LAVANT_TRY(const Json answer,
               session.post(session.own_path("/computes/" + percent_encode(name) + "/evict"), body));
    LAVANT_TRY_VOID(print(answer, output, console, [&] {
        return fmt::format("{} of {} is being taken away; its jobs run again\n",
                           printable(answer["node"].text()), printable(name));
    }));
    return Exit::Completed;
}

std::vector<std::string> known_compute_names(Context& context, const ServerChoice& choice,
                                             const std::string& begun) {
    std::vector<std::string> names;
    auto session = connect_if_running(context, choice);
    if (!session) return names;
    session->use_timeout(kPatienceSeconds);
    const auto found = fetch_all(*session);
    if (!found) return names;
    for (const Json& one : *found)
        if (one["name"].text().starts_with(begun) && names.size() < kNamesMost)
            names.push_back(printable(one["name"].text()));
    return names;
}

}  // namespace lavant::cli
