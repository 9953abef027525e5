#include "api/api.h"

#include <utility>

#include "api/answers.h"
#include "api/asset_routes.h"
#include "api/audit_routes.h"
#include "api/blob_routes.h"
#include "api/compute_actions.h"
#include "api/compute_routes.h"
#include "api/datastore_routes.h"
#include "api/followers.h"
#include "api/history_routes.h"
#include "api/job_routes.h"
#include "api/key_routes.h"
#include "api/lineage_routes.h"
#include "api/lock_routes.h"
#include "api/look_routes.h"
#include "api/oauth_routes.h"
#include "api/own_routes.h"
#include "api/permission.h"
#include "api/principal_routes.h"
#include "api/quota_routes.h"
#include "api/registry_routes.h"
#include "api/role_routes.h"
#include "api/schedule_routes.h"
#include "api/size_routes.h"
#include "api/usage_routes.h"
#include "api/workspace_life_routes.h"
#include "api/workspace_making.h"
#include "api/workspace_routes.h"
#include "api/workspace_settings_routes.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::api {
namespace {

// A body that is going to be refused is still read if it is small, so that the client gets the reason.
constexpr std::uint64_t kRefusedBodyBytes = 64U << 10;
constexpr std::int64_t kBlobInMemoryBytes = 64 << 10;  // a larger one is written to the disk as it comes

// In the path of ARM's routes, in a header of ours; nullopt: the default one.
Result<std::optional<WorkspaceName>> named_workspace(const Call& call) {
    WorkspaceName name{call.param("subscription"), call.param("group"), call.param("workspace")};
    if (name.name.empty()) {
        const std::string_view header = call.request.header(kWorkspaceHeader);
        if (header.empty()) return std::nullopt;
        const auto parts = split(header, '/');
        if (parts.size() != 3)
            return fail(ErrorCode::InvalidArgument, std::string(kWorkspaceHeader) +
                                                        " is SUBSCRIPTION/RESOURCE-GROUP/WORKSPACE, "
                                                        "each part percent-encoded");
        name = {percent_decode(parts[0]), percent_decode(parts[1]), percent_decode(parts[2])};
    }
    LAVANT_TRY_VOID(check_workspace_name(name));
    return name;
}

tl::unexpected<Error> no_workspace(const WorkspaceName& name) {
    return fail(ErrorCode::NotFound, "workspace '" + name.name + "' was not found in resource group '" +
                                         name.resource_group +
                                         "'; an owner can make it: lavant workspace create");
}

}  // namespace

Api::Api(ApiPorts ports, ApiSettings settings) : context_(std::move(ports), std::move(settings)) {
    add_workspace_routes(router_, context_);
    add_workspace_settings_routes(router_, context_);
    add_workspace_life_routes(router_, context_);
    add_job_routes(router_, context_);
    add_compute_routes(router_, context_);
    add_compute_actions(router_, context_);
    add_asset_routes(router_, context_);
    add_schedule_routes(router_, context_);
    add_registry_routes(router_, context_);
    add_look_routes(router_, context_);
    add_history_routes(router_, context_);
    add_blob_routes(router_, context_);
    add_datastore_routes(router_, context_);
    add_quota_routes(router_, context_);
    add_lock_routes(router_, context_);
    add_lineage_routes(router_, context_);
    add_usage_routes(router_, context_);
    add_own_routes(router_, context_);
    add_key_routes(router_, context_);
    add_principal_routes(router_, context_);
    add_role_routes(router_, context_);
    add_audit_routes(router_, context_);
    add_oauth_routes(router_, context_);
    add_size_routes(router_, context_);
}

Api::~Api() = default;

ports::BodyPlan Api::plan_body(const ports::HttpRequest& head) {
    const Match match = router_.match(head.method, head.path);
    if (match.route == nullptr) return {kRefusedBodyBytes, false};
    if (match.route->need == Need::Nothing) return {kRefusedBodyBytes, false};
    if (match.route->need != Need::Storage) return {limits::kJsonBytes, false};
    if (head.method != "PUT" || !may_upload(context_, head, match.params)) return {kRefusedBodyBytes, false};
    const bool is_list = head.query_value("comp") == "blocklist" || head.query_value("comp") == "metadata";
    if (is_list) return {limits::kJsonBytes, false};
    const auto length = parse_integer(head.header("Content-Length"));
    const bool to_file = !length || *length > kBlobInMemoryBytes;
    return {Meter::body_bytes(storage_caller(head), limits::kBlobPutBytes), to_file};
}

// Whose a request to storage is: a bearer's, or nobody's where a signature speaks for itself.
Caller Api::storage_caller(const ports::HttpRequest& request) {
    const std::string_view header = request.header("Authorization");
    if (header.empty()) return {};
    return context_.access.check_authorization(header, request.peer).value_or(Caller{});
}

void Api::handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) {
    context_.requests.fetch_add(1, std::memory_order_relaxed);
    std::shared_ptr<AuditNote> note;
    if (is_write(request)) {
        note = begin_note(context_, request);
        responder = audited(context_, std::move(responder), note);
    }
    Match match = router_.match(request.method, request.path);
    if (match.route == nullptr) {
        context_.refused.fetch_add(1, std::memory_order_relaxed);
        const bool known = !match.allowed.empty();
        ports::HttpResponse response = error_response(
            {ErrorCode::NotFound,
             request.method + " " + request.path +
                 (known ? " is not possible; there is " + match.allowed : " is not a route of this server"),
             {}});
        if (known) response.status = 405;
        if (known) response.headers.emplace_back("Allow", match.allowed);
        return responder->respond(std::move(response));
    }
    auto call = std::make_shared<Call>(
        Call{std::move(request), std::move(responder), std::move(match.params), Caller{}});
    call->note = std::move(note);
    const Route& route = *match.route;
    const bool open = route.need == Need::Nothing || route.need == Need::Storage;
    if (route.need == Need::Storage) {
        call->caller = storage_caller(call->request);
    } else if (!open) {
        Result<Caller> caller =
            context_.access.check_authorization(call->request.header("Authorization"), call->request.peer);
        if (!caller) return refuse(*call, caller.error());
        call->caller = std::move(*caller);
    }
    sign_note(*call);
    if (auto refused = context_.meter.count(call->caller, call->request, context_.ports.clock.now())) {
        context_.refused.fetch_add(1, std::memory_order_relaxed);
        return call->respond(std::move(*refused));
    }
    if (open) return route.handle(std::move(call));
    enter_workspace(call, route);
}

void Api::refuse(const Call& call, const Error& error) {
    context_.refused.fetch_add(1, std::memory_order_relaxed);
    call.respond(error_response(error));
}

void Api::enter_workspace(const SharedCall& call, const Route& route) {
    const auto name = named_workspace(*call);
    if (!name) return refuse(*call, name.error());
    if (!*name) return run(call, route);
    call->workspace_name = **name;
    const auto found = context_.workspaces.find(**name);
    if (!found) return refuse(*call, found.error());
    if (route.any_workspace) {
        // Where it is not there, nothing but a role on the server counts.
        call->workspace = *found && !(*found)->deleted ? (*found)->key : "";
        return run(call, route);
    }
    if (*found && !(*found)->deleted) {
        call->workspace = (*found)->key;
        return run(call, route);
    }
    const bool makes = !*found && context_.settings.make_workspaces && call->caller.role == Role::Owner;
    if (!makes) return refuse(*call, no_workspace(**name).value());
    make_workspace(context_, **name, "", call->caller.user,
                   [this, call, &route](const Result<Workspace>& made) {
                       if (!made) return refuse(*call, made.error());
                       call->workspace = made->key;
                       run(call, route);
                   });
}

void Api::run(const SharedCall& call, const Route& route) {
    if (call->note) call->note->record.workspace = call->workspace;
    if (const auto permitted = check_permission(context_, *call, route.need); !permitted)
        return refuse(*call, permitted.error());
    route.handle(call);
}

tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse> Api::accept_socket(
    const ports::HttpRequest& head) {
    return tl::make_unexpected(
        error_response({ErrorCode::NotFound, head.path + " is not a place for a WebSocket", {}}));
}

Duration Api::tick() { return context_.followers->tick(context_.ports.clock.now()); }

void Api::close() { context_.followers->close(); }

std::string Api::make_job_token(const JobHead& job, int attempt) const {
    return context_.access.make_job_token(job, attempt);
}

}  // namespace lavant::api
