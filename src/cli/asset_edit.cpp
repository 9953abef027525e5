// What of an asset that is there can be changed: words about it, whether it is listed, whether it is there.

#include <utility>

#include <fmt/format.h>

#include "cli/ask.h"
#include "cli/asset_commands.h"
#include "cli/asset_tables.h"

namespace lavant::cli {
namespace {

using wire::Json;

// Of a PUT: what the server says of its own is not sent back.
Json body_of(const Json& arm) {
    Json properties = arm["properties"];
    for (const char* key : {"latestVersion", "nextVersion", "provisioningState", "lavant"})
        properties.remove(key);
    return Json::object({{"properties", std::move(properties)}});
}

// A label leads to one version, which is what is changed.
std::string path_of(const Session& session, AssetKind kind, const Json& arm) {
    const Json asset = words_of(kind).to_az(arm);
    return version_path(session, kind, {asset["name"].string(), asset["version"].string(), ""});
}

// A component's words stand in its own specification, in the spelling of its file.
void set_words_of_component(Json& component, const std::string& path, const std::string& value) {
    if (path == "description" || path == "display_name") component.set(path, value);
    if (path.starts_with("tags.")) component.member("tags").set(path.substr(5), value);
}

}  // namespace

Outcome<std::pair<std::string, std::string>> split_setting(const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot use --set {}: write it as path=value, like --set tags.team=vision",
                                printable(setting)));
    return std::pair(setting.substr(0, equals), setting.substr(equals + 1));
}

bool set_words_about(Json& properties, std::string_view path, std::string_view value) {
    if (path == "description") {
        properties.set("description", value);
    } else if (path == "display_name") {
        properties.set("displayName", value);
    } else if (path.starts_with("tags.") && path.size() > 5) {
        properties.member("tags").set(path.substr(5), value);
    } else if (path.starts_with("properties.") && path.size() > 11) {
        properties.member("properties").set(path.substr(11), value);
    } else {
        return false;
    }
    return true;
}

Outcome<Exit> update_asset(Session& session, const Console& console, AssetKind kind, const AssetName& name,
                           const std::vector<std::string>& settings, const Output& output) {
    const AssetWords& words = words_of(kind);
    if (settings.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("say what to change: lavant {} update {} --set tags.team=vision", words.word,
                                printable(name.text())));
    LAVANT_TRY(const Json arm, fetch_version(session, kind, name, "change"));
    Json body = body_of(arm);
    Json& properties = body.member("properties");
    for (const std::string& setting : settings) {
        LAVANT_TRY(const auto parts, split_setting(setting));
        const auto& [path, value] = parts;
        const bool stage = kind == AssetKind::Model && path == "stage";
        if (stage) properties.set("stage", value);
        const bool component = kind == AssetKind::Component;
        // A component is shown as its file, which has no properties; others have no display name.
        const bool strange = component ? path.starts_with("properties.") : path == "display_name";
        if (component) set_words_of_component(properties.member("componentSpec"), path, value);
        if (!stage && (strange || !set_words_about(properties, path, value)))
            return stop(
                Exit::Usage, ErrorCode::InvalidArgument,
                fmt::format("cannot change '{}' of a version that is there: only description, "
                            "tags.KEY and {}; for the rest make the next version: lavant {} create",
                            printable(path), component ? "display_name" : "properties.KEY", words.word));
    }
    const std::string what = fmt::format("change {} '{}'", words.word, printable(name.text()));
    LAVANT_TRY(const Json changed, session.attempt(what, "PUT", path_of(session, kind, arm), body));
    const Json asset = words.to_az(changed);
    LAVANT_TRY_VOID(print(asset, output, console, [&] { return render_asset(kind, asset, console); }));
    return Exit::Completed;
}

Outcome<Exit> archive_asset(Session& session, const Console& console, AssetKind kind, const AssetName& name,
                            bool archived) {
    const AssetWords& words = words_of(kind);
    const bool whole = name.version.empty() && name.label.empty();
    const std::string what =
        fmt::format("{} {} '{}'", archived ? "archive" : "restore", words.word, printable(name.text()));
    LAVANT_TRY(const Json arm,
               whole ? session.attempt(what, "GET", container_path(session, kind, name.name), Json())
                     : fetch_version(session, kind, name, archived ? "archive" : "restore"));
    Json body = body_of(arm);
    body.member("properties").set("isArchived", archived);
    const std::string path = whole ? container_path(session, kind, name.name) : path_of(session, kind, arm);
    LAVANT_TRY_VOID(session.attempt(what, "PUT", path, body));
    const std::string shown = printable(name.text()) + (whole ? " with all its versions" : "");
    const std::string which = whole ? "" : " --name " + printable(name.name);
    console.err << (archived
                        ? fmt::format("archived {}; it is listed with: lavant {} list{} --archived-only\n",
                                      shown, words.word, which)
                        : fmt::format("restored {}\n", shown));
    return Exit::Completed;
}

Outcome<Exit> delete_asset(Session& session, Context& context, AssetKind kind, const AssetName& name,
                           bool yes) {
    const AssetWords& words = words_of(kind);
    const bool whole = name.version.empty() && name.label.empty();
    const std::string what = fmt::format("delete {} '{}'", words.word, printable(name.text()));
    // Nobody is asked about what is not there.
    AssetName exact = name;
    if (whole) {
        LAVANT_TRY_VOID(session.attempt(what, "GET", container_path(session, kind, name.name), Json()));
    } else {
        LAVANT_TRY(const Json arm, fetch_version(session, kind, name, "delete"));
        exact = {name.name, words.to_az(arm)["version"].string(name.version), ""};
    }
    const std::string shown = printable(exact.text());
    if (!yes) {
        LAVANT_TRY(const bool sure, ask(context, fmt::format("delete {} {}{}?", words.word, shown,
                                                             whole ? " with all its versions" : "")));
        if (!sure) return stop(Exit::Usage, ErrorCode::InvalidArgument, "nothing was deleted");
    }
    const std::string path =
        whole ? container_path(session, kind, exact.name) : version_path(session, kind, exact);
    LAVANT_TRY_VOID(session.attempt(what, "DELETE", path, Json()));
    context.console.err << "deleted " << shown << (whole ? " with all its versions" : "") << "\n";
    return Exit::Completed;
}

}  // namespace lavant::cli
