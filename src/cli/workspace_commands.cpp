#include "cli/workspace_commands.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/spec/workspace.h"
#include "wire/yaml.h"

namespace lavant::cli {
namespace {

using wire::Json;

// As az shows a workspace, and what is ours.
Json to_az_workspace(const Session& session, const Json& arm, const Json& own) {
    const Json& properties = arm["properties"];
    const std::string& group = session.address().workspace.resource_group;
    return Json::object(
        {{"name", arm["name"]},
         {"display_name", properties["friendlyName"]},
         {"description", properties["description"]},
         {"location", arm["location"]},
         {"resource_group", group},
         {"resourceGroup", group},
         {"tags", arm["tags"]},
         {"serverless_compute", own["serverless_compute"]},
         {"lavant", Json::object({{"serverless", own["serverless"].boolean() ? "on" : "off"}})},
         {"discovery_url", properties["discoveryUrl"]},
         {"mlflow_tracking_uri", properties["mlFlowTrackingUri"]},
         {"public_network_access", properties["publicNetworkAccess"]},
         {"storage_account", properties["storageAccount"]},
         {"id", arm["id"]}});
}

Outcome<Json> fetch_workspace(Session& session) {
    LAVANT_TRY(const Json arm,
               session.attempt("show the workspace", "GET", session.workspace_path(), Json()));
    LAVANT_TRY(const Json own,
               session.attempt("show the workspace", "GET", session.own_path("/workspace"), Json()));
    return to_az_workspace(session, arm, own);
}

std::string fields_of(const Json& workspace, int width) {
    std::vector<std::pair<std::string, std::string>> fields;
    const auto add = [&fields](const std::string& name, const Json& value) {
        if (!value.is_null() && !value.scalar_text().empty())
            fields.emplace_back(name, printable(value.scalar_text()));
    };
    add("name", workspace["name"]);
    if (workspace["display_name"] != workspace["name"]) add("display name", workspace["display_name"]);
    add("description", workspace["description"]);
    add("resource group", workspace["resource_group"]);
    add("location", workspace["location"]);
    add("serverless", workspace.get("lavant.serverless"));
    add("custom subnet", workspace.get("serverless_compute.custom_subnet"));
    if (workspace.get("serverless_compute.no_public_ip").boolean()) add("no public ip", "yes");
    for (const auto& [key, value] : workspace["tags"].members())
        fields.emplace_back("tag", printable(key) + " = " + printable(value.scalar_text()));
    add("id", workspace["id"]);
    return render_fields(fields, width);
}

Outcome<Exit> print_workspace(Session& session, const Console& console, const Output& output) {
    LAVANT_TRY(const Json workspace, fetch_workspace(session));
    LAVANT_TRY_VOID(print(workspace, output, console, [&] { return fields_of(workspace, console.width); }));
    return Exit::Completed;
}

Outcome<spec::WorkspaceSpec> read_workspace_file(const std::string& path) {
    LAVANT_TRY(const std::string text, read_file(path, limits::kYamlBytes));
    LAVANT_TRY(const spec::Document document, wire::parse_yaml(text, path));
    auto parsed = spec::parse_workspace(document);
    if (!parsed) return tl::make_unexpected(Failure(Exit::Usage, in(path)(std::move(parsed).error())));
    return std::move(*parsed);
}

void add_file(const spec::WorkspaceSpec& spec, Json& body) {
    if (spec.display_name) body.set("display_name", *spec.display_name);
    if (spec.description) body.set("description", *spec.description);
    if (spec.tags) {
        Json tags = Json::object();
        for (const auto& [key, value] : *spec.tags) tags.set(key, value);
        body.set("tags", std::move(tags));
    }
    if (spec.serverless)
        body.set("serverless_compute",
                 Json::object({{"custom_subnet", spec.serverless->custom_subnet.empty()
                                                     ? Json()
                                                     : Json(spec.serverless->custom_subnet)},
                               {"no_public_ip", spec.serverless->no_public_ip}}));
}

}  // namespace

Outcome<Exit> show_workspace(Session& session, const Console& console, const Output& output) {
    return print_workspace(session, console, output);
}

Outcome<WorkspaceChange> plan_workspace_change(const WorkspaceWords& words) {
    WorkspaceChange change;
    change.body = Json::object();
    if (!words.file.empty()) {
        LAVANT_TRY(const spec::WorkspaceSpec spec, read_workspace_file(words.file));
        change.file = words.file;
        change.name = spec.name;
        change.without_meaning = spec.without_meaning;
        add_file(spec, change.body);
    }
    if (!words.serverless.empty()) change.body.set("serverless", words.serverless == "on");
    if (!words.display_name.empty()) change.body.set("display_name", words.display_name);
    if (!words.description.empty()) change.body.set("description", words.description);
    if (change.body.size() == 0)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "there is nothing to change: give --serverless on|off, or a file with -f");
    return change;
}

Outcome<Exit> update_workspace(Session& session, const Console& console, const WorkspaceChange& change,
                               const Output& output) {
    const std::string& here = session.address().workspace.name;
    if (!change.name.empty() && change.name != here)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    printable(fmt::format("{} is for the workspace '{}', and this is '{}'; add: -w {}",
                                          change.file, change.name, here, shell_quote(change.name))));
    for (const std::string& key : change.without_meaning)
        console.note(fmt::format("'{}' has no meaning here; it is left out", printable(key)));
    LAVANT_TRY_VOID(
        session.attempt("change the workspace", "PATCH", session.own_path("/workspace"), change.body));
    return print_workspace(session, console, output);
}

}  // namespace lavant::cli
