#include "api/permission.h"

#include "base/text.h"

namespace lavant::api {
namespace {

Role least_role(Need need) {
    switch (need) {
        case Need::Owner:
        case Need::ServerOwner:
            return Role::Owner;
        case Need::Contributor:
            return Role::Contributor;
        case Need::Reader:
        case Need::ServerReader:
        case Need::SignedIn:
        case Need::Storage:
        case Need::Nothing:
            break;
    }
    return Role::Reader;
}

// A job's token opens its own job and nothing else.
bool job_may(const Caller& caller, const Call& call, Need need) {
    if (need != Need::Reader || caller.job.empty() || call.param("name") != caller.job) return false;
    if (call.workspace != caller.workspace) return false;
    // {name} names other things on other routes.
    const std::string_view path = call.request.path;
    const std::string_view before = path.substr(0, path.rfind("/" + caller.job));
    return before.ends_with("/jobs") || before.ends_with("/runs");
}

std::string article(Role role) {
    return role == Role::Owner ? "an owner" : "a " + std::string(name_of(role));
}

tl::unexpected<Error> refusal(const Caller& caller, Need need) {
    const bool server = need == Need::ServerOwner || need == Need::ServerReader;
    const std::string where = server ? " on the server" : "";
    const std::string is = caller.role == Role::None ? "has none" : "is " + article(caller.role);
    return fail(ErrorCode::PermissionDenied, "this needs the role " + std::string(name_of(least_role(need))) +
                                                 where + ", and '" + caller.user + "' " + is +
                                                 "; ask an owner");
}

}  // namespace

std::string resource_in(std::string_view path) {
    const auto parts = split(path, '/');
    std::size_t kind = 3;  // "", "lavant", "v1", KIND, NAME
    if (parts.size() < 2 || parts[1] != "lavant") {
        // A subscription may be called "workspaces" too: the one that counts follows the provider.
        std::size_t at = 1;
        while (at < parts.size() &&
               !(equals_ignoring_case(parts[at], "workspaces") &&
                 equals_ignoring_case(parts[at - 1], "Microsoft.MachineLearningServices")))
            ++at;
        kind = at + 2;
    }
    if (kind + 1 >= parts.size() || parts[kind].empty() || parts[kind + 1].empty()) return "";
    return to_lower(parts[kind]) + "/" + percent_decode(parts[kind + 1]);
}

Result<void> check_permission(Context& context, Call& call, Need need) {
    Caller& caller = call.caller;
    if (!caller.job.empty()) {
        if (job_may(caller, call, need)) return {};
        return refusal(caller, need);
    }
    if (need == Need::SignedIn) return {};
    const bool server = need == Need::ServerOwner || need == Need::ServerReader;
    if (!server && caller.role < Role::Owner) {
        LAVANT_TRY(caller.role,
                   context.access.role_in(caller, call.workspace, resource_in(call.request.path)));
    }
    if (caller.role < least_role(need)) return refusal(caller, need);
    return {};
}

}  // namespace lavant::api
