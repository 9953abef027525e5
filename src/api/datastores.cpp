#include "api/datastores.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "app/workspace_rows.h"
#include "base/log.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

struct Kind {
    std::string_view type;
    std::array<std::string_view, 2> required;
};
constexpr std::array<Kind, 5> kKinds = {{{"AzureBlob", {"accountName", "containerName"}},
                                         {"AzureFile", {"accountName", "fileShareName"}},
                                         {"AzureDataLakeGen1", {"storeName", ""}},
                                         {"AzureDataLakeGen2", {"accountName", "filesystem"}},
                                         {"OneLake", {"oneLakeWorkspaceName", "artifact"}}}};
constexpr std::array<std::string_view, 6> kCredentials = {"AccountKey",  "Sas",  "ServicePrincipal",
                                                          "Certificate", "None", "KerberosKeytab"};
constexpr std::size_t kNameChars = 255;
constexpr std::size_t kPathBytes = 4'096;

std::string seal_context(const std::string& workspace, const std::string& name) {
    return "datastore " + workspace + "/" + name;
}

ports::AssetQuery rows_of(const std::string& workspace) {
    ports::AssetQuery query;
    query.workspace = workspace;
    query.kind = app::kDatastoreKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = ports::kRowsPerQuery;
    return query;
}

Json own_properties(const std::string& container, bool is_default) {
    return Json::object({{"datastoreType", "AzureBlob"},
                         {"containerName", container},
                         {"isDefault", is_default},
                         {"credentials", Json::object({{"credentialsType", "AccountKey"}})},
                         {"tags", Json::object()},
                         {"properties", Json::object()}});
}

Result<Datastore> from_row(const Asset& row) {
    Datastore datastore{row.key.name, row.hash, {}, "", row};
    LAVANT_TRY(datastore.properties, wire::parse_json(row.body));
    datastore.sealed = datastore.properties[kSealedSecrets].string();
    datastore.properties.remove(kSealedSecrets);
    return datastore;
}

tl::unexpected<Error> bad_field(const std::string& path, const std::string& why) {
    return fail(Error{
        ErrorCode::InvalidArgument, "the datastore cannot be used: " + path + ": " + why, {{path, why}}});
}

Result<void> check_kind(const Json& sent) {
    const std::string type = sent["datastoreType"].string();
    const auto* kind = std::ranges::find(kKinds, type, &Kind::type);
    if (kind == kKinds.end())
        return bad_field("properties.datastoreType",
                         "must be AzureBlob, AzureFile, AzureDataLakeGen1, AzureDataLakeGen2 or OneLake");
    for (const std::string_view field : kind->required)
        if (!field.empty() && (sent[field].is_null() || sent[field].text() == ""))
            if (!sent[field].is_object()) return bad_field("properties." + std::string(field), "is missing");
    return {};
}

// Whether `inner` is `outer` or lies in it. Both are real paths.
bool lies_in(const std::string& inner, const std::string& outer) {
    return inner == outer || outer == "/" || inner.starts_with(outer + "/");
}

std::string real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &::free);
    return real ? std::string(real.get()) : path;
}

// Also of a path of which only the beginning exists.
std::string real_beginning(const std::string& path) {
    std::string beginning = path;
    std::string rest;
    struct stat status {};
    while (beginning.size() > 1 && ::stat(beginning.c_str(), &status) != 0) {
        const std::size_t slash = beginning.rfind('/');
        if (slash == std::string::npos) return path;
        rest = beginning.substr(slash) + rest;
        beginning.resize(std::max<std::size_t>(1, slash));
    }
    beginning = real_path(beginning);
    return beginning == "/" && !rest.empty() ? rest : beginning + rest;
}

// Calls `visit` for the row of each datastore of each workspace.
template <class Visit>
Result<void> each_row(ports::Reader& reader, Visit visit) {
    LAVANT_TRY(const auto workspaces, app::list_workspace_keys(reader));
    for (const std::string& workspace : workspaces) {
        LAVANT_TRY(const auto rows, reader.list_assets(rows_of(workspace)));
        for (const Asset& row : rows) LAVANT_TRY_VOID(visit(row));
    }
    return {};
}

}  // namespace

std::string folder_of(const Json& properties) {
    const std::string path = properties["lavant"]["path"].string();
    return path.empty() ? properties["properties"]["lavant.path"].string() : path;
}

Result<std::optional<Datastore>> find_datastore(Context& context, const std::string& workspace,
                                                const std::string& name) {
    if (name == kBlobDatastore)
        return Datastore{
            name, blob_container(workspace), own_properties(blob_container(workspace), true), "", {}};
    if (name == kArtifactDatastore)
        return Datastore{name,
                         artifact_container(workspace),
                         own_properties(artifact_container(workspace), false),
                         "",
                         {}};
    LAVANT_TRY(const auto row, context.ports.reader.find_asset({workspace, app::kDatastoreKind, name, ""}));
    if (!row) return std::nullopt;
    LAVANT_TRY(Datastore datastore, from_row(*row));
    return datastore;
}

Result<std::vector<Datastore>> list_datastores(Context& context, const std::string& workspace) {
    std::vector<Datastore> all;
    for (const char* name : {kBlobDatastore, kArtifactDatastore}) {
        LAVANT_TRY(auto own, find_datastore(context, workspace, name));
        all.push_back(std::move(*own));
    }
    LAVANT_TRY(const auto rows, context.ports.reader.list_assets(rows_of(workspace)));
    for (const Asset& row : rows) {
        LAVANT_TRY(Datastore datastore, from_row(row));
        all.push_back(std::move(datastore));
    }
    std::sort(all.begin() + 2, all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
}

Result<Datastore> parse_datastore(Context& context, const std::string& workspace, const std::string& name,
                                  const Json& sent, const std::string& sealed_before) {
    if (!is_plain_name(name, kNameChars) || name.find('.') != std::string::npos)
        return bad_field("name", "must have letters, digits, '_' and '-' only");
    Datastore datastore{name, "", Json::object(), "", {}};
    const std::string folder = folder_of(sent);
    if (folder.empty()) LAVANT_TRY_VOID(check_kind(sent));
    for (const Json::Member& member : sent.members())
        if (member.key != "credentials" && member.key != "isDefault" && member.key != kSealedSecrets &&
            !member.value.is_null())
            datastore.properties.set(member.key, member.value);
    datastore.properties.set("isDefault", false);
    for (const char* map : {"tags", "properties"})
        if (!datastore.properties[map].is_object()) datastore.properties.set(map, Json::object());
    if (!folder.empty()) {
        datastore.properties.set("datastoreType", "AzureBlob");
        datastore.properties.set("credentials", Json::object({{"credentialsType", "AccountKey"}}));
        return datastore;
    }
    Json credentials = sent["credentials"];
    const std::string type = credentials["credentialsType"].string("None");
    if (std::ranges::find(kCredentials, type) == kCredentials.end())
        return bad_field("properties.credentials.credentialsType", "'" + type + "' is not known");
    if (const Json& secrets = credentials["secrets"]; secrets.is_object() && secrets.size() > 0)
        datastore.sealed =
            base64_encode(context.ports.crypto.seal(secrets.dump(), seal_context(workspace, name)));
    if (type != "None" && datastore.sealed.empty()) datastore.sealed = sealed_before;
    if (type != "None" && datastore.sealed.empty())
        return bad_field("properties.credentials.secrets", "is missing");
    credentials.remove("secrets");
    credentials.set("credentialsType", type);
    datastore.properties.set("credentials", std::move(credentials));
    return datastore;
}

Result<Json> open_secrets(Context& context, const std::string& workspace, const Datastore& datastore) {
    const auto sealed = base64_decode(datastore.sealed);
    if (datastore.sealed.empty() || !sealed)
        return fail(
            ErrorCode::InvalidArgument,
            "datastore '" + datastore.name + "' has no secrets: its credentials are those of whoever asks");
    LAVANT_TRY(const std::string plain,
               context.ports.crypto.open(*sealed, seal_context(workspace, datastore.name)));
    return wire::parse_json(plain);
}

Result<std::string> check_folder(Context& context, const std::string& path, const std::string& container) {
    const auto bad = [&](const std::string& why) {
        return fail(ErrorCode::InvalidArgument, "'" + path + "' cannot become a datastore: " + why);
    };
    if (!path.starts_with('/') || path.size() > kPathBytes || path.find('\0') != std::string::npos)
        return bad("write the whole path of a folder on the server's machine, from '/'");
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        return bad(errno == ENOENT ? "there is no such folder on the server's machine; make it first"
                                   : "the server cannot look at it");
    if (!S_ISDIR(status.st_mode)) return bad("it is not a folder");
    if (::access(path.c_str(), R_OK | X_OK) != 0) return bad("the server may not read it");
    const std::string real = real_path(path);
    const std::string data = real_path(context.settings.data_folder);
    if (lies_in(real, data)) return bad("it lies in the server's own data folder");
    if (lies_in(data, real)) return bad("the server's own data folder lies in it");
    std::string other;
    LAVANT_TRY_VOID(each_row(context.ports.reader, [&](const Asset& row) -> Result<void> {
        if (row.hash.empty() || row.hash == container) return {};
        LAVANT_TRY(const Json body, wire::parse_json(row.body));
        const std::string theirs = folder_of(body);
        if (!theirs.empty() && (lies_in(real, theirs) || lies_in(theirs, real))) other = row.key.name;
        return {};
    }));
    if (!other.empty()) return bad("it is, holds or lies in the folder of datastore '" + other + "'");
    return real;
}

Result<std::vector<AssetKey>> list_datastores_at(Context& context, const std::string& path) {
    const auto parts = split(path, '/');
    if (std::ranges::find(parts, "..") != parts.end() || path.find('\0') != std::string::npos)
        return fail(ErrorCode::InvalidArgument, "'" + path + "': write the path without '..'");
    const std::string real = real_beginning(path);
    std::vector<AssetKey> found;
    LAVANT_TRY_VOID(each_row(context.ports.reader, [&](const Asset& row) -> Result<void> {
        if (row.hash.empty()) return {};
        LAVANT_TRY(const Json body, wire::parse_json(row.body));
        const std::string folder = folder_of(body);
        if (folder.empty()) return {};
        const std::string theirs = real_path(folder);
        if (lies_in(real, theirs) || lies_in(theirs, real)) found.push_back(row.key);
        return {};
    }));
    return found;
}

Result<std::vector<std::string>> list_containers(Context& context) {
    std::vector<std::string> containers;
    LAVANT_TRY(const auto workspaces, app::list_workspace_keys(context.ports.reader));
    for (const std::string& workspace : workspaces) {
        LAVANT_TRY(const auto more, app::list_containers(context.ports.reader, workspace));
        containers.insert(containers.end(), more.begin(), more.end());
    }
    std::ranges::sort(containers);
    return containers;
}

Result<void> map_folders(ports::Reader& reader, ports::BlobStore& blobs) {
    return each_row(reader, [&](const Asset& row) -> Result<void> {
        if (row.hash.empty()) return {};
        LAVANT_TRY(const Json body, wire::parse_json(row.body));
        const std::string folder = folder_of(body);
        if (folder.empty()) return {};
        // One folder that cannot be used keeps the server from nothing else.
        if (const auto mapped = blobs.map_container(row.hash, folder); !mapped)
            log(Level::Warning, "datastore_not_mapped",
                {{"datastore", row.key.name}, {"why", mapped.error().message}});
        return {};
    });
}

}  // namespace lavant::api
