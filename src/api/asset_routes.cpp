#include "api/asset_routes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/answers.h"
#include "api/asset_view.h"
#include "api/assets.h"
#include "api/job_routes.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr Duration kUploadLife = std::chrono::hours(12);
constexpr std::size_t kNameChars = 255;

tl::unexpected<Error> not_there(const AssetKind& kind, const Call& call) {
    const std::string& version = call.param("version");
    return fail(ErrorCode::NotFound, kind.name + " '" + call.param("name") +
                                         (version.empty() ? "" : ":" + version) +
                                         "' not found in this workspace");
}

Result<Json> properties_of(const Call& call) {
    LAVANT_TRY(Json body, wire::parse_json(call.request.body));
    if (!body["properties"].is_object())
        return fail(ErrorCode::InvalidArgument, "the body has no `properties` object");
    return body["properties"];
}

AssetKey key_of(const AssetKind& kind, const Call& call) {
    return {call.workspace, kind.name, call.param("name"), call.param("version")};
}

Result<void> check_names(const Call& call) {
    for (const std::string& name : {call.param("name"), call.param("version")})
        if (!name.empty() && !is_plain_name(name, kNameChars))
            return fail(ErrorCode::InvalidArgument,
                        "'" + name + "': names and versions have letters, digits, '-', '_' and '.' only");
    return {};
}

Result<HttpResponse> get_version(const AssetKind& kind, Context& context, const Call& call) {
    AssetName name{call.param("name"), call.param("version"), ""};
    LAVANT_TRY(const auto asset, find_version(context, call.workspace, kind.name, name));
    if (!asset) return not_there(kind, call);
    LAVANT_TRY(const Json view, version_view(context, call, *asset));
    return json_response(200, view);
}

Result<HttpResponse> get_container(const AssetKind& kind, Context& context, const Call& call) {
    LAVANT_TRY(const auto asset, context.ports.reader.find_asset(key_of(kind, call)));
    if (!asset) return not_there(kind, call);
    LAVANT_TRY(const Json view, container_view(call, *asset));
    return json_response(200, view);
}

struct Paging {
    ports::AssetQuery query;
    std::int64_t top = 0;
};

Paging paging_of(const AssetKind& kind, const Call& call) {
    Paging paging;
    paging.query.workspace = call.workspace;
    paging.query.kind = kind.name;
    paging.query.name = call.param("name");
    paging.query.containers = call.param("name").empty();
    const std::string view = call.request.query_value("listViewType").value_or("ActiveOnly");
    if (equals_ignoring_case(view, "All")) paging.query.archived = std::nullopt;
    if (equals_ignoring_case(view, "ArchivedOnly")) paging.query.archived = true;
    paging.query.offset =
        std::max<std::int64_t>(0, parse_integer(call.request.query_value("$skip").value_or("0")).value_or(0));
    paging.top =
        std::max<std::int64_t>(0, parse_integer(call.request.query_value("$top").value_or("0")).value_or(0));
    paging.query.limit = static_cast<int>(
        paging.top == 0 ? limits::kListPage : std::min<std::int64_t>(paging.top, limits::kListPage));
    return paging;
}

Result<HttpResponse> list(const AssetKind& kind, Context& context, const Call& call) {
    const Paging paging = paging_of(kind, call);
    std::vector<Asset> assets;
    if (const auto hash = call.request.query_value("hash"); hash && kind.name == "codes") {
        // Whatever name the path has: the client makes up a new one before it knows whether the code is
        // there.
        LAVANT_TRY(auto hit, context.ports.reader.find_asset_by_hash(call.workspace, kind.name, *hash));
        if (hit) assets.push_back(std::move(*hit));
    } else {
        LAVANT_TRY(assets, context.ports.reader.list_assets(paging.query));
    }
    Json value = Json::array();
    for (const Asset& asset : assets) {
        LAVANT_TRY(Json view, paging.query.containers ? container_view(call, asset)
                                                      : version_view(context, call, asset));
        value.append(std::move(view));
    }
    Json body = Json::object({{"value", std::move(value)}});
    if (paging.top == 0 && assets.size() >= static_cast<std::size_t>(paging.query.limit)) {
        const std::string view = call.request.query_value("listViewType").value_or("ActiveOnly");
        body.set("nextLink", origin_of(context, call.request) + call.request.path +
                                 "?listViewType=" + percent_encode(view) +
                                 "&%24skip=" + std::to_string(paging.query.offset + paging.query.limit));
    }
    return json_response(200, body);
}

void answer_version(Context& context, const Call& call, int status, const Asset& asset) {
    const auto view = version_view(context, call, asset);
    call.respond(view ? json_response(status, *view) : error_response(view.error()));
}

struct VersionPut {
    std::vector<AssetWrite> writes;  // the version first
    int status = 201;
};

// A version that is not there yet, and its container.
Result<VersionPut> plan_new(const AssetKind& kind, Context& context, const Call& call, const Json& stored) {
    VersionPut plan;
    const Instant now = context.ports.clock.now();
    AssetWrite write;
    write.expected = 0;
    write.asset.key = key_of(kind, call);
    write.asset.body = stored.dump();
    write.asset.hash = kind.name == "codes" ? stored.get("properties.hash_sha256").scalar_text() : "";
    if (write.asset.hash == "null") write.asset.hash.clear();
    write.asset.created_by = call.caller.user;
    write.asset.created_at = write.asset.modified_at = now;
    plan.writes.push_back(write);
    if (!kind.has_containers || stored["isAnonymous"].boolean()) return plan;
    AssetWrite container;
    container.asset.key = {call.workspace, kind.name, call.param("name"), ""};
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(container.asset.key));
    if (existing) container.asset = *existing;
    LAVANT_TRY(const Json body, advance_container(existing ? existing->body : "", call.param("version")));
    container.asset.body = body.dump();
    if (!existing) {
        container.asset.created_by = call.caller.user;
        container.asset.created_at = now;
    }
    container.asset.modified_at = now;
    plan.writes.push_back(std::move(container));
    return plan;
}

Result<VersionPut> plan_put(const AssetKind& kind, Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_names(call));
    LAVANT_TRY(const Json sent, properties_of(call));
    LAVANT_TRY(const Json wanted, to_stored_asset(kind, sent));
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(key_of(kind, call)));
    const bool archived = sent["isArchived"].boolean();
    if (!existing) {
        LAVANT_TRY_VOID(context.space.check_room());
        if (const std::string place = wanted["codeUri"].string();
            kind.name == "codes" && !context.ports.blobs.has_container(place.substr(0, place.find('/'))))
            return fail(ErrorCode::InvalidArgument,
                        "properties.codeUri names a container that is not there; upload first");
        LAVANT_TRY(VersionPut plan, plan_new(kind, context, call, wanted));
        plan.writes.front().asset.archived = archived;
        return plan;
    }
    LAVANT_TRY(const Json stored, wire::parse_json(existing->body));
    if (!same_content(kind, stored, wanted))
        return fail(ErrorCode::Conflict,
                    kind.name + " '" + call.param("name") + ":" + call.param("version") +
                        "' exists with other content and cannot be changed; use another version");
    VersionPut plan;
    plan.status = 200;
    AssetWrite write;
    write.asset = *existing;
    write.asset.archived = archived;
    write.asset.body = merge_asset(kind, stored, wanted).dump();
    write.expected = existing->row_version;
    if (write.asset == *existing) return plan.writes = {write}, plan;
    write.asset.modified_at = context.ports.clock.now();
    plan.writes.push_back(std::move(write));
    return plan;
}

void put_version(const AssetKind& kind, Context& context, const SharedCall& call) {
    Result<VersionPut> plan = plan_put(kind, context, *call);
    if (!plan) return call->respond(error_response(plan.error()));
    const Asset asset = plan->writes.front().asset;
    plane::WriteAssets event;
    event.writes = std::move(plan->writes);
    post(context, call, std::move(event),
         [&context, call, asset, status = plan->status](const plane::Answer& answer) {
             if (!answer.assets_written.empty() && answer.assets_written.front())
                 return answer_version(context, *call, status, asset);
             // Somebody else wrote the same version in this moment; the same content is a success.
             const auto theirs = context.ports.reader.find_asset(asset.key);
             if (theirs && *theirs && (*theirs)->body == asset.body)
                 return answer_version(context, *call, 200, **theirs);
             call->respond(error_response({ErrorCode::Conflict,
                                           "'" + asset.key.name + ":" + asset.key.version +
                                               "' was written by another client at the same time; try again",
                                           {}}));
         });
}

Result<AssetWrite> plan_container(const AssetKind& kind, Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_names(call));
    LAVANT_TRY(const Json sent, properties_of(call));
    AssetWrite write;
    write.asset.key = key_of(kind, call);
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(write.asset.key));
    Json body = Json::object({{"nextVersion", "1"}});
    if (existing) {
        write.asset = *existing;
        LAVANT_TRY(body, wire::parse_json(existing->body));
    } else {
        write.asset.created_by = call.caller.user;
        write.asset.created_at = context.ports.clock.now();
    }
    for (const Json::Member& member : sent.members())
        if (member.key != "latestVersion" && member.key != "nextVersion" && member.key != "isArchived" &&
            !member.value.is_null())
            body.set(member.key, member.value);
    write.asset.body = body.dump();
    write.asset.archived = sent["isArchived"].boolean();
    write.asset.modified_at = context.ports.clock.now();
    return write;
}

void put_container(const AssetKind& kind, Context& context, const SharedCall& call) {
    Result<AssetWrite> write = plan_container(kind, context, *call);
    if (!write) return call->respond(error_response(write.error()));
    const Asset asset = write->asset;
    plane::WriteAssets event;
    event.writes.push_back(std::move(*write));
    post(context, call, std::move(event), [call, asset](const plane::Answer&) {
        const auto view = container_view(*call, asset);
        call->respond(view ? json_response(200, *view) : error_response(view.error()));
    });
}

Result<HttpResponse> start_upload(Context& context, const Call& call) {
    if (auto room = context.space.check_room(); !room) return no_room_response(room.error());
    const std::string id = to_hex(context.ports.crypto.random_bytes(16));
    const std::string container = "code-" + id;
    LAVANT_TRY_VOID(context.ports.blobs.make_container(container));
    const std::string origin = origin_of(context, call.request);
    const std::string sas =
        context.sas.make({container, "", "racwl", context.ports.clock.now() + kUploadLife});
    const std::string uri = origin + "/storage/" + kStorageHost + "/" + container;
    const std::string sas_uri = origin + "/storage/" + kStorageAccount + "/" + container + "?" + sas;
    return json_response(
        200, Json::object({{"pendingUploadId", id},
                           {"pendingUploadType", "TemporaryBlobReference"},
                           {"blobReferenceForConsumption",
                            Json::object({{"blobUri", uri},
                                          {"storageAccountArmId", ""},
                                          {"credential", Json::object({{"credentialType", "SAS"},
                                                                       {"sasUri", sas_uri}})}})}}));
}

}  // namespace

void add_asset_routes(Router& router, Context& context) {
    using Now = Result<HttpResponse> (*)(const AssetKind&, Context&, const Call&);
    using Later = void (*)(const AssetKind&, Context&, const SharedCall&);
    for (const AssetKind& kind : asset_kinds()) {
        const auto now = [&](Now handler) {
            return answer_now(context, Need::Reader, [&kind, handler](Context& shared, const Call& call) {
                return handler(kind, shared, call);
            });
        };
        const auto later = [&](Later handler) {
            return Route{Need::Contributor, [&kind, &context, handler](const SharedCall& call) {
                             handler(kind, context, call);
                         }};
        };
        const std::string all = std::string(kWorkspacePattern) + "/" + kind.name;
        const std::string versions = all + "/{name}/versions";
        router.add("GET", versions, now(list));
        router.add("GET", versions + "/{version}", now(get_version));
        router.add("PUT", versions + "/{version}", later(put_version));
        if (kind.name == "codes")
            router.add("POST", versions + "/{version}/startPendingUpload",
                       answer_now(context, Need::Contributor, start_upload));
        if (!kind.has_containers) continue;
        router.add("GET", all, now(list));
        router.add("GET", all + "/{name}", now(get_container));
        router.add("PUT", all + "/{name}", later(put_container));
    }
}

}  // namespace lavant::api
