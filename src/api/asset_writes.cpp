#include "api/asset_writes.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/asset_use.h"
#include "api/assets.h"
#include "api/component_spec.h"
#include "api/container_places.h"
#include "api/curated.h"
#include "api/data_uris.h"
#include "api/environments.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

// How often a write that another client got in the way of is planned anew.
constexpr int kTries = 20;
// A container with more versions than this is not deleted in one go.
constexpr std::size_t kDeletedVersions = 10'000;

AssetKey key_of(const AssetKind& kind, const Call& call) {
    return {call.workspace, kind.name, call.param("name"), call.param("version")};
}

std::string label_of(const AssetKind& kind, const AssetKey& key) {
    return kind.one + " '" + key.name + (key.version.empty() ? "" : ":" + key.version) + "'";
}

void answer_busy(const Call& call, const AssetKind& kind, const AssetKey& key) {
    call.respond(error_response({ErrorCode::Conflict,
                                 label_of(kind, key) + " is being written by others all the time; try again",
                                 {}}));
}

Result<Json> properties_of(const Call& call) {
    LAVANT_TRY(Json body, wire::parse_json(call.request.body));
    if (!body["properties"].is_object())
        return fail(ErrorCode::InvalidArgument, "the body has no `properties` object");
    return body["properties"];
}

Result<void> check_names(const AssetKind& kind, const Call& call) {
    LAVANT_TRY_VOID(check_asset_name("the name of a " + kind.one, call.param("name")));
    if (call.param("version").empty()) return {};
    LAVANT_TRY_VOID(check_asset_name("the version of a " + kind.one, call.param("version")));
    if (kind.name == "components" && call.param("version") == kDefaultComponentVersion)
        return fail(ErrorCode::InvalidArgument,
                    std::string(kDefaultComponentVersion) + " is no version but the default one's label");
    if (kind.name == "environments" && call.param("name").starts_with(kCuratedPrefix))
        return fail(ErrorCode::InvalidArgument, "names that begin with " + std::string(kCuratedPrefix) +
                                                    " are those of curated environments; choose another");
    return {};
}

Result<void> check_size(const Json& stored) {
    if (stored.dump().size() <= kAssetBytes) return {};
    return fail(ErrorCode::InvalidArgument, "the properties of an asset have at most " +
                                                std::to_string(kAssetBytes >> 10) +
                                                " KiB; put what is larger "
                                                "into a file and register that");
}

// --- components ---

std::optional<Json> find_spec(Context& context, const std::string& workspace, std::string_view id) {
    const auto name = parse_asset_name(id, "components");
    if (!name || !check_scope(context, workspace, id)) return std::nullopt;
    const auto found = find_version(context, workspace, "components", *name);
    if (!found || !*found) return std::nullopt;
    auto body = wire::parse_json((*found)->body);
    if (!body) return std::nullopt;
    return (*body)["componentSpec"];
}

Result<void> check_codes(Context& context, const std::string& workspace, const Json& spec) {
    for (const SpecReference& code : code_references(spec)) {
        if (code.id.find("/codes/") == std::string::npos || code.id.starts_with("azureml://")) continue;
        const auto name = parse_asset_name(code.id, "codes");
        LAVANT_TRY_VOID(check_scope(context, workspace, code.id));
        if (!name)
            return fail(ErrorCode::InvalidArgument,
                        "properties." + code.path + ": '" + code.id + "' is not the id of a code version");
        LAVANT_TRY(const auto found, find_version(context, workspace, "codes", *name));
        if (!found)
            return fail(ErrorCode::InvalidArgument, "properties." + code.path + ": code '" + name->name +
                                                        ":" + name->version + "' not found; upload it again");
    }
    return {};
}

// --- what jobs left behind ---

// "runs:/JOB/PATH" is what MLflow calls the files that a job kept.
std::string to_job_uri(const std::string& uri) {
    constexpr std::string_view kRuns = "runs:/";
    if (!uri.starts_with(kRuns)) return uri;
    std::string rest = uri.substr(kRuns.size());
    while (rest.starts_with('/')) rest.erase(0, 1);
    const std::size_t slash = rest.find('/');
    if (slash == std::string::npos) return "azureml://jobs/" + rest + "/outputs/artifacts";
    return "azureml://jobs/" + rest.substr(0, slash) + "/outputs/artifacts/paths/" + rest.substr(slash + 1);
}

// An asset made from a job's output names the place, as clients look for files in datastores.
Result<void> settle_job_uri(Context& context, const Call& call, std::string_view field, Json& properties) {
    const std::string uri = to_job_uri(properties[field].string());
    if (!is_job_uri(uri)) return {};
    const auto place = resolve_data_uri(context, call.workspace, uri);
    if (!place)
        return fail(
            place.error().code == ErrorCode::NotFound ? ErrorCode::InvalidArgument : place.error().code,
            "properties." + std::string(field) + ": " + place.error().message);
    const auto in_store = parse_datastore_uri(place->uri);
    if (!in_store) return {};
    const WorkspaceName& workspace = workspace_of(call);
    properties.set(field, "azureml://subscriptions/" + workspace.subscription + "/resourcegroups/" +
                              workspace.resource_group + "/workspaces/" + workspace.name + "/datastores/" +
                              in_store->datastore + "/paths/" + in_store->path);
    constexpr std::string_view kJobs = "/jobs/";
    const std::string job = uri.substr(uri.find(kJobs) + kJobs.size());
    if (field == "modelUri" && properties["jobName"].is_null())
        properties.set("jobName", job.substr(0, job.find('/')));
    return {};
}

Result<Json> to_stored(const AssetKind& kind, Context& context, const Call& call, const Json& sent) {
    Json settled = sent;
    if (kind.name == "models") LAVANT_TRY_VOID(settle_job_uri(context, call, "modelUri", settled));
    if (kind.name == "data") LAVANT_TRY_VOID(settle_job_uri(context, call, "dataUri", settled));
    LAVANT_TRY(Json stored, to_stored_asset(kind, settled));
    if (kind.name == "components") {
        const bool anonymous = stored["isAnonymous"].boolean();
        LAVANT_TRY(Json spec,
                   complete_component(
                       stored["componentSpec"], {call.param("name"), call.param("version"), anonymous},
                       [&](std::string_view id) { return find_spec(context, call.workspace, id); }));
        LAVANT_TRY_VOID(check_codes(context, call.workspace, spec));
        stored.set("componentSpec", std::move(spec));
    }
    LAVANT_TRY_VOID(check_size(stored));
    return stored;
}

Result<void> check_unchanged(const AssetKind& kind, const AssetKey& key, const Json& stored,
                             const Json& wanted) {
    if (kind.name == "components") {
        if (wanted["isAnonymous"].boolean()) return {};
        const auto field = changed_component_field(stored["componentSpec"], wanted["componentSpec"]);
        if (!field) return {};
        return fail(ErrorCode::InvalidArgument, "cannot update " + label_of(kind, key) + ": its field \"" +
                                                    *field + "\" is immutable; use another version");
    }
    const auto field = changed_field(kind, stored, wanted);
    if (!field) return {};
    return fail(ErrorCode::Conflict, label_of(kind, key) + " exists with another `" + *field +
                                         "`, and that of a version cannot be changed; use another version");
}

// --- versions ---

struct VersionPut {
    std::vector<AssetWrite> writes;  // the version first, then its container
    int status = 201;
    bool changes = true;
};

// The container's row with one more version in it, to be written if nobody else did in the meantime.
Result<AssetWrite> plan_advance(Context& context, const AssetKey& version, const std::string& user) {
    AssetWrite write;
    write.asset.key = version;
    write.asset.key.version.clear();
    write.expected = 0;
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(write.asset.key));
    const Instant now = context.ports.clock.now();
    if (existing) {
        write.asset = *existing;
        write.expected = existing->row_version;
    } else {
        write.asset.created_by = user;
        write.asset.created_at = now;
    }
    LAVANT_TRY(const Json body, advance_container(existing ? existing->body : "", version.version));
    write.asset.body = body.dump();
    write.asset.modified_at = now;
    return write;
}

Result<VersionPut> plan_new(const AssetKind& kind, Context& context, const Call& call, const Json& stored) {
    LAVANT_TRY_VOID(context.space.check_room());
    if (kind.name == "codes") {
        LAVANT_TRY(const std::string datastore,
                   find_code_datastore(context, call.workspace, stored["codeUri"].string()));
        if (!datastore.empty())
            LAVANT_TRY_VOID(context.access.may_use_datastore(call.caller, call.workspace, datastore, false));
    }
    VersionPut plan;
    AssetWrite write;
    write.expected = 0;
    write.asset.key = key_of(kind, call);
    write.asset.body = stored.dump();
    const Json& hash = stored.get("properties.hash_sha256");
    if (kind.name == "codes" && !hash.is_null()) write.asset.hash = hash.scalar_text();
    write.asset.created_by = call.caller.user;
    write.asset.created_at = write.asset.modified_at = context.ports.clock.now();
    plan.writes.push_back(std::move(write));
    if (!kind.has_containers || stored["isAnonymous"].boolean()) return plan;
    LAVANT_TRY(AssetWrite container, plan_advance(context, key_of(kind, call), call.caller.user));
    plan.writes.push_back(std::move(container));
    return plan;
}

Result<VersionPut> plan_put(const AssetKind& kind, Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_names(kind, call));
    LAVANT_TRY(const Json sent, properties_of(call));
    LAVANT_TRY(const Json wanted, to_stored(kind, context, call, sent));
    const AssetKey key = key_of(kind, call);
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(key));
    const bool archived = sent["isArchived"].boolean();
    if (!existing) {
        LAVANT_TRY(VersionPut plan, plan_new(kind, context, call, wanted));
        plan.writes.front().asset.archived = archived;
        return plan;
    }
    LAVANT_TRY(const Json stored, wire::parse_json(existing->body));
    LAVANT_TRY_VOID(check_unchanged(kind, key, stored, wanted));
    VersionPut plan;
    plan.status = 200;
    AssetWrite write;
    write.asset = *existing;
    write.asset.archived = archived;
    const Json merged = merge_asset(kind, stored, wanted);
    LAVANT_TRY_VOID(check_size(merged));
    write.asset.body = merged.dump();
    write.expected = existing->row_version;
    plan.changes = !(write.asset == *existing);
    if (plan.changes) write.asset.modified_at = context.ports.clock.now();
    plan.writes.push_back(std::move(write));
    return plan;
}

void answer_version(Context& context, const Call& call, int status, const Asset& asset) {
    const auto view = version_view(context, call, asset);
    call.respond(view ? json_response(status, *view) : error_response(view.error()));
}

// The version is there; only its container's count was overtaken by another client's.
void advance_again(const AssetKind& kind, Context& context, const SharedCall& call, const Asset& version,
                   int tries) {
    if (tries == 0) return answer_busy(*call, kind, version.key);
    Result<AssetWrite> write = plan_advance(context, version.key, call->caller.user);
    if (!write) return call->respond(error_response(write.error()));
    plane::WriteAssets event;
    event.writes.push_back(std::move(*write));
    post(context, call, std::move(event),
         [&kind, &context, call, version, tries](const plane::Answer& answer) {
             if (!answer.assets_written.empty() && answer.assets_written.front())
                 return answer_version(context, *call, 201, version);
             advance_again(kind, context, call, version, tries - 1);
         });
}

void try_put(const AssetKind& kind, Context& context, const SharedCall& call, int tries) {
    Result<VersionPut> plan = plan_put(kind, context, *call);
    if (!plan) return call->respond(error_response(plan.error()));
    const Asset asset = plan->writes.front().asset;
    if (!plan->changes) return answer_version(context, *call, plan->status, asset);
    if (tries == 0) return answer_busy(*call, kind, asset.key);
    plane::WriteAssets event;
    event.writes = std::move(plan->writes);
    post(context, call, std::move(event),
         [&kind, &context, call, asset, tries, status = plan->status](const plane::Answer& answer) {
             const std::vector<bool>& written = answer.assets_written;
             if (written.empty() || !written.front()) return try_put(kind, context, call, tries - 1);
             if (written.size() > 1 && !written[1]) return advance_again(kind, context, call, asset, kTries);
             answer_version(context, *call, status, asset);
         });
}

// --- containers ---

Result<AssetWrite> plan_container(const AssetKind& kind, Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_names(kind, call));
    LAVANT_TRY(const Json sent, properties_of(call));
    for (const char* field : {"tags", "properties"})
        if (!sent[field].is_null() && !sent[field].is_object())
            return fail(ErrorCode::InvalidArgument,
                        std::string("properties.") + field + " must be an object");
    AssetWrite write;
    write.asset.key = key_of(kind, call);
    write.expected = 0;
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(write.asset.key));
    Json body = Json::object({{"nextVersion", "1"}});
    if (existing) {
        write.asset = *existing;
        write.expected = existing->row_version;
        LAVANT_TRY(body, wire::parse_json(existing->body));
    } else {
        write.asset.created_by = call.caller.user;
        write.asset.created_at = context.ports.clock.now();
    }
    for (const Json::Member& member : sent.members())
        if (member.key != "latestVersion" && member.key != "nextVersion" && member.key != "isArchived" &&
            member.key != "provisioningState" && !member.value.is_null())
            body.set(member.key, member.value);
    LAVANT_TRY_VOID(check_size(body));  // not only what was sent: edits add up
    write.asset.body = body.dump();
    write.asset.archived = sent["isArchived"].boolean();
    write.asset.modified_at = context.ports.clock.now();
    return write;
}

void try_put_container(const AssetKind& kind, Context& context, const SharedCall& call, int tries) {
    Result<AssetWrite> write = plan_container(kind, context, *call);
    if (!write) return call->respond(error_response(write.error()));
    const Asset asset = write->asset;
    if (tries == 0) return answer_busy(*call, kind, asset.key);
    plane::WriteAssets event;
    event.writes.push_back(std::move(*write));
    post(context, call, std::move(event), [&kind, &context, call, asset, tries](const plane::Answer& answer) {
        if (answer.assets_written.empty() || !answer.assets_written.front())
            return try_put_container(kind, context, call, tries - 1);
        const auto view = container_view(context, *call, asset);
        call->respond(view ? json_response(200, *view) : error_response(view.error()));
    });
}

// --- deleting ---

// As they were when they were looked at: a version that another client adds in this moment keeps its
// container.
void remove_all(Context& context, const SharedCall& call, const std::vector<Asset>& assets) {
    plane::WriteAssets event;
    for (const Asset& asset : assets) {
        AssetWrite write;
        write.asset.key = asset.key;
        write.expected = asset.row_version;
        write.remove = true;
        event.writes.push_back(std::move(write));
    }
    post(context, call, std::move(event), [&context, call](const plane::Answer& answer) {
        // Jobs may name a version that is made anew with other content.
        context.environments.clear();
        context.codes.clear();
        if (std::ranges::all_of(answer.assets_written, [](bool written) { return written; }))
            return call->respond(HttpResponse{.status = 204});
        call->respond(error_response({ErrorCode::Conflict,
                                      "'" + call->param("name") +
                                          "' was written by another client at the same time; look at it, and "
                                          "delete what is left",
                                      {}}));
    });
}

void refuse_or_remove(Context& context, const SharedCall& call, const Result<std::vector<Asset>>& assets) {
    if (!assets) return call->respond(error_response(assets.error()));
    if (assets->empty()) return call->respond(HttpResponse{.status = 204});
    const AssetKey& key = assets->front().key;
    if (key.kind == "environments" && key.name == kBaseEnvironment)
        return call->respond(error_response(
            {ErrorCode::Conflict,
             "environment '" + key.name + "' is there from the start and stays; archive it instead",
             {}}));
    if (const auto free = check_unused(context, *assets); !free)
        return call->respond(error_response(free.error()));
    remove_all(context, call, *assets);
}

Result<std::vector<Asset>> all_of(Context& context, const AssetKey& container) {
    LAVANT_TRY(const auto row, context.ports.reader.find_asset(container));
    ports::AssetQuery query;
    query.workspace = container.workspace;
    query.kind = container.kind;
    query.name = container.name;
    query.archived = std::nullopt;
    query.limit = static_cast<int>(kDeletedVersions);
    LAVANT_TRY(auto assets, context.ports.reader.list_assets(query));
    if (assets.size() >= kDeletedVersions)
        return fail(ErrorCode::Conflict, "'" + container.name + "' has " + std::to_string(kDeletedVersions) +
                                             " versions or more; delete some of them first");
    if (row) assets.push_back(*row);
    return assets;
}

}  // namespace

void put_version(const AssetKind& kind, Context& context, const SharedCall& call) {
    try_put(kind, context, call, kTries);
}

void put_container(const AssetKind& kind, Context& context, const SharedCall& call) {
    try_put_container(kind, context, call, kTries);
}

void delete_version(const AssetKind& kind, Context& context, const SharedCall& call) {
    auto found = context.ports.reader.find_asset(key_of(kind, *call));
    if (!found) return call->respond(error_response(found.error()));
    std::vector<Asset> assets;
    if (*found) assets.push_back(std::move(**found));
    refuse_or_remove(context, call, assets);
}

void delete_container(const AssetKind& kind, Context& context, const SharedCall& call) {
    refuse_or_remove(context, call, all_of(context, key_of(kind, *call)));
}

}  // namespace lavant::api
