#pragma once
// Users, service principals, groups and role assignments as rows of the asset table, and what may not be
// taken away: the last owner.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/access_book.h"
#include "base/result.h"
#include "base/time.h"
#include "core/model/asset.h"
#include "ports/store.h"

namespace lavant::api {

inline constexpr const char* kKeyKind = "api_keys";
inline constexpr const char* kUserKind = "users";
inline constexpr const char* kServicePrincipalKind = "service_principals";
inline constexpr const char* kGroupKind = "groups";
inline constexpr const char* kRoleKind = "role_assignments";

// Users and service principals share their names. A letter or digit first, then also . _ - @ +.
bool is_principal_name(std::string_view name);
// A row of a user or a service principal.
[[nodiscard]] Result<bool> is_known_principal(ports::Reader& reader, const std::string& name);

// All rows of a kind that belongs to the server.
[[nodiscard]] Result<std::vector<Asset>> list_rows(ports::Reader& reader, const char* kind);

[[nodiscard]] Result<Assignment> assignment_of(const Asset& row);
std::string assignment_body(const Assignment& assignment);
[[nodiscard]] Result<std::set<std::string>> members_of(const Asset& group);
std::string group_body(const std::set<std::string>& members);

// Everything there is, less what is about to go.
struct Departure {
    std::set<std::string> keys = {};
    std::set<std::string> users = {};
    std::set<std::string> groups = {};
    std::set<std::string> assignments = {};
    std::set<std::pair<std::string, std::string>> memberships = {};  // group, member
};
[[nodiscard]] Result<AccessBook> load_book(ports::Reader& reader, const Departure& without = {});
// Conflict if nobody would own the server any more: no key without an end whose own or whose user's role is
// owner.
[[nodiscard]] Result<void> check_owner_stays(ports::Reader& reader, const Departure& without);

}  // namespace lavant::api
