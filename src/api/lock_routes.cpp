#include "api/lock_routes.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/computes.h"
#include "api/job_routes.h"
#include "base/text.h"
#include "core/model/lock_scope.h"
#include "core/spec/problems.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::string_view kLocks = "/providers/Microsoft.Authorization/locks";
constexpr const char* kLockType = "Microsoft.Authorization/locks";
constexpr std::size_t kNameCharsMax = 260;  // as on Azure, as the next
constexpr std::size_t kNotesCharsMax = 512;
constexpr std::size_t kLocksMax = 10'000;

// What stands before the provider of locks in the path: the scope, as the client spells it.
std::string scope_in(const Call& call) {
    const std::string lower = to_lower(call.request.path);
    const std::size_t at = lower.rfind(to_lower(kLocks));
    return percent_decode(std::string_view(call.request.path).substr(0, at));
}

Json view(const std::string& scope, const Lock& lock) {
    return Json::object(
        {{"id", scope + std::string(kLocks) + "/" + lock.name},
         {"name", lock.name},
         {"type", kLockType},
         {"properties", Json::object({{"level", name_of(lock.level)}, {"notes", lock.notes}})},
         {"systemData",
          Json::object({{"createdBy", lock.created_by}, {"createdAt", to_rfc3339(lock.created_at)}})}});
}

bool is_lock_name(std::string_view name) {
    return !name.empty() && name.size() <= kNameCharsMax && name.front() != ' ' && name.back() != ' ' &&
           name.back() != '.' && valid_utf8_bytes(name) == name.size() &&
           std::ranges::none_of(name, [](char c) {
               return static_cast<unsigned char>(c) < ' ' || c == '\x7f' ||
                      std::string_view("<>%&:\\?/").find(c) != std::string_view::npos;
           });
}

// The name of a lock does not depend on its case, but is kept as it was first written.
std::optional<Lock> find_lock(const std::vector<Lock>& locks, const std::string& scope,
                              const std::string& name) {
    const auto found = std::ranges::find_if(locks, [&](const Lock& lock) {
        return lock.scope == scope && equals_ignoring_case(lock.name, name);
    });
    if (found == locks.end()) return std::nullopt;
    return *found;
}

// Only computes are ours to know: groups, networks and workspaces are whatever a client calls them.
Result<void> check_exists(Context& context, const Call& call, const LockScope& scope) {
    if (scope.kind != LockedKind::Compute) return {};
    LAVANT_TRY(const auto found, find_compute(context, call.workspace, scope.name));
    if (found) return {};
    std::vector<std::string> names;
    LAVANT_TRY(const auto computes, list_computes(context, call.workspace));
    for (const StoredCompute& compute : computes) names.push_back(compute.name());
    return fail(ErrorCode::NotFound,
                "there is no compute '" + scope.name + "'" + spec::suggestion(scope.name, names));
}

struct PutPlan {
    Lock lock;
    bool is_new = true;
};

Result<PutPlan> plan_put(Context& context, const Call& call) {
    LAVANT_TRY(const LockScope scope, parse_lock_scope(scope_in(call)));
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    const Json& properties = body["properties"];
    std::vector<FieldProblem> problems;
    PutPlan plan;
    plan.lock.scope = scope.id;
    plan.lock.name = call.param("lock");
    if (!is_lock_name(plan.lock.name))
        problems.push_back({"name", "has 1 to " + std::to_string(kNameCharsMax) +
                                        R"( characters, none of <>%&:\?/ among them)"});
    if (const auto level = parse_lock_level(properties["level"].text())) {
        plan.lock.level = *level;
    } else {
        problems.push_back({"properties.level", "must be CanNotDelete or ReadOnly"});
    }
    plan.lock.notes = properties["notes"].string();
    if (plan.lock.notes.size() > kNotesCharsMax)
        problems.push_back(
            {"properties.notes", "has more than " + std::to_string(kNotesCharsMax) + " characters"});
    if (!problems.empty())
        return fail(Error{ErrorCode::InvalidArgument, "the lock is not valid", std::move(problems)});
    LAVANT_TRY_VOID(check_exists(context, call, scope));

    LAVANT_TRY(const auto locks, context.ports.reader.list_locks());
    if (const auto existing = find_lock(locks, scope.id, plan.lock.name)) {
        plan.is_new = false;
        plan.lock.name = existing->name;
        plan.lock.created_by = existing->created_by;
        plan.lock.created_at = existing->created_at;
        return plan;
    }
    if (locks.size() >= kLocksMax) return fail(ErrorCode::Conflict, "there are too many locks already");
    plan.lock.created_by = call.caller.user;
    plan.lock.created_at = context.ports.clock.now();
    return plan;
}

void put_lock(Context& context, const SharedCall& call) {
    const auto plan = plan_put(context, *call);
    if (!plan) return call->respond(error_response(plan.error()));
    post(context, call, plane::PutLock{.lock = plan->lock, .who = call->caller.user},
         [call, plan = *plan](const plane::Answer&) {
             call->respond(json_response(plan.is_new ? 201 : 200, view(scope_in(*call), plan.lock)));
         });
}

Result<HttpResponse> get_lock(Context& context, const Call& call) {
    LAVANT_TRY(const LockScope scope, parse_lock_scope(scope_in(call)));
    LAVANT_TRY(const auto locks, context.ports.reader.list_locks());
    const auto lock = find_lock(locks, scope.id, call.param("lock"));
    if (!lock)
        return fail(ErrorCode::NotFound, "there is no lock '" + call.param("lock") + "' on this " +
                                             std::string(name_of(scope.kind)));
    return json_response(200, view(scope_in(call), *lock));
}

// One that is not there is gone as well: 204, as ARM answers.
void delete_lock(Context& context, const SharedCall& call) {
    const auto no_content = [call] {
        HttpResponse response;
        response.status = 204;
        call->respond(std::move(response));
    };
    const auto scope = parse_lock_scope(scope_in(*call));
    if (!scope) return call->respond(error_response(scope.error()));
    const auto locks = context.ports.reader.list_locks();
    if (!locks) return call->respond(error_response(locks.error()));
    const auto lock = find_lock(*locks, scope->id, call->param("lock"));
    if (!lock) return no_content();
    plane::DeleteLock event;
    event.scope = lock->scope;
    event.name = lock->name;
    event.who = call->caller.user;
    post(context, call, std::move(event), [no_content](const plane::Answer&) { no_content(); });
}

// Locks on the scope and on what lies below it; with the filter atScope() on it and above, which hold for it.
Result<HttpResponse> list_locks(Context& context, const Call& call) {
    const std::string scope = to_lower(scope_in(call));
    const bool at_scope = to_lower(call.request.query_value("$filter").value_or("")) == "atscope()";
    LAVANT_TRY(const auto locks, context.ports.reader.list_locks());
    Json value = Json::array();
    for (const Lock& lock : locks)
        if (at_scope ? covers(lock.scope, scope) : covers(scope, lock.scope))
            value.append(view(lock.scope, lock));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

// The whole subscription cannot be locked: what answers says what can be.
Result<HttpResponse> refuse_scope(Context& /*context*/, const Call& call) {
    LAVANT_TRY_VOID(parse_lock_scope(scope_in(call)));
    return fail(ErrorCode::Internal, "a scope that can be locked has a route of its own");
}

}  // namespace

Result<std::optional<Lock>> find_workspace_lock(Context& context, const Call& call) {
    LAVANT_TRY(const auto locks, context.ports.reader.list_locks());
    const std::string id = to_lower(arm_id(workspace_of(call)));
    for (const Lock& lock : locks) {
        if (lock.level != LockLevel::ReadOnly || !covers(lock.scope, id)) continue;
        const auto scope = parse_lock_scope(lock.scope);
        if (scope && (scope->kind == LockedKind::Workspace || scope->kind == LockedKind::ResourceGroup))
            return lock;
    }
    return std::nullopt;
}

void add_lock_routes(Router& router, Context& context) {
    const std::string subscription = "/subscriptions/{subscription}";
    const std::string group = subscription + "/resourceGroups/{group}";
    const std::string ws = kWorkspacePattern;
    const std::string locks(kLocks);
    for (const std::string& scope : {group, group + "/providers/Microsoft.Network/virtualNetworks/{network}",
                                     ws, ws + "/computes/{name}"}) {
        // What is above a workspace is the server's.
        const bool within = scope.starts_with(ws);
        const Need read = within ? Need::Reader : Need::SignedIn;
        const Need write = within ? Need::Owner : Need::ServerOwner;
        router.add("GET", scope + locks, answer_now(context, read, list_locks));
        router.add("GET", scope + locks + "/{lock}", answer_now(context, read, get_lock));
        router.add("PUT", scope + locks + "/{lock}", answer_later(context, write, put_lock));
        router.add("DELETE", scope + locks + "/{lock}", answer_later(context, write, delete_lock));
    }
    router.add("GET", subscription + locks, answer_now(context, Need::SignedIn, list_locks));
    router.add("PUT", subscription + locks + "/{lock}", answer_now(context, Need::ServerOwner, refuse_scope));
}

}  // namespace lavant::api
