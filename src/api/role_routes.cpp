#include "api/role_routes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "api/access_changes.h"
#include "api/answers.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::size_t kAssignmentsMax = 50'000;
constexpr std::size_t kResourceNameChars = 255;
constexpr std::size_t kIdChars = 16;
constexpr std::array<std::string_view, 9> kResourceKinds{
    "codes", "components", "computes", "data", "datastores", "environments", "jobs", "models", "schedules"};

Json view_of(const Assignment& one, std::string_view workspace_id) {
    Json view = Json::object({{"id", one.id}, {"principal", one.principal}});
    if (one.role) view.set("role", name_of(*one.role));
    if (one.data) view.set("data", name_of(*one.data));
    std::string scope = "/";
    if (!one.workspace.empty()) scope = workspace_id.empty() ? one.workspace : std::string(workspace_id);
    if (!one.resource.empty()) scope += "/" + one.resource;
    view.set("scope", scope);
    return view;
}

Result<std::vector<Assignment>> load_all(Context& context) {
    LAVANT_TRY(const auto rows, list_rows(context.ports.reader, kRoleKind));
    std::vector<Assignment> all;
    for (const Asset& row : rows) {
        LAVANT_TRY(Assignment one, assignment_of(row));
        all.push_back(std::move(one));
    }
    return all;
}

// Those of a workspace and, as they count there too, those of the server.
Result<HttpResponse> list(Context& context, const Call& call, const std::string& workspace) {
    LAVANT_TRY(const auto all, load_all(context));
    const std::string principal = call.request.query_value("principal").value_or("");
    Json value = Json::array();
    for (const Assignment& one : all) {
        if (!one.workspace.empty() && one.workspace != workspace) continue;
        if (!principal.empty() && one.principal != principal) continue;
        value.append(view_of(one, arm_id(workspace_of(call))));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<void> check_resource(const std::string& resource, bool is_data) {
    if (resource.empty() && !is_data) return {};
    const std::size_t slash = resource.find('/');
    const std::string kind = resource.substr(0, slash);
    const std::string name = slash == std::string::npos ? "" : resource.substr(slash + 1);
    const bool known = std::ranges::find(kResourceKinds, kind) != kResourceKinds.end();
    if (is_data && kind != "datastores")
        return fail(ErrorCode::InvalidArgument,
                    "a data right is given for one datastore: {\"resource\": \"datastores/NAME\"}");
    if (!known || !is_plain_name(name, kResourceNameChars))
        return fail(ErrorCode::InvalidArgument,
                    "resource is a kind and a name, such as computes/gpu or datastores/team");
    return {};
}

// Whoever has a row, and users of keys from before there were rows.
Result<void> check_principal(Context& context, const std::string& principal) {
    if (principal == kEveryone) return {};
    ports::Reader& reader = context.ports.reader;
    if (principal.starts_with(kGroupPrefix)) {
        const std::string group = principal.substr(kGroupPrefix.size());
        LAVANT_TRY(const auto row, reader.find_asset({"", kGroupKind, group, ""}));
        if (row) return {};
        return fail(ErrorCode::NotFound,
                    "group '" + group + "' was not found; make it with `lavant group create " + group + "`");
    }
    LAVANT_TRY(const bool known, is_known_principal(reader, principal));
    if (known) return {};
    LAVANT_TRY(const auto keys, list_rows(reader, kKeyKind));
    for (const Asset& row : keys) {
        LAVANT_TRY(const KeyFacts facts, key_facts(row));
        if (facts.user == principal) return {};
    }
    return fail(ErrorCode::NotFound, "user '" + principal +
                                         "' was not found; make it with `lavant user create " + principal +
                                         "`, or name a group as group:NAME");
}

Result<AssetWrite> plan_assignment(Context& context, const Call& call, const std::string& workspace) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    Assignment one{.id = "",
                   .principal = body["principal"].string(),
                   .workspace = workspace,
                   .resource = body["resource"].string()};
    if (body.has("role") == body.has("data"))
        return fail(ErrorCode::InvalidArgument, "give either a role or a data right");
    if (body.has("role")) {
        LAVANT_TRY(one.role, parse_role(body["role"].text()));
    } else {
        LAVANT_TRY(one.data, parse_data_right(body["data"].text()));
    }
    if (workspace.empty() && (one.data || !one.resource.empty()))
        return fail(ErrorCode::InvalidArgument, "a resource is in a workspace; the server has none");
    LAVANT_TRY_VOID(check_resource(one.resource, one.data.has_value()));
    LAVANT_TRY_VOID(check_principal(context, one.principal));
    LAVANT_TRY(const auto all, list_rows(context.ports.reader, kRoleKind));
    if (all.size() >= kAssignmentsMax)
        return fail(ErrorCode::ResourceExhausted, "there are 50,000 role assignments already");
    AssetWrite write;
    write.asset.body = assignment_body(one);
    // The same words are the same assignment: giving a role twice gives it once.
    write.asset.key = {"", kRoleKind,
                       "ra-" + to_hex(context.ports.crypto.sha256(write.asset.body)).substr(0, kIdChars), ""};
    write.asset.created_by = call.caller.user;
    write.asset.created_at = write.asset.modified_at = context.ports.clock.now();
    return write;
}

void assign(Context& context, const SharedCall& call, const std::string& workspace) {
    const auto row = std::make_shared<Asset>();  // shared by the two steps
    change_access(
        context, call,
        [&context, call, workspace, row]() -> Result<plane::WriteAssets> {
            LAVANT_TRY(AssetWrite write, plan_assignment(context, *call, workspace));
            *row = write.asset;
            return plane::WriteAssets{.writes = {std::move(write)}};
        },
        [call, row](const plane::Answer&) {
            const auto one = assignment_of(*row);
            call->respond(one ? json_response(201, view_of(*one, arm_id(workspace_of(*call))))
                              : error_response(one.error()));
        });
}

Result<plane::WriteAssets> plan_revocation(Context& context, const Call& call, const std::string& workspace) {
    AssetWrite write;
    write.asset.key = {"", kRoleKind, call.param("id"), ""};
    write.remove = true;
    LAVANT_TRY(const auto row, context.ports.reader.find_asset(write.asset.key));
    std::optional<Assignment> one;
    if (row) {
        LAVANT_TRY(one, assignment_of(*row));
    }
    if (!one || one->workspace != workspace)
        return fail(ErrorCode::NotFound, "role assignment '" + call.param("id") +
                                             "' was not found here; list them with `lavant role list`");
    Departure leaving;
    leaving.assignments.insert(one->id);
    LAVANT_TRY_VOID(check_owner_stays(context.ports.reader, leaving));
    plane::WriteAssets event;
    event.writes.push_back(std::move(write));
    return event;
}

void revoke(Context& context, const SharedCall& call, const std::string& workspace) {
    change_access(
        context, call, [&context, call, workspace] { return plan_revocation(context, *call, workspace); },
        [call](const plane::Answer&) { call->respond(HttpResponse{.status = 204}); });
}

Result<HttpResponse> who_am_i(Context& context, const Call& call) {
    const Caller& caller = call.caller;
    LAVANT_TRY(const auto book, context.access.book());
    LAVANT_TRY(const Role role, context.access.role_in(caller, call.workspace, ""));
    Json groups = Json::array();
    for (const std::string& group : book->groups_of(caller.user)) groups.append(group);
    Json roles = Json::array();
    for (const Assignment& one : book->assignments_of(caller.user))
        if (one.workspace.empty() || one.workspace == call.workspace)
            roles.append(view_of(one, arm_id(workspace_of(call))));
    Json view = Json::object({{"user", caller.user},
                              {"id", id_of_name(context.ports.crypto, caller.user)},
                              {"role", name_of(role)},
                              {"serverRole", name_of(caller.server_role)},
                              {"workspace", arm_id(workspace_of(call))},
                              {"groups", std::move(groups)},
                              {"assignments", std::move(roles)},
                              {"key", caller.key}});
    if (caller.expires_at != Instant::max()) view.set("expiresAt", to_rfc3339(caller.expires_at));
    return json_response(200, view);
}

}  // namespace

void add_role_routes(Router& router, Context& context) {
    const std::string base = "/lavant/v1";
    for (const bool server : {false, true}) {
        const std::string all = base + (server ? "/server" : "") + "/role-assignments";
        const Need need = server ? Need::ServerOwner : Need::Owner;
        const auto scope = [server](const Call& call) { return server ? std::string() : call.workspace; };
        router.add(
            "GET", all,
            answer_now(context, server ? Need::ServerOwner : Need::Reader,
                       [scope](Context& ours, const Call& call) { return list(ours, call, scope(call)); }));
        router.add("POST", all, {need, [&context, scope](const SharedCall& call) {
                                     assign(context, call, scope(*call));
                                 }});
        router.add("DELETE", all + "/{id}", {need, [&context, scope](const SharedCall& call) {
                                                 revoke(context, call, scope(*call));
                                             }});
    }
    router.add("GET", base + "/whoami", answer_now(context, Need::SignedIn, who_am_i));
}

}  // namespace lavant::api
