#include "api/principal_routes.h"

#include <algorithm>
#include <functional>
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

constexpr std::size_t kDisplayNameChars = 200;
constexpr std::size_t kMembersMax = 10'000;
constexpr std::size_t kPrincipalsMax = 50'000;

struct Kind {
    const char* row;
    const char* word;
    const char* command;
};
constexpr Kind kUser{kUserKind, "user", "user"};
constexpr Kind kServicePrincipal{kServicePrincipalKind, "service principal", "service-principal"};
constexpr Kind kGroup{kGroupKind, "group", "group"};

Result<Asset> find(Context& context, const Kind& kind, const std::string& name) {
    LAVANT_TRY(auto row, context.ports.reader.find_asset({"", kind.row, name, ""}));
    if (!row)
        return fail(ErrorCode::NotFound, std::string(kind.word) + " '" + name +
                                             "' was not found; list them with `lavant " + kind.command +
                                             " list`");
    return std::move(*row);
}

Result<Json> view_of(Context& context, const Kind& kind, const Asset& row) {
    Json view =
        Json::object({{"name", row.key.name}, {"id", id_of_name(context.ports.crypto, row.key.name)}});
    if (kind.row == kGroup.row) {
        LAVANT_TRY(const auto members, members_of(row));
        Json list = Json::array();
        for (const std::string& member : members) list.append(member);
        view.set("members", std::move(list));
    } else {
        LAVANT_TRY(const Json body, wire::parse_json(row.body));
        view.set("displayName", body["displayName"].string(row.key.name));
        LAVANT_TRY(const auto book, context.access.book());
        Json groups = Json::array();
        for (const std::string& group : book->groups_of(row.key.name)) groups.append(group);
        view.set("groups", std::move(groups));
    }
    view.set("createdAt", to_rfc3339(row.created_at));
    view.set("createdBy", row.created_by);
    return view;
}

Result<HttpResponse> list(Context& context, const Kind& kind) {
    LAVANT_TRY(const auto rows, list_rows(context.ports.reader, kind.row));
    Json value = Json::array();
    for (const Asset& row : rows) {
        LAVANT_TRY(Json view, view_of(context, kind, row));
        value.append(std::move(view));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> show(Context& context, const Call& call, const Kind& kind) {
    LAVANT_TRY(const Asset row, find(context, kind, call.param("name")));
    LAVANT_TRY(const Json view, view_of(context, kind, row));
    return json_response(200, view);
}

// Users and service principals share their names: a role is given to a name.
Result<void> check_name_is_free(Context& context, const Kind& kind, const std::string& name) {
    if (kind.row == kGroup.row) return {};
    const Kind& other = kind.row == kUser.row ? kServicePrincipal : kUser;
    LAVANT_TRY(const auto row, context.ports.reader.find_asset({"", other.row, name, ""}));
    if (!row) return {};
    return fail(ErrorCode::Conflict, std::string("there is a ") + other.word + " '" + name + "' already");
}

Result<AssetWrite> plan_put(Context& context, const Call& call, const Kind& kind) {
    const std::string& name = call.param("name");
    if (!is_principal_name(name))
        return fail(ErrorCode::InvalidArgument,
                    std::string("a ") + kind.word +
                        "'s name has letters, digits and . _ - @ +, begins with a letter or digit, and is "
                        "not 'everyone'");
    LAVANT_TRY_VOID(check_name_is_free(context, kind, name));
    Json body = Json::object();
    if (!call.request.body.empty()) {
        LAVANT_TRY(body, wire::parse_json(call.request.body));
    }
    const std::string display = body["displayName"].string();
    if (display.size() > kDisplayNameChars)
        return fail(ErrorCode::InvalidArgument, "displayName has more than 200 characters");
    AssetWrite write;
    write.asset.key = {"", kind.row, name, ""};
    LAVANT_TRY(const auto before, context.ports.reader.find_asset(write.asset.key));
    if (before) {
        write.asset = *before;
    } else {
        LAVANT_TRY(const auto rows, list_rows(context.ports.reader, kind.row));
        if (rows.size() >= kPrincipalsMax)
            return fail(ErrorCode::ResourceExhausted, "there are 50,000 of them already");
        write.asset.created_by = call.caller.user;
        write.asset.created_at = context.ports.clock.now();
    }
    write.asset.modified_at = context.ports.clock.now();
    write.expected = before ? before->row_version : 0;
    if (kind.row != kGroup.row) {
        write.asset.body = Json::object({{"displayName", display.empty() ? name : display}}).dump();
    } else if (!before) {
        write.asset.body = group_body({});
    }
    return write;
}

void store_row(Context& context, const SharedCall& call, const Kind& kind,
               std::function<Result<AssetWrite>()> plan) {
    const auto write = std::make_shared<AssetWrite>();  // shared by the two steps
    change_access(
        context, call,
        [write, plan = std::move(plan)]() -> Result<plane::WriteAssets> {
            LAVANT_TRY(*write, plan());
            return plane::WriteAssets{.writes = {*write}};
        },
        [&context, call, &kind, write](const plane::Answer& answer) {
            if (answer.assets_written.empty() || !answer.assets_written.front())
                return call->respond(
                    error_response({ErrorCode::Conflict, "somebody else changed it; try again", {}}));
            const auto view = view_of(context, kind, write->asset);
            const int status = write->expected == 0 ? 201 : 200;
            call->respond(view ? json_response(status, *view) : error_response(view.error()));
        });
}

void put(Context& context, const SharedCall& call, const Kind& kind) {
    store_row(context, call, kind, [&context, call, &kind] { return plan_put(context, *call, kind); });
}

void add_removal(plane::WriteAssets& event, const Asset& row) {
    AssetWrite write;
    write.asset.key = row.key;
    write.remove = true;
    event.writes.push_back(std::move(write));
}

// With somebody go their keys, their roles and their places in groups; with a group its roles.
Result<plane::WriteAssets> plan_removal(Context& context, const Call& call, const Kind& kind) {
    const std::string& name = call.param("name");
    LAVANT_TRY(const Asset row, find(context, kind, name));
    const bool is_group = kind.row == kGroup.row;
    plane::WriteAssets event;
    add_removal(event, row);
    Departure leaving;
    (is_group ? leaving.groups : leaving.users).insert(name);
    const std::string principal = is_group ? std::string(kGroupPrefix) + name : name;
    LAVANT_TRY(const auto roles, list_rows(context.ports.reader, kRoleKind));
    for (const Asset& one : roles) {
        LAVANT_TRY(const Assignment assignment, assignment_of(one));
        if (assignment.principal != principal) continue;
        leaving.assignments.insert(one.key.name);
        add_removal(event, one);
    }
    if (!is_group) {
        LAVANT_TRY(const auto keys, list_rows(context.ports.reader, kKeyKind));
        for (const Asset& one : keys) {
            LAVANT_TRY(const KeyFacts facts, key_facts(one));
            if (facts.user == name) add_removal(event, one);
        }
        LAVANT_TRY(const auto groups, list_rows(context.ports.reader, kGroupKind));
        for (const Asset& one : groups) {
            LAVANT_TRY(auto members, members_of(one));
            if (members.erase(name) == 0) continue;
            AssetWrite write;
            write.asset = one;
            write.asset.body = group_body(members);
            write.expected = one.row_version;
            event.writes.push_back(std::move(write));
        }
    }
    LAVANT_TRY_VOID(check_owner_stays(context.ports.reader, leaving));
    return event;
}

void remove(Context& context, const SharedCall& call, const Kind& kind) {
    change_access(
        context, call, [&context, call, &kind] { return plan_removal(context, *call, kind); },
        [&context, call](const plane::Answer&) {
            drop_dead_owner_key(context);
            call->respond(HttpResponse{.status = 204});
        });
}

Result<AssetWrite> plan_member(Context& context, const Call& call, bool joins) {
    const std::string& member = call.param("member");
    LAVANT_TRY(const Asset row, find(context, kGroup, call.param("name")));
    LAVANT_TRY(auto members, members_of(row));
    if (joins) {
        LAVANT_TRY(const bool known, is_known_principal(context.ports.reader, member));
        if (!known)
            return fail(ErrorCode::NotFound, "user or service principal '" + member +
                                                 "' was not found; make it with `lavant user create " +
                                                 member + "`");
        if (members.size() >= kMembersMax)
            return fail(ErrorCode::ResourceExhausted, "a group has at most 10,000 members");
        members.insert(member);
    } else {
        Departure leaving;
        leaving.memberships.insert({row.key.name, member});
        LAVANT_TRY_VOID(check_owner_stays(context.ports.reader, leaving));
        members.erase(member);
    }
    AssetWrite write;
    write.asset = row;
    write.asset.body = group_body(members);
    write.asset.modified_at = context.ports.clock.now();
    write.expected = row.row_version;
    return write;
}

void change_member(Context& context, const SharedCall& call, bool joins) {
    store_row(context, call, kGroup, [&context, call, joins] { return plan_member(context, *call, joins); });
}

void add_kind(Router& router, Context& context, const std::string& base, const Kind& kind) {
    const auto later = [&](auto handler) {
        return Route{Need::ServerOwner,
                     [&context, &kind, handler](const SharedCall& call) { handler(context, call, kind); }};
    };
    router.add("GET", base, answer_now(context, Need::SignedIn, [&kind](Context& ours, const Call&) {
                   return list(ours, kind);
               }));
    router.add("GET", base + "/{name}",
               answer_now(context, Need::SignedIn,
                          [&kind](Context& ours, const Call& call) { return show(ours, call, kind); }));
    router.add("PUT", base + "/{name}", later(put));
    router.add("DELETE", base + "/{name}", later(remove));
}

}  // namespace

void add_principal_routes(Router& router, Context& context) {
    const std::string base = "/lavant/v1";
    add_kind(router, context, base + "/users", kUser);
    add_kind(router, context, base + "/service-principals", kServicePrincipal);
    add_kind(router, context, base + "/groups", kGroup);
    const std::string member = base + "/groups/{name}/members/{member}";
    router.add("PUT", member, {Need::ServerOwner, [&context](const SharedCall& call) {
                                   change_member(context, call, true);
                               }});
    router.add("DELETE", member, {Need::ServerOwner, [&context](const SharedCall& call) {
                                      change_member(context, call, false);
                                  }});
}

}  // namespace lavant::api
