#pragma once
// Who may do what where, as a value: groups and role assignments. What applies to somebody is what was given
// to them, to a group they are in, or to everyone; of several the largest counts.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lavant::api {

// In the order of rights. None: a key without a role of its own, whose user's roles count. A job's token may
// read its own job, and write nothing here.
enum class Role { None, Job, Reader, Contributor, Owner };
std::string_view name_of(Role role);
Result<Role> parse_role(std::string_view name);  // "owner", "contributor", "reader"

// To the files of a datastore. Where none was given, a reader may read and a contributor write.
enum class DataRight { None, Read, Write };
std::string_view name_of(DataRight right);
Result<DataRight> parse_data_right(std::string_view name);  // "none", "read", "write"

inline constexpr std::string_view kEveryone = "everyone";
inline constexpr std::string_view kGroupPrefix = "group:";

struct Assignment {
    std::string id;
    std::string principal;       // a user's or service principal's name, "group:NAME" or "everyone"
    std::string workspace = {};  // its key; "": the whole server
    std::string resource = {};   // "computes/gpu"; "": the whole workspace
    std::optional<Role> role = {};
    std::optional<DataRight> data = {};  // instead of a role, on "datastores/NAME" alone
};

class AccessBook {
 public:
    using Groups = std::map<std::string, std::set<std::string>>;  // members by group
    AccessBook() = default;
    AccessBook(const Groups& groups, const std::vector<Assignment>& assignments);

    // The largest role on the server, the workspace or the resource; None if there is none. "" leaves a level
    // out.
    Role role_of(const std::string& user, std::string_view workspace, std::string_view resource) const;
    // The largest of those that were given for this very datastore; nullopt: none was.
    std::optional<DataRight> data_right_of(const std::string& user, std::string_view workspace,
                                           std::string_view datastore) const;
    const std::vector<std::string>& groups_of(const std::string& user) const;
    // Everything that applies to somebody.
    std::vector<Assignment> assignments_of(const std::string& user) const;

 private:
    template <class Visit>
    void visit(const std::string& user, const Visit& each) const;

    std::map<std::string, std::vector<std::string>> groups_;  // by member
    std::map<std::string, std::vector<Assignment>> by_principal_;
};

}  // namespace lavant::api
