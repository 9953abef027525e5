#include "cli/asset_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/asset_tables.h"

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
    LAVANT_TRY(const Json arm, fetch_version(session, kind, name, "show"));
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
               fetch_list(session, words_of(kind).plural, path, view_of(options.archived), options.max));
    Json found = Json::array();
    for (const Json& one : all) found.append(words_of(kind).to_az(one));
    if (found.size() == 0 && output.format == Format::Table) say_none(console, kind, options);
    LAVANT_TRY_VOID(print(found, output, console, [&] {
        return versions ? table_of_versions(kind, found, console.width)
                        : table_of_containers(kind, found, console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> download_model(Session& session, const Context& context, const AssetName& name,
                             const std::string& folder, int parallel) {
    LAVANT_TRY(const Json arm, fetch_version(session, AssetKind::Model, name, "download"));
    const std::string uri = arm.get("properties.modelUri").string();
    const auto refuse = [&](ErrorCode code, std::string_view why) {
        return stop(Exit::Refused, code,
                    fmt::format("cannot download model '{}': {}", printable(name.text()), why));
    };
    const auto from = parse_blob_place(uri);
    if (!from)
        return refuse(ErrorCode::InvalidArgument,
                      fmt::format("it lies at {}, which is in no datastore", printable(uri)));
    LAVANT_TRY(const DatastorePlace place, open_datastore(session, from->datastore));
    LAVANT_TRY(const BlobTree tree, find_tree(session, place, from->path));
    if (tree.found.blobs.empty())
        return refuse(ErrorCode::NotFound, fmt::format("there is no file at {}", printable(uri)));
    std::string into = fmt::format("{}/{}", folder.empty() ? "." : folder, name.name);
    const std::string base = base_name_of(tree.path);
    const bool below = !tree.is_file && stays_inside_folder(base);
    LAVANT_TRY(const Fetched fetched,
               fetch_tree(session, context, tree, below ? into + "/" + base : into, parallel));
    context.console.out << fmt::format("{} file{}, {} bytes in {}{}\n", fetched.files,
                                       fetched.files == 1 ? "" : "s", fetched.bytes, into,
                                       said_of_those_there(fetched.there));
    context.console.out.flush();
    return Exit::Completed;
}

std::vector<std::string> known_resource_names(Context& context, const ServerChoice& choice,
                                              const std::string& segment, const std::string& begun) {
    std::vector<std::string> names;
    auto session = connect_if_running(context, choice);
    if (!session) return names;
    session->use_timeout(kPatienceSeconds);
    const auto found = fetch_list(*session, segment, session->workspace_path("/" + segment), "", 0);
    if (!found) return names;
    for (const Json& one : *found)
        if (one["name"].text().starts_with(begun) && names.size() < kNamesMost)
            names.push_back(printable(one["name"].text()));
    return names;
}

}  // namespace lavant::cli
