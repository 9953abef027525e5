#include "api/api.h"

#include <utility>

#include "api/answers.h"
#include "api/asset_routes.h"
#include "api/blob_routes.h"
#include "api/compute_actions.h"
#include "api/compute_routes.h"
#include "api/followers.h"
#include "api/history_routes.h"
#include "api/job_routes.h"
#include "api/lock_routes.h"
#include "api/own_routes.h"
#include "api/quota_routes.h"
#include "api/size_routes.h"
#include "api/usage_routes.h"
#include "api/workspace_routes.h"
#include "api/workspace_settings_routes.h"
#include "base/limits.h"

namespace lavant::api {
namespace {

// A body that is going to be refused is still read if it is small, so that the client gets the reason.
constexpr std::uint64_t kRefusedBodyBytes = 64U << 10;

Role least_role(Need need) {
    switch (need) {
        case Need::Owner:
            return Role::Owner;
        case Need::Contributor:
            return Role::Contributor;
        case Need::Reader:
        case Need::Storage:
        case Need::Nothing:
            break;
    }
    return Role::Reader;
}

// A job's token opens its own job and nothing else.
bool job_may(const Caller& caller, const Call& call, Need need) {
    if (need != Need::Reader || caller.job.empty() || call.param("name") != caller.job) return false;
    // {name} names other things on other routes.
    const std::string_view path = call.request.path;
    const std::string_view before = path.substr(0, path.rfind("/" + caller.job));
    return before.ends_with("/jobs") || before.ends_with("/runs");
}

Result<Caller> check_access(Context& context, const Call& call, Need need) {
    LAVANT_TRY(Caller caller, context.access.check_authorization(call.request.header("Authorization")));
    if (caller.role < least_role(need) && !job_may(caller, call, need))
        return fail(ErrorCode::PermissionDenied,
                    "this needs the role " + std::string(name_of(least_role(need))) + ", and '" +
                        caller.user + "' is a " + std::string(name_of(caller.role)) + "; ask an owner");
    return caller;
}

}  // namespace

Api::Api(ApiPorts ports, ApiSettings settings) : context_(std::move(ports), std::move(settings)) {
    add_workspace_routes(router_, context_);
    add_workspace_settings_routes(router_, context_);
    add_job_routes(router_, context_);
    add_compute_routes(router_, context_);
    add_compute_actions(router_, context_);
    add_asset_routes(router_, context_);
    add_history_routes(router_, context_);
    add_blob_routes(router_, context_);
    add_quota_routes(router_, context_);
    add_lock_routes(router_, context_);
    add_usage_routes(router_, context_);
    add_own_routes(router_, context_);
    add_size_routes(router_, context_);
}

Api::~Api() = default;

ports::BodyPlan Api::plan_body(const ports::HttpRequest& head) {
    const Match match = router_.match(head.method, head.path);
    if (match.route == nullptr) return {kRefusedBodyBytes, false};
    if (match.route->need != Need::Storage) return {limits::kJsonBytes, false};
    if (head.method != "PUT" || !may_upload(context_, head, match.params)) return {kRefusedBodyBytes, false};
    const bool is_list = head.query_value("comp") == "blocklist" || head.query_value("comp") == "metadata";
    return is_list ? ports::BodyPlan{limits::kJsonBytes, false}
                   : ports::BodyPlan{limits::kBlobPutBytes, true};
}

void Api::handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) {
    context_.requests.fetch_add(1, std::memory_order_relaxed);
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
    const Need need = match.route->need;
    if (need != Need::Nothing && need != Need::Storage) {
        Result<Caller> caller = check_access(context_, *call, need);
        if (!caller) {
            context_.refused.fetch_add(1, std::memory_order_relaxed);
            return call->respond(error_response(caller.error()));
        }
        call->caller = std::move(*caller);
    }
    match.route->handle(std::move(call));
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
