#include "cli/asset_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/asset_tables.h"
#include "cli/blob_fetch.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::size_t kNamesMost = 30;
constexpr int kPatienceSeconds = 2;

void say_none(const Console& console, AssetKind kind, const AssetFilter& options) {
    const AssetWords& words = words_of(kind);
    if (options.archived == Archived::Only) return console.note(fmt::format("no archived {}", words.plural));
    if (!options.name.empty())
        return console.note(fmt::format("no version of '{}'; what there is: lavant {} list",
                                        printable(options.name), words.word));
    console.note(fmt::format("no {}; make one: lavant {} create -f FILE", words.plural, words.word));
}

}  // namespace

Outcome<Exit> show_asset(Session& session, const Console& console, AssetKind kind, const AssetName& name,
                         const Output& output) {
    LAVANT_TRY(const Json arm, fetch_version(session, kind, name));
    const Json asset = words_of(kind).to_az(arm);
    LAVANT_TRY_VOID(print(asset, output, console, [&] { return render_asset(kind, asset, console); }));
    return Exit::Completed;
}

Outcome<Exit> list_assets(Session& session, const Console& console, AssetKind kind,
                          const AssetFilter& options, const Output& output) {
    const bool versions = !options.name.empty();
    const std::string path = versions ? container_path(session, kind, options.name) + "/versions"
                                      : session.workspace_path(std::string("/") + words_of(kind).segment);
    LAVANT_TRY(const std::vector<Json> all,
               fetch_list(session, path, view_of(options.archived), options.max));
    Json found = Json::array();
    for (const Json& one : all) found.append(words_of(kind).to_az(one));
    if (found.size() == 0 && output.format == Format::Table) say_none(console, kind, options);
    LAVANT_TRY_VOID(print(found, output, console, [&] {
        return versions ? table_of_versions(kind, found, console.width)
                        : table_of_containers(kind, found, console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> download_model(Session& session, const Console& console, const AssetName& name,
                             const std::string& folder) {
    LAVANT_TRY(const Json arm, fetch_version(session, AssetKind::Model, name));
    const std::string uri = arm.get("properties.modelUri").string();
    auto place = parse_blob_place(uri);
    if (!place)
        return stop(Exit::Refused, ErrorCode::InvalidArgument,
                    fmt::format("cannot download model '{}': it lies at {}, which is in no datastore",
                                printable(name.text()), printable(uri)));
    std::string path = place->path;
    while (path.ends_with('/')) path.pop_back();
    const std::string base = path.substr(path.rfind('/') + 1);
    LAVANT_TRY(const DatastorePlace store, open_datastore(session, place->datastore));
    const std::string into = fmt::format("{}/{}", folder.empty() ? "." : folder, name.name);
    // A folder has files below it; otherwise it is one file.
    Fetched fetched;
    if (stays_inside_folder(base)) {
        LAVANT_TRY(fetched, fetch_tree(session, console, {store, path + "/"}, into + "/" + base));
    }
    if (fetched.files == 0) {
        LAVANT_TRY(fetched, fetch_tree(session, console, {store, path}, into));
    }
    if (fetched.files == 0)
        return stop(Exit::Refused, ErrorCode::NotFound,
                    fmt::format("cannot download model '{}': there is no file at {}", printable(name.text()),
                                printable(uri)));
    console.out << fmt::format("{} file{}, {} bytes in {}\n", fetched.files, fetched.files == 1 ? "" : "s",
                               fetched.bytes, into);
    console.out.flush();
    return Exit::Completed;
}

std::vector<std::string> known_resource_names(Context& context, const ServerChoice& choice,
                                              const std::string& segment, const std::string& begun) {
    std::vector<std::string> names;
    auto session = connect_if_running(context, choice);
    if (!session) return names;
    session->use_timeout(kPatienceSeconds);
    const auto found = fetch_list(*session, session->workspace_path("/" + segment), "", 0);
    if (!found) return names;
    for (const Json& one : *found)
        if (one["name"].text().starts_with(begun) && names.size() < kNamesMost)
            names.push_back(printable(one["name"].text()));
    return names;
}

}  // namespace lavant::cli
