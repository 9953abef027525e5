#pragma once
// `lavant user | group | service-principal | role | whoami | audit`: who may do what, and who did it.

#include <string>
#include <vector>

#include "cli/key_commands.h"
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

enum class PrincipalKind { User, Group, ServicePrincipal };

struct PrincipalWords {
    PrincipalKind kind = PrincipalKind::User;
    std::string name;
    std::string display_name;
};
[[nodiscard]] Outcome<Exit> create_principal(Session& session, const Console& console,
                                             const PrincipalWords& words, const Output& output);
[[nodiscard]] Outcome<Exit> list_principals(Session& session, const Console& console, PrincipalKind kind,
                                            const Output& output);
[[nodiscard]] Outcome<Exit> show_principal(Session& session, const Console& console,
                                           const PrincipalWords& words, const Output& output);
[[nodiscard]] Outcome<Exit> delete_principal(Session& session, const Console& console,
                                             const PrincipalWords& words);
// With a secret, as Azure's clients want one: client id, client secret, tenant.
[[nodiscard]] Outcome<Exit> create_service_principal(Session& session, const Console& console,
                                                     const PrincipalWords& words, const KeyWords& key,
                                                     const Output& output);

[[nodiscard]] Outcome<Exit> change_members(Session& session, const Console& console, const std::string& group,
                                           const std::vector<std::string>& members, bool join);

struct RoleWords {
    std::string role;  // owner, contributor, reader; read, write, none on a datastore
    std::string who;   // a user or service principal, group:NAME, everyone
    bool server = false;
    std::string compute;
    std::string datastore;
    std::string resource;  // "models/m1"
};
[[nodiscard]] Outcome<Exit> assign_role(Session& session, const Console& console, const RoleWords& words);
// By the words it was given with, or by the id that `role list` shows.
[[nodiscard]] Outcome<Exit> revoke_role(Session& session, const Console& console, const RoleWords& words);
[[nodiscard]] Outcome<Exit> list_roles(Session& session, const Console& console, const RoleWords& words,
                                       const Output& output);
[[nodiscard]] Outcome<Exit> show_me(Session& session, const Console& console, const Output& output);

struct AuditWords {
    std::string user;
    std::string key;
    std::string method;
    std::string path;
    std::string status;
    std::string since;  // as in `lavant usage`
    std::string until;
    int max = 50;
};
[[nodiscard]] Outcome<Exit> show_audit(Session& session, const Console& console, const AuditWords& words,
                                       const Output& output);

}  // namespace lavant::cli
