#include "api/principals.h"

#include <algorithm>

#include "api/access.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::size_t kNameChars = 128;
constexpr std::int64_t kRowsMax = 100'000;

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_principal_name(std::string_view name) {
    return !name.empty() && name.size() <= kNameChars && is_word_character(name.front()) &&
           name != kEveryone && std::ranges::all_of(name, [](char c) {
               return is_word_character(c) || std::string_view("._-@+").find(c) != std::string_view::npos;
           });
}

Result<bool> is_known_principal(ports::Reader& reader, const std::string& name) {
    for (const char* kind : {kUserKind, kServicePrincipalKind}) {
        LAVANT_TRY(const auto row, reader.find_asset({"", kind, name, ""}));
        if (row) return true;
    }
    return false;
}

Result<std::vector<Asset>> list_rows(ports::Reader& reader, const char* kind) {
    ports::AssetQuery query;
    query.kind = kind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = ports::kRowsPerQuery;
    std::vector<Asset> all;
    while (query.offset < kRowsMax) {
        LAVANT_TRY(auto page, reader.list_assets(query));
        const bool last = std::ssize(page) < query.limit;
        for (Asset& row : page) all.push_back(std::move(row));
        if (last) break;
        query.offset += query.limit;
    }
    return all;
}

Result<Assignment> assignment_of(const Asset& row) {
    LAVANT_TRY(const Json body, wire::parse_json(row.body));
    Assignment one{.id = row.key.name,
                   .principal = body["principal"].string(),
                   .workspace = body["workspace"].string(),
                   .resource = body["resource"].string()};
    if (body.has("role")) {
        LAVANT_TRY(one.role, parse_role(body["role"].text()));
    }
    if (body.has("data")) {
        LAVANT_TRY(one.data, parse_data_right(body["data"].text()));
    }
    return one;
}

std::string assignment_body(const Assignment& assignment) {
    Json body = Json::object({{"principal", assignment.principal},
                              {"workspace", assignment.workspace},
                              {"resource", assignment.resource}});
    if (assignment.role) body.set("role", name_of(*assignment.role));
    if (assignment.data) body.set("data", name_of(*assignment.data));
    return body.dump();
}

Result<std::set<std::string>> members_of(const Asset& group) {
    LAVANT_TRY(const Json body, wire::parse_json(group.body));
    std::set<std::string> members;
    for (const Json& member : body["members"].items()) members.insert(member.string());
    return members;
}

std::string group_body(const std::set<std::string>& members) {
    Json list = Json::array();
    for (const std::string& member : members) list.append(member);
    return Json::object({{"members", std::move(list)}}).dump();
}

Result<AccessBook> load_book(ports::Reader& reader, const Departure& without) {
    AccessBook::Groups groups;
    LAVANT_TRY(const auto group_rows, list_rows(reader, kGroupKind));
    for (const Asset& row : group_rows) {
        const std::string& group = row.key.name;
        if (without.groups.contains(group)) continue;
        LAVANT_TRY(auto members, members_of(row));
        std::erase_if(members, [&](const std::string& member) {
            return without.users.contains(member) || without.memberships.contains({group, member});
        });
        groups[group] = std::move(members);
    }
    std::vector<Assignment> assignments;
    LAVANT_TRY(const auto role_rows, list_rows(reader, kRoleKind));
    for (const Asset& row : role_rows) {
        LAVANT_TRY(Assignment one, assignment_of(row));
        if (!without.assignments.contains(one.id)) assignments.push_back(std::move(one));
    }
    return AccessBook(groups, assignments);
}

Result<void> check_owner_stays(ports::Reader& reader, const Departure& without) {
    LAVANT_TRY(const AccessBook book, load_book(reader, without));
    LAVANT_TRY(const auto keys, list_rows(reader, kKeyKind));
    for (const Asset& row : keys) {
        LAVANT_TRY(const KeyFacts facts, key_facts(row));
        if (without.keys.contains(row.key.name) || without.users.contains(facts.user)) continue;
        if (facts.expires_at != Instant::max()) continue;
        if (std::max(facts.role, book.role_of(facts.user, "", "")) == Role::Owner) return {};
    }
    return fail(ErrorCode::Conflict,
                "nobody would own the server any more: this is the last owner's key, user or role; make "
                "another owner first");
}

}  // namespace lavant::api
