#include "api/asset_routes.h"

#include <chrono>
#include <utility>

#include "api/answers.h"
#include "api/asset_lists.h"
#include "api/asset_view.h"
#include "api/asset_writes.h"
#include "api/assets.h"
#include "api/curated.h"
#include "api/job_routes.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr Duration kUploadLife = std::chrono::hours(12);

tl::unexpected<Error> not_there(const AssetKind& kind, const Call& call) {
    std::string what = kind.one + " '" + call.param("name");
    if (!call.param("version").empty()) what += ":" + call.param("version");
    if (!call.param("label").empty()) what += "@" + call.param("label");
    return fail(ErrorCode::NotFound, what + "' not found in this workspace");
}

// A curated environment, unless the workspace has one of that name.
const CuratedEnvironment* curated_of(const AssetKind& kind, const Call& call) {
    const std::string& name = call.param("name");
    return kind.name == "environments" && name.starts_with(kCuratedPrefix) ? find_curated(name) : nullptr;
}

Result<HttpResponse> answer_found(const AssetKind& kind, Context& context, const Call& call,
                                  const AssetName& name) {
    LAVANT_TRY(const auto asset, find_version(context, call.workspace, kind.name, name));
    if (asset) {
        LAVANT_TRY(const Json view, version_view(context, call, *asset, name.label));
        return json_response(200, view);
    }
    if (const CuratedEnvironment* curated = curated_of(kind, call))
        if (const auto version = curated_version(*curated, name.version.empty() ? name.label : name.version))
            return json_response(200, curated_version_view(*curated, *version));
    return not_there(kind, call);
}

Result<HttpResponse> get_version(const AssetKind& kind, Context& context, const Call& call) {
    const std::string& version = call.param("version");
    if (kind.name == "components" && version == kDefaultComponentVersion)
        return answer_found(kind, context, call, {call.param("name"), "", "default"});
    return answer_found(kind, context, call, {call.param("name"), version, ""});
}

Result<HttpResponse> get_label(const AssetKind& kind, Context& context, const Call& call) {
    return answer_found(kind, context, call, {call.param("name"), "", call.param("label")});
}

Result<HttpResponse> get_container(const AssetKind& kind, Context& context, const Call& call) {
    LAVANT_TRY(const auto asset,
               context.ports.reader.find_asset({call.workspace, kind.name, call.param("name"), ""}));
    if (asset) {
        LAVANT_TRY(const Json view, container_view(context, call, *asset));
        return json_response(200, view);
    }
    if (const CuratedEnvironment* curated = curated_of(kind, call))
        return json_response(200, curated_container_view(*curated));
    return not_there(kind, call);
}

Result<HttpResponse> list(const AssetKind& kind, Context& context, const Call& call) {
    const CuratedEnvironment* curated = curated_of(kind, call);
    if (curated == nullptr) return list_assets(kind, context, call);
    Json value = Json::array();
    value.append(curated_version_view(*curated, std::to_string(curated->latest)));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

// A container of its own for one upload, and a SAS that opens it alone.
Result<HttpResponse> start_upload(const AssetKind& kind, Context& context, const Call& call) {
    if (auto room = context.space.check_room(); !room) return no_room_response(room.error());
    LAVANT_TRY_VOID(check_asset_name("the name of a " + kind.one, call.param("name")));
    LAVANT_TRY_VOID(check_asset_name("the version of a " + kind.one, call.param("version")));
    const std::string id = to_hex(context.ports.crypto.random_bytes(16));
    const std::string container =
        kind.name == "codes" ? code_container(call.workspace, id) : upload_container(call.workspace, id);
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
        const auto now = [&](Need need, Now handler) {
            return answer_now(context, need, [&kind, handler](Context& shared, const Call& call) {
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
        const Route listing{Need::Reader, [&kind, &context](const SharedCall& call) {
                                const auto answer = [&kind, &context, call] {
                                    const Result<HttpResponse> listed = list(kind, context, *call);
                                    call->respond(listed ? *listed : error_response(listed.error()));
                                };
                                is_search(*call) ? run_slowly(context, answer) : answer();
                            }};
        router.add("GET", versions, listing);
        router.add("GET", versions + "/{version}", now(Need::Reader, get_version));
        router.add("PUT", versions + "/{version}", later(put_version));
        router.add("DELETE", versions + "/{version}", later(delete_version));
        router.add("POST", versions + "/{version}/startPendingUpload", now(Need::Contributor, start_upload));
        router.add("GET", all, listing);
        router.add("DELETE", all + "/{name}", later(delete_container));
        if (!kind.has_containers) continue;
        router.add("GET", all + "/{name}", now(Need::Reader, get_container));
        router.add("GET", all + "/{name}/labels/{label}", now(Need::Reader, get_label));
        router.add("PUT", all + "/{name}", later(put_container));
    }
}

}  // namespace lavant::api
