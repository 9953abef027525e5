#include "api/access_book.h"

#include <algorithm>

namespace lavant::api {

std::string_view name_of(Role role) {
    switch (role) {
        case Role::None:
            return "none";
        case Role::Job:
            return "job";
        case Role::Reader:
            return "reader";
        case Role::Contributor:
            return "contributor";
        case Role::Owner:
            return "owner";
    }
    return "none";
}

Result<Role> parse_role(std::string_view name) {
    for (const Role role : {Role::Reader, Role::Contributor, Role::Owner})
        if (name_of(role) == name) return role;
    return fail(ErrorCode::InvalidArgument,
                "unknown role '" + std::string(name) + "'; it is one of owner, contributor, reader");
}

std::string_view name_of(DataRight right) {
    switch (right) {
        case DataRight::None:
            return "none";
        case DataRight::Read:
            return "read";
        case DataRight::Write:
            return "write";
    }
    return "none";
}

Result<DataRight> parse_data_right(std::string_view name) {
    for (const DataRight right : {DataRight::None, DataRight::Read, DataRight::Write})
        if (name_of(right) == name) return right;
    return fail(ErrorCode::InvalidArgument,
                "unknown data right '" + std::string(name) + "'; it is one of read, write, none");
}

AccessBook::AccessBook(const Groups& groups, const std::vector<Assignment>& assignments) {
    for (const auto& [group, members] : groups)
        for (const std::string& member : members) groups_[member].push_back(group);
    for (const Assignment& one : assignments) by_principal_[one.principal].push_back(one);
}

const std::vector<std::string>& AccessBook::groups_of(const std::string& user) const {
    static const std::vector<std::string> kNone;
    const auto found = groups_.find(user);
    return found == groups_.end() ? kNone : found->second;
}

template <class Visit>
void AccessBook::visit(const std::string& user, const Visit& each) const {
    static const std::string kAll(kEveryone);
    const auto of = [&](const std::string& principal) {
        const auto found = by_principal_.find(principal);
        if (found == by_principal_.end()) return;
        for (const Assignment& one : found->second) each(one);
    };
    // A user called "everyone" or "group:x" cannot be: is_principal_name refuses both.
    of(user);
    of(kAll);
    for (const std::string& group : groups_of(user)) of(std::string(kGroupPrefix) + group);
}

std::vector<Assignment> AccessBook::assignments_of(const std::string& user) const {
    std::vector<Assignment> all;
    visit(user, [&](const Assignment& one) { all.push_back(one); });
    return all;
}

Role AccessBook::role_of(const std::string& user, std::string_view workspace,
                         std::string_view resource) const {
    Role role = Role::None;
    visit(user, [&](const Assignment& one) {
        const bool applies = one.workspace.empty() || (one.workspace == workspace &&
                                                       (one.resource.empty() || one.resource == resource));
        if (applies && one.role) role = std::max(role, *one.role);
    });
    return role;
}

std::optional<DataRight> AccessBook::data_right_of(const std::string& user, std::string_view workspace,
                                                   std::string_view datastore) const {
    const std::string resource = "datastores/" + std::string(datastore);
    std::optional<DataRight> right;
    visit(user, [&](const Assignment& one) {
        if (one.data && one.workspace == workspace && one.resource == resource)
            right = std::max(right.value_or(DataRight::None), *one.data);
    });
    return right;
}

}  // namespace lavant::api
