// Workspaces as such: made, listed, deleted, and named in a file that azure-ai-ml reads.

#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/asset_kind.h"
#include "cli/file_options.h"
#include "cli/workspace_commands.h"
#include "core/spec/workspace.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr const char* kProvider = "/providers/Microsoft.MachineLearningServices/workspaces";

std::string path_of(const WorkspaceName& name) {
    return fmt::format("/subscriptions/{}/resourceGroups/{}{}/{}", percent_encode(name.subscription),
                       percent_encode(name.resource_group), kProvider, percent_encode(name.name));
}

Outcome<spec::WorkspaceSpec> load(const Context& context, const FileOptions& options) {
    LAVANT_TRY(const wire::SpecFile file, read_file_options(context, options, "a workspace file", {}));
    LAVANT_TRY(spec::WorkspaceSpec spec, users_to_mend(spec::parse_workspace(file.root), file.label));
    if (spec.name.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    (file.label.empty() ? std::string() : file.label + ": ") +
                        "name is missing; say what the workspace is called");
    return spec;
}

Json body_of(const spec::WorkspaceSpec& spec) {
    Json tags = Json::object();
    if (spec.tags)
        for (const auto& [key, value] : *spec.tags) tags.set(key, value);
    Json properties = Json::object({{"friendlyName", spec.display_name.value_or(spec.name)},
                                    {"description", spec.description.value_or("")}});
    if (spec.serverless)
        properties.set(
            "serverlessComputeSettings",
            Json::object(
                {{"serverlessComputeCustomSubnet",
                  spec.serverless->custom_subnet.empty() ? Json() : Json(spec.serverless->custom_subnet)},
                 {"serverlessComputeNoPublicIP", spec.serverless->no_public_ip}}));
    return Json::object(
        {{"location", "local"}, {"tags", std::move(tags)}, {"properties", std::move(properties)}});
}

// "/subscriptions/S/resourceGroups/G/…": G.
std::string group_in(std::string_view id) {
    const auto parts = split(id, '/');
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        if (equals_ignoring_case(parts[i], "resourceGroups")) return std::string(parts[i + 1]);
    return {};
}

Json to_az(const Json& arm) {
    const Json& properties = arm["properties"];
    const std::string group = group_in(arm["id"].text());
    return Json::object({{"name", arm["name"]},
                         {"display_name", properties["friendlyName"]},
                         {"description", properties["description"]},
                         {"location", arm["location"]},
                         {"resource_group", group},
                         {"resourceGroup", group},
                         {"tags", arm["tags"]},
                         {"discovery_url", properties["discoveryUrl"]},
                         {"mlflow_tracking_uri", properties["mlFlowTrackingUri"]},
                         {"id", arm["id"]}});
}

}  // namespace

Outcome<Exit> create_workspace(Context& context, const ServerChoice& choice, const WorkspaceMake& make,
                               const Output& output) {
    FileOptions options;
    options.file = make.file;
    options.words = {
        {"name", make.name}, {"display_name", make.display_name}, {"description", make.description}};
    options.tags = make.tags;
    LAVANT_TRY(const spec::WorkspaceSpec spec, load(context, options));
    for (const std::string& key : spec.without_meaning)
        context.console.note(fmt::format("'{}' has no meaning here; it is left out", printable(key)));
    if (make.dry_run) return print_body(body_of(spec), context.console, output);
    LAVANT_TRY(Session session, connect(context, choice));
    WorkspaceName name = session.address().workspace;
    name.name = spec.name;
    LAVANT_TRY(const Json made, session.attempt(fmt::format("create workspace '{}'", printable(spec.name)),
                                                "PUT", path_of(name), body_of(spec)));
    const Json workspace = to_az(made);
    LAVANT_TRY_VOID(print(workspace, output, context.console, [&] {
        return fmt::format("{}  in resource group {}\n", printable(spec.name),
                           printable(name.resource_group));
    }));
    if (output.format == Format::Table && !output.query)
        context.console.note(fmt::format("use it with -w {0}, or always: lavant config set workspace {0}",
                                         shell_quote(spec.name)));
    return Exit::Completed;
}

Outcome<Exit> validate_workspace(Context& context, const std::string& file, const Output& output) {
    FileOptions options;
    options.file = file;
    LAVANT_TRY(const spec::WorkspaceSpec spec, load(context, options));
    for (const std::string& key : spec.without_meaning)
        context.console.note(fmt::format("'{}' has no meaning here; it is left out", printable(key)));
    return print_valid(
        context.console, output,
        {.file = file, .kind = "workspace", .name = spec.name, .what = "workspace " + spec.name});
}

Outcome<Exit> list_workspaces(Session& session, const Console& console, bool of_group, int max,
                              const Output& output) {
    const WorkspaceName& here = session.address().workspace;
    const std::string path = "/subscriptions/" + percent_encode(here.subscription) +
                             (of_group ? "/resourceGroups/" + percent_encode(here.resource_group) : "") +
                             kProvider;
    LAVANT_TRY(const std::vector<Json> all, fetch_list(session, "workspaces", path, "", max));
    Json found = Json::array();
    for (const Json& one : all) found.append(to_az(one));
    LAVANT_TRY_VOID(print(found, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& one : found.items())
            rows.push_back({printable(one["name"].text()), printable(one["resource_group"].text()),
                            one["name"].text() == here.name ? "yes" : "",
                            printable(one["description"].text())});
        return rows.empty() ? std::string()
                            : render_table({{"NAME", Cut::Last},
                                            {"RESOURCE GROUP", Cut::Last},
                                            {"IN USE"},
                                            {"DESCRIPTION", Cut::First}},
                                           rows, console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> delete_workspace(Session& session, Context& context, const std::string& name, bool yes) {
    const std::string shown = printable(name);
    if (!yes) {
        LAVANT_TRY(const bool sure,
                   ask(context, fmt::format("delete workspace {} with everything in it?", shown)));
        if (!sure) return stop(Exit::Usage, ErrorCode::InvalidArgument, "nothing was deleted");
    }
    WorkspaceName whole = session.address().workspace;
    whole.name = name;
    LAVANT_TRY_VOID(
        session.attempt(fmt::format("delete workspace '{}'", shown), "DELETE", path_of(whole), Json()));
    context.console.err << "deleted " << shown << "\n";
    return Exit::Completed;
}

Outcome<Exit> write_workspace_config(const Context& context, const ServerChoice& choice,
                                     const std::string& folder) {
    const WorkspaceName name = with_flags(context.config, choice).workspace();
    const std::string into =
        (folder.empty() ? context.folder.empty() ? "." : context.folder : folder) + "/.azureml";
    const Json config = Json::object({{"subscription_id", name.subscription},
                                      {"resource_group", name.resource_group},
                                      {"workspace_name", name.name}});
    LAVANT_TRY_VOID(make_directories(into, 0755));
    LAVANT_TRY_VOID(write_file_atomically(into + "/config.json", config.pretty() + "\n", 0644));
    context.console.out << into << "/config.json\n";
    context.console.out.flush();
    context.console.note(
        fmt::format("it names workspace {} of resource group {}; MLClient.from_config() finds it "
                    "from there and from folders below",
                    printable(name.name), printable(name.resource_group)));
    return Exit::Completed;
}

}  // namespace lavant::cli
