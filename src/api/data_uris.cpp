#include "api/data_uris.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/asset_names.h"
#include "api/assets.h"
#include "app/workspace_rows.h"
#include "base/text.h"
#include "core/spec/problems.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::string_view kScheme = "azureml://";

struct JobPlace {
    std::string job;
    std::string output;
    std::string path;
};

// Also with subscription, resource group and workspace in front.
std::optional<JobPlace> parse_job_uri(std::string_view uri) {
    if (!uri.starts_with(kScheme)) return std::nullopt;
    const auto parts = split(uri.substr(kScheme.size()), '/');
    std::size_t at = 0;
    while (at + 1 < parts.size() && !equals_ignoring_case(parts[at], "jobs")) {
        const bool is_scope = equals_ignoring_case(parts[at], "subscriptions") ||
                              equals_ignoring_case(parts[at], "resourcegroups") ||
                              equals_ignoring_case(parts[at], "workspaces");
        if (!is_scope) return std::nullopt;
        at += 2;
    }
    if (at + 3 >= parts.size() || !equals_ignoring_case(parts[at + 2], "outputs")) return std::nullopt;
    JobPlace place{std::string(parts[at + 1]), std::string(parts[at + 3]), ""};
    if (at + 4 < parts.size() && !equals_ignoring_case(parts[at + 4], "paths")) return std::nullopt;
    for (std::size_t i = at + 5; i < parts.size(); ++i)
        place.path += (i > at + 5 ? "/" : "") + std::string(parts[i]);
    return place;
}

Result<DataPlace> place_in_datastore(Context& context, const std::string& workspace, DatastorePath place);

Result<DataPlace> place_of_job(Context& context, const std::string& workspace, const JobPlace& asked) {
    LAVANT_TRY(const auto job, context.ports.reader.find_job(workspace, asked.job));
    if (!job)
        return fail(ErrorCode::NotFound, "there is no job '" + asked.job + "' whose output this could be");
    if (!is_terminal(job->head.status))
        return fail(ErrorCode::Conflict, "job '" + asked.job + "' is " +
                                             std::string(name_of(job->head.status)) +
                                             "; its outputs can be read when it has ended");
    if (asked.output == "artifacts" || asked.output == "default")
        return place_in_datastore(context, workspace,
                                  {kArtifactDatastore, artifact_prefix(asked.job) + asked.path});
    LAVANT_TRY(const Launch launch, wire::decode_launch(job->body.launch));
    std::vector<std::string> names;
    for (const LaunchOutput& output : launch.outputs) {
        names.push_back(output.name);
        auto place = parse_datastore_uri(output.uri);
        if (output.name != asked.output || !place) continue;
        if (!asked.path.empty()) place->path += (place->path.ends_with('/') ? "" : "/") + asked.path;
        return place_in_datastore(context, workspace, std::move(*place));
    }
    return fail(ErrorCode::NotFound,
                "job '" + asked.job + "' has no output '" + asked.output + "'" +
                    (names.empty() ? "; it has none that are named" : "; it has " + spec::listed(names)));
}

bool is_dots(std::string_view part) { return part == ".." || percent_decode(part) == ".."; }

// What is mirrored is all that lies below the target, and nothing beside it.
Result<std::string> mirrored(const std::string& target, const std::string& path) {
    std::string uri = target;
    if (!uri.ends_with('/')) uri += '/';
    const bool is_folder = uri.starts_with('/');
    std::string below;
    for (const std::string_view part : split(path, '/')) {
        if (is_dots(part) || part.find('\0') != std::string_view::npos)
            return fail(ErrorCode::InvalidArgument, "a path in mirrored storage has no '..'");
        // The path of a file: URI is decoded when it is read.
        below += "/" + (is_folder ? percent_encode(part) : std::string(part));
    }
    uri += below.substr(std::min<std::size_t>(below.size(), 1));
    return is_folder ? "file://" + uri : uri;
}

tl::unexpected<Error> no_mirror(const std::string& what, const AzurePlace& place) {
    return fail(ErrorCode::InvalidArgument,
                what + " lies in the Azure storage account '" + place.account +
                    "', of which this server has no mirror; start it with `mirrors: " + place.account + "/" +
                    place.container + "=/a/folder`, or copy the data to a datastore of this workspace");
}

Result<std::optional<Asset>> find_datastore(Context& context, const std::string& workspace,
                                            const std::string& name) {
    return context.ports.reader.find_asset({workspace, app::kDatastoreKind, name, ""});
}

// A datastore that is only described here: its data may be mirrored.
Result<DataPlace> place_elsewhere(Context& context, const std::string& workspace, const Asset& row,
                                  const DatastorePath& place) {
    LAVANT_TRY(const Json body, wire::parse_json(row.body));
    const AzurePlace azure{body["accountName"].string(),
                           body["containerName"].string(body["filesystem"].string()), place.path};
    const auto target = find_mirror(context.settings.mirrors, azure);
    if (!target) return no_mirror("datastore '" + place.datastore + "'", azure);
    LAVANT_TRY(const std::string uri, mirrored(*target, place.path));
    return resolve_data_uri(context, workspace, uri);
}

Result<DataPlace> place_in_datastore(Context& context, const std::string& workspace, DatastorePath place) {
    if (place.datastore != kBlobDatastore && place.datastore != kArtifactDatastore) {
        LAVANT_TRY(const auto row, find_datastore(context, workspace, place.datastore));
        if (row && row->hash.empty()) return place_elsewhere(context, workspace, *row, place);
        LAVANT_TRY_VOID(container_of_datastore(context, workspace, place.datastore));
    }
    return DataPlace{to_short_uri(place), place.datastore, {}};
}

Result<std::optional<DataPlace>> place_of_asset(Context& context, const std::string& workspace,
                                                const std::string& uri) {
    for (const auto& [kind, field] : {std::pair{"data", "dataUri"}, std::pair{"models", "modelUri"}}) {
        const auto name = parse_asset_name(uri, kind);
        if (!name) continue;
        LAVANT_TRY(const auto asset, find_version(context, workspace, kind, *name));
        if (!asset) continue;
        LAVANT_TRY(const Json body, wire::parse_json(asset->body));
        const std::string target = body[field].string();
        // One asset that leads to another would be a riddle, and could lead to itself.
        const bool plain =
            parse_datastore_uri(target) || is_job_uri(target) || !target.starts_with("azureml:");
        if (!plain) return fail(ErrorCode::InvalidArgument, "'" + uri + "' points to '" + target + "'");
        LAVANT_TRY(DataPlace place, resolve_data_uri(context, workspace, target));
        place.asset.kind = kind;
        place.asset.name = asset->key.name;
        place.asset.version = asset->key.version;
        return std::optional(std::move(place));
    }
    return std::nullopt;
}

// A URL of our own storage is a datastore's, if it is one of this workspace.
Result<std::optional<DatastorePath>> own_storage(Context& context, const std::string& workspace,
                                                 const std::string& uri) {
    const auto place = uri.find("/storage/") == std::string::npos ? std::nullopt : parse_storage_url(uri);
    if (!place) return std::nullopt;
    const std::size_t slash = place->find('/');
    const std::string container = place->substr(0, slash);
    const std::string path = slash == std::string::npos ? "" : place->substr(slash + 1);
    if (container == blob_container(workspace)) return DatastorePath{kBlobDatastore, path};
    if (container == artifact_container(workspace)) return DatastorePath{kArtifactDatastore, path};
    // An upload is called by its container where a datastore's name is expected.
    if (workspace_of_upload(container) == workspace) return DatastorePath{container, path};
    LAVANT_TRY(const auto row,
               context.ports.reader.find_asset_by_hash(workspace, app::kDatastoreKind, container));
    if (row) return DatastorePath{row->key.name, path};
    return std::nullopt;
}

}  // namespace

bool is_job_uri(std::string_view uri) { return parse_job_uri(uri).has_value(); }

Result<std::string> container_of_datastore(Context& context, const std::string& workspace,
                                           const std::string& datastore) {
    if (datastore == kBlobDatastore) return blob_container(workspace);
    if (datastore == kArtifactDatastore) return artifact_container(workspace);
    LAVANT_TRY(const auto row, find_datastore(context, workspace, datastore));
    if (row && !row->hash.empty()) return row->hash;
    if (row)
        return fail(ErrorCode::InvalidArgument,
                    "datastore '" + datastore + "' lies elsewhere and is only described here");
    if (workspace_of_upload(datastore) == workspace && context.ports.blobs.has_container(datastore))
        return datastore;
    ports::AssetQuery query;
    query.workspace = workspace;
    query.kind = app::kDatastoreKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    LAVANT_TRY(const auto rows, context.ports.reader.list_assets(query));
    std::vector<std::string> names{kBlobDatastore, kArtifactDatastore};
    for (const Asset& one : rows) names.push_back(one.key.name);
    return fail(ErrorCode::NotFound, "there is no datastore '" + datastore + "'" +
                                         spec::suggestion(datastore, names) + "; there are " +
                                         spec::listed(names));
}

std::optional<AzurePlace> parse_azure_url(std::string_view uri) {
    const std::size_t scheme_end = uri.find("://");
    if (scheme_end == std::string_view::npos) return std::nullopt;
    const std::string scheme = to_lower(uri.substr(0, scheme_end));
    std::string_view rest = uri.substr(scheme_end + 3);
    rest = rest.substr(0, rest.find_first_of("?#"));
    const std::size_t slash = rest.find('/');
    std::string_view host = rest.substr(0, slash);
    std::string_view path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    std::string_view container;
    if (scheme == "wasb" || scheme == "wasbs" || scheme == "abfs" || scheme == "abfss") {
        const std::size_t at = host.find('@');
        if (at == std::string_view::npos) return std::nullopt;
        container = host.substr(0, at);
        host.remove_prefix(at + 1);
    } else if (scheme == "https" || scheme == "http") {
        const std::size_t end = path.find('/');
        container = path.substr(0, end);
        path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
    } else {
        return std::nullopt;
    }
    const std::size_t dot = host.find('.');
    const std::string kind = dot == std::string_view::npos ? "" : to_lower(host.substr(dot));
    if (!kind.starts_with(".blob.core.") && !kind.starts_with(".dfs.core.")) return std::nullopt;
    if (dot == 0 || container.empty()) return std::nullopt;
    return AzurePlace{to_lower(host.substr(0, dot)), std::string(container), percent_decode(path)};
}

std::optional<std::string> find_mirror(const std::map<std::string, std::string>& mirrors,
                                       const AzurePlace& place) {
    if (const auto exact = mirrors.find(place.account + "/" + place.container); exact != mirrors.end())
        return exact->second;
    const auto whole = mirrors.find(place.account);
    const bool leads_out = is_dots(place.container) || place.container.find('/') != std::string::npos;
    if (whole == mirrors.end() || leads_out) return std::nullopt;
    return whole->second + (whole->second.ends_with('/') ? "" : "/") + place.container;
}

Result<DataPlace> resolve_data_uri(Context& context, const std::string& workspace, const std::string& uri) {
    if (uri.starts_with("azureml:") || uri.starts_with("/subscriptions/"))
        LAVANT_TRY_VOID(check_scope(context, workspace, uri));
    if (auto place = parse_datastore_uri(uri))
        return place_in_datastore(context, workspace, std::move(*place));
    if (const auto job = parse_job_uri(uri)) return place_of_job(context, workspace, *job);
    // The SDK leaves the scheme out: "name:version", "name@label".
    const bool bare = uri.find('/') == std::string::npos && !uri.starts_with("file:") &&
                      parse_asset_name(uri, "data").has_value();
    if (bare || uri.starts_with("/subscriptions/") || uri.starts_with("azureml:")) {
        LAVANT_TRY(auto asset, place_of_asset(context, workspace, uri));
        if (asset) return std::move(*asset);
        const bool registry = uri.starts_with("azureml://registries/");
        return fail(ErrorCode::NotFound, registry
                                             ? "'" + uri +
                                                   "' is in a registry, and this server has none with data "
                                                   "or models; register it in the workspace"
                                             : "'" + uri + "' is not a registered data asset or model");
    }
    LAVANT_TRY(auto own, own_storage(context, workspace, uri));
    if (own) return place_in_datastore(context, workspace, std::move(*own));
    if (const auto azure = parse_azure_url(uri)) {
        if (const auto target = find_mirror(context.settings.mirrors, *azure)) {
            LAVANT_TRY(std::string place, mirrored(*target, azure->path));
            return DataPlace{std::move(place), "", {}};
        }
        if (!uri.starts_with("http")) return no_mirror("'" + uri + "'", *azure);
    }
    return DataPlace{uri, "", {}};
}

}  // namespace lavant::api
