#include "api/datastore_routes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/answers.h"
#include "api/datastores.h"
#include "api/job_routes.h"
#include "app/workspace_rows.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::int64_t kSecretHoursMax = 24;
constexpr std::size_t kContainerHexBytes = 12;

tl::unexpected<Error> no_datastore(const std::string& name) {
    return fail(ErrorCode::NotFound,
                "datastore '" + name + "' not found in this workspace; see: lavant datastore list");
}

Json view_of(const Context& context, const Call& call, const Datastore& datastore) {
    Json properties = datastore.properties;
    if (call.caller.role <
        Role::Owner) {  // where a folder lies on the server's machine is the owners' matter
        properties.remove("lavant");
        if (properties["properties"].is_object()) properties.member("properties").remove("lavant.path");
    }
    if (!datastore.container.empty()) {
        // The client puts "https://" in front and ".blob.core.windows.net" behind the account's name: path
        // style storage on this very port, without a name server.
        const std::string origin = origin_of(context, call.request);
        properties.set("accountName",
                       origin.substr(std::string_view("https://").size()) + "/storage/" + kStorageAccount);
        properties.set("containerName", datastore.container);
        properties.set("endpoint", "core.windows.net");
        properties.set("protocol", "https");
    }
    Json view = Json::object({{"id", arm_id(workspace_of(call)) + "/datastores/" + datastore.name},
                              {"name", datastore.name},
                              {"type", "Microsoft.MachineLearningServices/workspaces/datastores"},
                              {"properties", std::move(properties)}});
    if (datastore.row)
        view.set("systemData", Json::object({{"createdBy", datastore.row->created_by},
                                             {"createdByType", "User"},
                                             {"createdAt", to_rfc3339(datastore.row->created_at)},
                                             {"lastModifiedAt", to_rfc3339(datastore.row->modified_at)}}));
    return view;
}

Result<HttpResponse> get_datastore(Context& context, const Call& call) {
    LAVANT_TRY(const auto datastore, find_datastore(context, call.workspace, call.param("name")));
    if (!datastore) return no_datastore(call.param("name"));
    return json_response(200, view_of(context, call, *datastore));
}

// Which of them a query asks for.
bool is_wanted(const ports::HttpRequest& request, const Datastore& datastore) {
    const std::string is_default = to_lower(request.query_value("isDefault").value_or(""));
    if (is_default == "true" && datastore.name != kBlobDatastore) return false;
    if (is_default == "false" && datastore.name == kBlobDatastore) return false;
    const std::string names = request.query_value("names").value_or("");
    if (const auto all = split(names, ',');
        !names.empty() && std::ranges::find(all, datastore.name) == all.end())
        return false;
    const std::string text = to_lower(request.query_value("searchText").value_or(""));
    return text.empty() || to_lower(datastore.name).find(text) != std::string::npos;
}

Result<HttpResponse> list(Context& context, const Call& call) {
    const ports::HttpRequest& request = call.request;
    LAVANT_TRY(std::vector<Datastore> all, list_datastores(context, call.workspace));
    std::erase_if(all, [&](const Datastore& one) { return !is_wanted(request, one); });
    const auto number = [&](std::string_view name, std::int64_t otherwise) {
        return parse_integer(request.query_value(name).value_or("")).value_or(otherwise);
    };
    const auto skip = static_cast<std::size_t>(std::max<std::int64_t>(0, number("$skip", 0)));
    const auto page = static_cast<std::size_t>(
        std::clamp<std::int64_t>(number("count", limits::kListPage), 1, limits::kListPage));
    Json value = Json::array();
    for (std::size_t i = skip; i < std::min(all.size(), skip + page); ++i)
        value.append(view_of(context, call, all[i]));
    Json body = Json::object({{"value", std::move(value)}});
    if (skip + page < all.size()) {
        std::string link =
            origin_of(context, request) + request.path + "?%24skip=" + std::to_string(skip + page);
        for (const std::string_view pair : split(request.query, '&'))
            if (!pair.empty() && !pair.starts_with("$skip=") && !pair.starts_with("%24skip="))
                (link += "&") += pair;
        body.set("nextLink", link);
    }
    return json_response(200, body);
}

Result<HttpResponse> list_secrets(Context& context, const Call& call) {
    LAVANT_TRY(const auto datastore, find_datastore(context, call.workspace, call.param("name")));
    if (!datastore) return no_datastore(call.param("name"));
    Json body;
    if (!call.request.body.empty()) {
        LAVANT_TRY(body, wire::parse_json(call.request.body));
    }
    LAVANT_TRY_VOID(context.access.may_use_datastore(call.caller, call.workspace, datastore->name, false));
    const bool writes =
        context.access.may_use_datastore(call.caller, call.workspace, datastore->name, true).has_value();
    if (datastore->container.empty()) {
        if (!writes)
            return fail(ErrorCode::PermissionDenied,
                        "the secrets of a datastore are for contributors and owners; ask an owner");
        LAVANT_TRY(const Json secrets, open_secrets(context, call.workspace, *datastore));
        return json_response(200, secrets);
    }
    // A key does not expire, and opens the datastore for everything.
    if (body["expirableSecret"].is_boolean() && !body["expirableSecret"].boolean() &&
        call.caller.role >= Role::Owner)
        return json_response(
            200, Json::object({{"secretsType", "AccountKey"},
                               {"key", base64_encode(context.storage_key(datastore->container))}}));
    SasOffer offer;
    offer.container = datastore->container;
    offer.permissions = writes ? "racwdl" : "rl";
    offer.expires_at =
        context.ports.clock.now() +
        std::chrono::hours(std::clamp<std::int64_t>(body["expireAfterHours"].integer(1), 1, kSecretHoursMax));
    return json_response(200, Json::object({{"secretsType", "Sas"}, {"sasToken", context.sas.make(offer)}}));
}

struct Put {
    Datastore datastore;
    AssetWrite write;
    bool is_new = false;
    std::string folder;  // to be mapped
};

Result<Put> plan_put(Context& context, const Call& call) {
    const std::string& name = call.param("name");
    if (name == kBlobDatastore || name == kArtifactDatastore)
        return fail(ErrorCode::Conflict,
                    "datastore '" + name + "' is the workspace's own and stays as it is");
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    if (!body["properties"].is_object())
        return fail(ErrorCode::InvalidArgument, "the body has no `properties` object");
    Put put;
    LAVANT_TRY(const auto existing, find_datastore(context, call.workspace, name));
    LAVANT_TRY(put.datastore, parse_datastore(context, call.workspace, name, body["properties"],
                                              existing ? existing->sealed : ""));
    Json& properties = put.datastore.properties;
    put.is_new = !existing;
    const std::string path = folder_of(properties);
    if (existing && existing->container.empty() != path.empty())
        return fail(ErrorCode::Conflict,
                    "datastore '" + name + "' is of another kind; delete it first, or choose another name");
    if (!path.empty()) {
        if (call.caller.server_role < Role::Owner)
            return fail(
                ErrorCode::PermissionDenied,
                "only an owner of the server makes a folder of the server's machine a datastore; ask one");
        const std::string container =
            existing ? existing->container
                     : "folder-" + to_hex(context.ports.crypto.random_bytes(kContainerHexBytes));
        LAVANT_TRY(put.folder, check_folder(context, path, container));
        if (existing && folder_of(existing->properties) != put.folder)
            return fail(ErrorCode::Conflict,
                        "datastore '" + name + "' has another folder; delete it first, its files stay");
        properties.set("lavant", Json::object({{"path", put.folder}}));
        put.datastore.container = container;
    }
    Asset& asset = put.write.asset;
    const Instant now = context.ports.clock.now();
    asset.key = {call.workspace, app::kDatastoreKind, name, ""};
    asset.created_by = existing && existing->row ? existing->row->created_by : call.caller.user;
    asset.created_at = existing && existing->row ? existing->row->created_at : now;
    asset.modified_at = now;
    asset.hash = put.datastore.container;
    put.write.expected = existing && existing->row ? existing->row->row_version : 0;
    Json stored = properties;
    if (!put.datastore.sealed.empty()) stored.set(kSealedSecrets, put.datastore.sealed);
    asset.body = stored.dump();
    put.datastore.row = asset;
    return put;
}

Error written_meanwhile(const std::string& name) {
    return {ErrorCode::Conflict,
            "datastore '" + name + "' was changed by another client at the same time; try again",
            {}};
}

void put_datastore(Context& context, const SharedCall& call) {
    Result<Put> put = plan_put(context, *call);
    if (!put) return call->respond(error_response(put.error()));
    plane::WriteAssets event;
    event.writes.push_back(put->write);
    post(context, call, std::move(event), [&context, call, put = *put](const plane::Answer& answer) {
        if (answer.assets_written.empty() || !answer.assets_written.front())
            return call->respond(error_response(written_meanwhile(put.datastore.name)));
        if (!put.folder.empty() && put.is_new) {
            const auto mapped = context.ports.blobs.map_container(put.datastore.container, put.folder);
            if (!mapped) return call->respond(error_response(mapped.error()));
        }
        call->respond(json_response(put.is_new ? 201 : 200, view_of(context, *call, put.datastore)));
    });
}

void delete_datastore(Context& context, const SharedCall& call) {
    const std::string name = call->param("name");
    const auto found = find_datastore(context, call->workspace, name);
    if (!found) return call->respond(error_response(found.error()));
    if (!*found) {
        HttpResponse gone;
        gone.status = 204;
        return call->respond(std::move(gone));
    }
    if (!(*found)->row)
        return call->respond(
            error_response({ErrorCode::Conflict,
                            "datastore '" + name + "' is the workspace's own and cannot be deleted",
                            {}}));
    if (!(*found)->container.empty() && call->caller.role < Role::Owner)
        return call->respond(error_response({ErrorCode::PermissionDenied,
                                             "only an owner deletes a datastore that is a folder; ask one",
                                             {}}));
    AssetWrite write;
    write.asset = *(*found)->row;
    write.expected = write.asset.row_version;
    write.remove = true;
    plane::WriteAssets event;
    event.writes.push_back(std::move(write));
    post(context, call, std::move(event),
         [&context, call, name, container = (*found)->container](const plane::Answer& answer) {
             if (answer.assets_written.empty() || !answer.assets_written.front())
                 return call->respond(error_response(written_meanwhile(name)));
             if (!container.empty()) context.ports.blobs.unmap_container(container);  // its files stay
             context.container_places.clear();
             HttpResponse done;
             done.status = 200;
             call->respond(std::move(done));
         });
}

}  // namespace

void add_datastore_routes(Router& router, Context& context) {
    const std::string all = std::string(kWorkspacePattern) + "/datastores";
    router.add("GET", all, answer_now(context, Need::Reader, list));
    router.add("GET", all + "/{name}", answer_now(context, Need::Reader, get_datastore));
    router.add("PUT", all + "/{name}", answer_later(context, Need::Contributor, put_datastore));
    router.add("DELETE", all + "/{name}", answer_later(context, Need::Contributor, delete_datastore));
    router.add("POST", all + "/{name}/listSecrets", answer_now(context, Need::Reader, list_secrets));
}

}  // namespace lavant::api
