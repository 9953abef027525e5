#include "api/workspace_life_routes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/answers.h"
#include "api/asset_names.h"
#include "api/asset_view.h"
#include "api/computes.h"
#include "api/datastores.h"
#include "api/job_routes.h"
#include "api/lock_routes.h"
#include "api/workspace_making.h"
#include "api/workspace_settings_routes.h"
#include "api/workspace_view.h"
#include "app/workspace_rows.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr const char* kGroup = "/subscriptions/{subscription}/resourceGroups/{group}";
constexpr const char* kWorkspaces = "/providers/Microsoft.MachineLearningServices/workspaces";
constexpr const char* kDeployments = "/providers/Microsoft.Resources/deployments/{deployment}";
constexpr const char* kStorage = "/providers/Microsoft.Storage/storageAccounts";
constexpr std::size_t kContainersMax = 100'000;  // of a workspace that is deleted

// Every workspace here is of the kind "default"; hubs and projects are not made.
bool wants_our_kind(const Call& call) {
    const std::string kinds = call.request.query_value("kind").value_or("");
    return kinds.empty() || std::ranges::any_of(split(kinds, ','), [](std::string_view kind) {
               return equals_ignoring_case(trim(kind), "default");
           });
}

Result<HttpResponse> list(Context& context, const Call& call) {
    Json value = Json::array();
    if (!wants_our_kind(call)) return json_response(200, Json::object({{"value", std::move(value)}}));
    LAVANT_TRY(const auto workspaces, context.workspaces.list());
    for (const Workspace& workspace : workspaces) {
        const bool wanted = equals_ignoring_case(workspace.name.subscription, call.param("subscription")) &&
                            (call.param("group").empty() ||
                             equals_ignoring_case(workspace.name.resource_group, call.param("group")));
        LAVANT_TRY(const Role role, context.access.role_in(call.caller, workspace.key, ""));
        if (!wanted || role < Role::Reader) continue;
        LAVANT_TRY(const WorkspaceSettings settings, load_settings(context, workspace.key));
        value.append(workspace_view(context, call, workspace, settings));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

// Makes it if it is not there; then it is changed like one that was.
void put(Context& context, const SharedCall& call) {
    const auto body = wire::parse_json(call->request.body);
    if (!body) return call->respond(error_response(body.error()));
    make_workspace(context, workspace_of(*call), (*body)["location"].string(), call->caller.user,
                   [&context, call](const Result<Workspace>& made) {
                       if (!made) return call->respond(error_response(made.error()));
                       call->workspace = made->key;
                       update_workspace(context, call);
                   });
}

// The container of an asset of the workspace that has one of its own: code, or what was uploaded for it; "".
Result<std::string> container_of_asset(const std::string& workspace, const Asset& asset) {
    LAVANT_TRY(const Json body, wire::parse_json(asset.body));
    std::string place = body["codeUri"].string();
    for (const Json* uri : {&body["dataUri"], &body["modelUri"], &body["build"]["contextUri"]})
        if (uri->is_string() && uri->text().find("/storage/") != std::string_view::npos)
            place = parse_storage_url(uri->text()).value_or("");
    const std::string container = place.substr(0, place.find('/'));
    const bool own = workspace_of_code(container) == workspace || workspace_of_upload(container) == workspace;
    return own ? container : "";
}

Result<void> add_asset_containers(Context& context, const std::string& workspace,
                                  std::vector<std::string>& containers) {
    for (const AssetKind& kind : asset_kinds()) {
        ports::AssetQuery query{
            .workspace = workspace, .kind = kind.name, .name = {}, .archived = std::nullopt};
        query.limit = ports::kRowsPerQuery;
        while (containers.size() < kContainersMax) {
            LAVANT_TRY(const auto assets, context.ports.reader.list_assets(query));
            for (const Asset& asset : assets) {
                LAVANT_TRY(std::string container, container_of_asset(workspace, asset));
                if (!container.empty()) containers.push_back(std::move(container));
            }
            if (std::ssize(assets) < query.limit) break;
            query.offset += query.limit;
        }
    }
    return {};
}

struct Deletion {
    plane::DeleteWorkspace event;
    std::vector<std::string> computes;
};

Result<Deletion> plan_deletion(Context& context, const Call& call) {
    LAVANT_TRY(const auto found, context.workspaces.find(workspace_of(call)));
    if (!found || found->deleted)
        return fail(ErrorCode::NotFound, "workspace '" + workspace_of(call).name + "' was not found");
    if (found->key == kDefaultWorkspace)
        return fail(ErrorCode::Conflict, "this is the server's own workspace; it cannot be deleted");
    LAVANT_TRY(const auto row,
               context.ports.reader.find_asset({"", app::kWorkspaceKind, app::row_name_of(found->name), ""}));
    if (!row) return fail(ErrorCode::NotFound, "workspace '" + found->name.name + "' was not found");
    LAVANT_TRY(const auto locks, context.ports.reader.list_locks());
    const std::string id = to_lower(arm_id(found->name));
    for (const Lock& lock : locks)
        if (covers(lock.scope, id) || lock.scope.starts_with(id + "/"))
            return fail(ErrorCode::Conflict,
                        "lock '" + lock.name + "' on " + lock.scope + " keeps it; remove the lock first");
    Deletion plan;
    LAVANT_TRY(const auto computes, list_computes(context, found->key));
    for (const StoredCompute& compute : computes) plan.computes.push_back(compute.name());
    Workspace gone = *found;
    gone.deleted = true;
    plan.event.workspace = found->key;
    plan.event.row = workspace_row(gone, row->row_version, context.ports.clock.now());
    plan.event.who = call.caller.user;
    LAVANT_TRY(plan.event.containers, app::list_containers(context.ports.reader, found->key));
    LAVANT_TRY_VOID(add_asset_containers(context, found->key, plan.event.containers));
    return plan;
}

HttpResponse accepted(const Context& context, const Call& call) {
    HttpResponse response;
    response.status = 202;
    response.headers.emplace_back(
        "Location", origin_of(context, call.request) + arm_id(workspace_of(call)) + "/operations/delete");
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

void remove_computes_then(Context& context, const SharedCall& call, std::shared_ptr<Deletion> plan) {
    if (!plan->computes.empty()) {
        plane::DeleteCompute event;
        event.workspace = plan->event.workspace;
        event.name = plan->computes.back();
        event.who = call->caller.user;
        plan->computes.pop_back();
        return post(context, call, std::move(event), [&context, call, plan](const plane::Answer&) {
            remove_computes_then(context, call, plan);
        });
    }
    post(context, call, plan->event, [&context, call](const plane::Answer&) {
        context.workspaces.forget(workspace_of(*call));
        context.container_places.clear();
        call->respond(accepted(context, *call));
    });
}

void remove(Context& context, const SharedCall& call) {
    auto plan = plan_deletion(context, *call);
    if (!plan) return call->respond(error_response(plan.error()));
    // Shared by the steps that follow each other.
    remove_computes_then(context, call, std::make_shared<Deletion>(std::move(*plan)));
}

Result<HttpResponse> deletion_status(Context& /*context*/, const Call& /*call*/) { return HttpResponse{}; }

std::string group_id(const Call& call) {
    return "/subscriptions/" + call.param("subscription") + "/resourceGroups/" + call.param("group");
}

// The key of the default datastore: it does not expire, so it is for owners, as with `listSecrets`.
Result<HttpResponse> list_keys(Context& context, const Call& call) {
    LAVANT_TRY_VOID(context.access.may_use_datastore(call.caller, call.workspace, kBlobDatastore, true));
    const std::string key = context.storage_key(blob_container(call.workspace));
    const std::string account = group_id(call) + kStorage + "/" + kStorageAccount;
    return json_response(200, Json::object({{"userStorageArmId", account},
                                            {"userStorageResourceId", account},  // its older name
                                            {"userStorageKey", base64_encode(key)},
                                            {"appInsightsInstrumentationKey", ""}}));
}

Result<HttpResponse> resync_keys(Context& /*context*/, const Call& /*call*/) { return HttpResponse{}; }

// --- what a workspace depends on ---

struct Companion {
    const char* path;  // below its group
    const char* name;
};
// They are names that every workspace answers with. Nothing is behind them that could be deleted: the bytes
// and secrets of a workspace go with the workspace.
constexpr std::array kCompanions = {Companion{kStorage, kStorageAccount},
                                    Companion{"/providers/Microsoft.KeyVault/vaults", "lavant"},
                                    Companion{"/providers/Microsoft.Insights/components", "lavant"}};

Result<HttpResponse> show_companion(const Companion& companion, const Call& call) {
    if (!equals_ignoring_case(call.param("resource"), companion.name))
        return fail(ErrorCode::NotFound, "'" + call.param("resource") + "' was not found");
    constexpr std::string_view kProviders = "/providers/";
    return json_response(200,
                         Json::object({{"id", group_id(call) + companion.path + "/" + companion.name},
                                       {"name", companion.name},
                                       {"type", std::string_view(companion.path).substr(kProviders.size())},
                                       {"location", "local"},
                                       {"tags", Json::object()},
                                       {"properties", Json::object({{"provisioningState", "Succeeded"}})}}));
}

Result<HttpResponse> keep_companion(Context& /*context*/, const Call& /*call*/) { return HttpResponse{}; }

// --- templates ---

Json deployment_view(const Call& call) {
    const WorkspaceName& name = workspace_of(call);
    return Json::object(
        {{"id", "/subscriptions/" + name.subscription + "/resourceGroups/" + name.resource_group +
                    "/providers/Microsoft.Resources/deployments/" + call.param("deployment")},
         {"name", call.param("deployment")},
         {"type", "Microsoft.Resources/deployments"},
         {"properties", Json::object({{"provisioningState", "Succeeded"},
                                      {"mode", "Incremental"},
                                      {"timestamp", "2026-01-01T00:00:00Z"},
                                      {"outputs", Json::object()}})}});
}

Result<HttpResponse> show_deployment(Context& /*context*/, const Call& call) {
    return json_response(200, deployment_view(call));
}

Result<HttpResponse> deployment_operations(Context& /*context*/, const Call& /*call*/) {
    return json_response(200, std::string(R"({"value":[]})"));
}

// The first of these parameters that is given: they are called differently in different releases.
Json parameter_of(const Json& parameters, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const Json& value = parameters[name]["value"]; !value.is_null()) return value;
    return {};
}

void deploy(Context& context, const SharedCall& call) {
    const auto body = wire::parse_json(call->request.body);
    if (!body) return call->respond(error_response(body.error()));
    const Json& parameters = (*body)["properties"]["parameters"];
    WorkspaceName name{call->param("subscription"), call->param("group"),
                       parameter_of(parameters, {"workspaceName"}).string()};
    if (name.name.empty())
        return call->respond(
            error_response({ErrorCode::InvalidArgument,
                            "only the template of azure-ai-ml that makes a workspace can be deployed here",
                            {}}));
    Json tags = parameter_of(parameters, {"tagValues"});
    const Json change = Json::object(
        {{"tags", tags.is_object() ? std::move(tags) : Json::object()},
         {"properties", Json::object({{"friendlyName", parameter_of(parameters, {"friendlyName"})},
                                      {"description", parameter_of(parameters, {"description"})}})}});
    call->workspace_name = name;
    make_workspace(context, name, parameter_of(parameters, {"location"}).string(), call->caller.user,
                   [&context, call, change](const Result<Workspace>& made) {
                       if (!made) return call->respond(error_response(made.error()));
                       call->workspace = made->key;
                       change_workspace(context, call, change, [call] {
                           call->respond(json_response(201, deployment_view(*call)));
                       });
                   });
}

}  // namespace

void add_workspace_life_routes(Router& router, Context& context) {
    const std::string group = kGroup;
    const auto anywhere = [](Route route) {
        route.any_workspace = true;
        return route;
    };
    router.add("PUT", kWorkspacePattern, anywhere(answer_later(context, Need::Owner, put)));
    router.add("DELETE", kWorkspacePattern, anywhere(answer_later(context, Need::Owner, remove)));
    router.add("GET", std::string(kWorkspacePattern) + "/operations/delete",
               anywhere(answer_now(context, Need::SignedIn, deletion_status)));
    router.add("POST", std::string(kWorkspacePattern) + "/listKeys",
               answer_now(context, Need::Owner, list_keys));
    router.add("POST", std::string(kWorkspacePattern) + "/resyncKeys",
               answer_now(context, Need::Owner, resync_keys));
    router.add("GET", group + kWorkspaces, answer_now(context, Need::SignedIn, list));
    router.add("GET", std::string("/subscriptions/{subscription}") + kWorkspaces,
               answer_now(context, Need::SignedIn, list));
    for (const Companion& companion : kCompanions) {
        const std::string pattern = group + companion.path + "/{resource}";
        router.add("GET", pattern,
                   answer_now(context, Need::SignedIn, [companion](Context&, const Call& call) {
                       return show_companion(companion, call);
                   }));
        router.add("DELETE", pattern, answer_now(context, Need::SignedIn, keep_companion));
    }
    router.add("PUT", group + kDeployments, answer_later(context, Need::ServerOwner, deploy));
    router.add("GET", group + kDeployments, answer_now(context, Need::SignedIn, show_deployment));
    router.add("GET", group + kDeployments + "/operations",
               answer_now(context, Need::SignedIn, deployment_operations));
}

}  // namespace lavant::api
