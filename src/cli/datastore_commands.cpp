#include "cli/datastore_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/ask.h"
#include "cli/asset_commands.h"
#include "cli/asset_tables.h"
#include "core/spec/datastore.h"
#include "wire/asset_to_arm.h"
#include "wire/az_asset.h"

namespace lavant::cli {
namespace {

using wire::Json;

std::string path_of(const Session& session, const std::string& name) {
    return session.workspace_path("/datastores/" + percent_encode(name));
}

struct Loaded {
    spec::DatastoreSpec spec;
    bool from_here = false;  // its folder was named as seen from a folder of this machine
};

Outcome<Loaded> load(const Context& context, const FileOptions& options) {
    FileOptions said = options;
    // A folder alone says all there is to say.
    if (const auto path = said.words.find("path"); path != said.words.end() && !path->second.empty())
        if (said.words["type"].empty()) said.words["type"] = "local";
    LAVANT_TRY(const wire::SpecFile file, read_file_options(context, said, "a datastore file", {"path"}));
    std::string path = said.words["path"];
    if (const spec::Document* written = file.root.find("path"); path.empty() && written != nullptr)
        path = written->text;
    LAVANT_TRY(spec::DatastoreSpec spec,
               users_to_mend(spec::parse_datastore(file.root, file.folder), file.label));
    return Loaded{std::move(spec), !path.empty() && !path.starts_with('/')};
}

// The folder is one of the server's machine: from another one, "data" says nothing about where it is.
Outcome<void> refuse_folder_from_here(const Loaded& loaded, const std::string& server) {
    if (!loaded.from_here || is_loopback_url(server)) return {};
    return stop(
        Exit::Usage, ErrorCode::InvalidArgument,
        fmt::format("cannot create datastore '{}': its folder is one of the server's machine, and {} is "
                    "another one than this; give the whole path, like --path /data/team",
                    printable(loaded.spec.name), printable(server)));
}

std::string where(const Json& store) {
    if (const std::string_view folder = store.get("lavant.path").text(); !folder.empty())
        return printable(folder);
    for (const char* key :
         {"container_name", "file_share_name", "filesystem", "store_name", "one_lake_workspace_name"})
        if (const std::string_view text = store[key].text(); !text.empty()) {
            // An account with a path in it is the server itself.
            const std::string account = printable(store["account_name"].text());
            return account.empty() || account.find('/') != std::string::npos
                       ? printable(text)
                       : account + "/" + printable(text);
        }
    return {};
}

std::string type_of(const Json& store) {
    return store.get("lavant.path").text().empty() ? printable(store["type"].text()) : "local";
}

std::string line_of(const Json& store) {
    return fmt::format("{}  {}  {}\n", printable(store["name"].text()), type_of(store), where(store));
}

std::string fields_of(const Json& store, int width) {
    FieldRows rows;
    add_field(rows, "name", store["name"]);
    rows.emplace_back("type", type_of(store));
    add_field(rows, "description", store["description"]);
    if (store["is_default"].boolean()) rows.emplace_back("default", "yes");
    add_field(rows, "folder", store.get("lavant.path"));
    if (store.get("lavant.path").text().empty()) {
        add_field(rows, "account", store["account_name"]);
        add_field(rows, "container", store["container_name"]);
        add_field(rows, "file share", store["file_share_name"]);
        add_field(rows, "filesystem", store["filesystem"]);
        add_field(rows, "store", store["store_name"]);
        add_field(rows, "endpoint", store["endpoint"]);
    }
    add_pairs(rows, "tag", store["tags"]);
    rows.emplace_back("use it as",
                      fmt::format("azureml://datastores/{}/paths/…", printable(store["name"].text())));
    return render_fields(rows, width);
}

Outcome<Exit> print_one(const Json& arm, const Console& console, const Output& output, bool whole) {
    const Json store = wire::to_az_datastore(arm);
    LAVANT_TRY_VOID(print(store, output, console,
                          [&] { return whole ? fields_of(store, console.width) : line_of(store); }));
    return Exit::Completed;
}

// A dry run is read by others; what it would send of secrets is not theirs.
Json without_secrets(Json body) {
    Json& secrets = body.member("properties").member("credentials").member("secrets");
    if (!secrets.is_object()) {
        body.member("properties").member("credentials").remove("secrets");
        return body;
    }
    for (Json::Member& member : secrets.mutable_members())
        if (member.key != "secretsType") member.value = "********";
    return body;
}

}  // namespace

Outcome<Exit> create_datastore(Context& context, const ServerChoice& choice, const FileOptions& options,
                               const Output& output) {
    LAVANT_TRY(const Loaded loaded, load(context, options));
    const spec::DatastoreSpec& spec = loaded.spec;
    const Json body = wire::to_arm_datastore(spec);
    if (options.dry_run) return print_body(without_secrets(body), context.console, output);
    LAVANT_TRY(Session session, connect(context, choice));
    LAVANT_TRY_VOID(refuse_folder_from_here(loaded, session.address().url));
    LAVANT_TRY(const Json made, session.attempt(fmt::format("create datastore '{}'", spec.name), "PUT",
                                                path_of(session, spec.name), body));
    return print_one(made, context.console, output, false);
}

Outcome<Exit> validate_datastore(Context& context, const FileOptions& options, const Output& output) {
    LAVANT_TRY(const Loaded loaded, load(context, options));
    const spec::DatastoreSpec& spec = loaded.spec;
    return print_valid(context.console, output,
                       {.file = options.file,
                        .kind = "datastore",
                        .name = spec.name,
                        .what = fmt::format("{} datastore {}", spec.type, spec.name),
                        .for_azure = options.for_azure,
                        .findings = spec.beyond_azure,
                        .more = {{"type", spec.type}}});
}

Outcome<Exit> show_datastore(Session& session, const Console& console, const std::string& name,
                             const Output& output) {
    LAVANT_TRY(const Json arm, session.attempt(fmt::format("show datastore '{}'", printable(name)), "GET",
                                               path_of(session, name), Json()));
    return print_one(arm, console, output, true);
}

Outcome<Exit> list_datastores(Session& session, const Console& console, int max, const Output& output) {
    LAVANT_TRY(const std::vector<Json> all,
               fetch_list(session, "datastores", session.workspace_path("/datastores"), "", max));
    Json found = Json::array();
    for (const Json& one : all) found.append(wire::to_az_datastore(one));
    LAVANT_TRY_VOID(print(found, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& one : found.items())
            rows.push_back({printable(one["name"].text()), type_of(one),
                            one["is_default"].boolean() ? "yes" : "", where(one),
                            printable(one["description"].text())});
        return rows.empty() ? std::string()
                            : render_table({{"NAME", Cut::Last},
                                            {"TYPE"},
                                            {"DEFAULT"},
                                            {"WHERE", Cut::First},
                                            {"DESCRIPTION", Cut::First}},
                                           rows, console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> update_datastore(Session& session, const Console& console, const std::string& name,
                               const std::vector<std::string>& settings, const Output& output) {
    if (settings.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("say what to change: lavant datastore update {} --set description=TEXT",
                                printable(name)));
    const std::string what = fmt::format("change datastore '{}'", printable(name));
    LAVANT_TRY(const Json arm, session.attempt(what, "GET", path_of(session, name), Json()));
    Json properties = arm["properties"];
    for (const std::string& setting : settings) {
        LAVANT_TRY(const auto parts, split_setting(setting));
        const bool words = parts.first == "description" || parts.first.starts_with("tags.");
        if (!words || !set_words_about(properties, parts.first, parts.second))
            return stop(
                Exit::Usage, ErrorCode::InvalidArgument,
                fmt::format("cannot change '{}' of a datastore this way: only description and tags.KEY; for "
                            "the rest give its file again: lavant datastore create -f FILE",
                            printable(parts.first)));
    }
    LAVANT_TRY(const Json changed, session.attempt(what, "PUT", path_of(session, name),
                                                   Json::object({{"properties", std::move(properties)}})));
    return print_one(changed, console, output, true);
}

Outcome<Exit> delete_datastore(Session& session, Context& context, const std::string& name, bool yes) {
    const std::string what = fmt::format("delete datastore '{}'", printable(name));
    // Nobody is asked about what is not there, and a delete of it is no success.
    LAVANT_TRY_VOID(session.attempt(what, "GET", path_of(session, name), Json()));
    if (!yes) {
        LAVANT_TRY(const bool sure,
                   ask(context,
                       fmt::format("delete datastore {}? Its files stay where they are.", printable(name))));
        if (!sure) return stop(Exit::Usage, ErrorCode::InvalidArgument, "nothing was deleted");
    }
    LAVANT_TRY_VOID(session.attempt(what, "DELETE", path_of(session, name), Json()));
    context.console.err << "deleted " << printable(name) << "; its files stay where they are\n";
    return Exit::Completed;
}

}  // namespace lavant::cli
