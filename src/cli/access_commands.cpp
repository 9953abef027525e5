#include "cli/access_commands.h"

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/usage_commands.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::string_view kTenant = "adfs";  // the one with which Azure's clients ask no other server first

struct Words {
    const char* path;
    const char* word;
};

Words words_of(PrincipalKind kind) {
    switch (kind) {
        case PrincipalKind::User:
            return {"/users", "user"};
        case PrincipalKind::Group:
            return {"/groups", "group"};
        case PrincipalKind::ServicePrincipal:
            return {"/service-principals", "service principal"};
    }
    return {"/users", "user"};
}

std::string path_of(const Session& session, PrincipalKind kind, const std::string& name) {
    return session.own_path(words_of(kind).path + ("/" + percent_encode(name)));
}

std::string joined(const Json& list) {
    std::string text;
    for (const Json& one : list.items()) text += (text.empty() ? "" : ", ") + printable(one.text());
    return text;
}

std::string principal_table(const Json& rows_in, PrincipalKind kind, int width) {
    const bool group = kind == PrincipalKind::Group;
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : rows_in.items()) {
        if (group) {
            rows.push_back({printable(one["name"].text()), std::to_string(one["members"].size()),
                            joined(one["members"])});
        } else {
            rows.push_back({printable(one["name"].text()), printable(one["displayName"].text()),
                            joined(one["groups"]), printable(one["id"].text())});
        }
    }
    if (group) return render_table({{"NAME", Cut::Last}, {"COUNT"}, {"MEMBERS", Cut::First}}, rows, width);
    return render_table({{"NAME", Cut::Last}, {"DISPLAY NAME", Cut::First}, {"GROUPS", Cut::First}, {"ID"}},
                        rows, width);
}

Outcome<void> print_principal(const Json& one, PrincipalKind kind, const Console& console,
                              const Output& output) {
    return print(one, output, console,
                 [&] { return principal_table(Json::array({one}), kind, console.width); });
}

void say(const Console& console, const std::string& text) {
    console.out << text << "\n";
    console.out.flush();
}

bool is_data_right(std::string_view word) { return word == "read" || word == "write" || word == "none"; }

std::string roles_path(const Session& session, bool server) {
    return session.own_path(server ? "/server/role-assignments" : "/role-assignments");
}

Outcome<std::string> resource_of(const RoleWords& words) {
    const int said = (words.server ? 1 : 0) + (words.compute.empty() ? 0 : 1) +
                     (words.datastore.empty() ? 0 : 1) + (words.resource.empty() ? 0 : 1);
    if (said > 1)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "give one of --server, --compute, --datastore and --resource; none is the workspace");
    if (!words.compute.empty()) return "computes/" + words.compute;
    if (!words.datastore.empty()) return "datastores/" + words.datastore;
    return words.resource;
}

Outcome<Json> role_request(const RoleWords& words) {
    LAVANT_TRY(const std::string resource, resource_of(words));
    const bool data = is_data_right(words.role);
    if (data && words.datastore.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("'{}' is a right to the files of one datastore: add --datastore NAME",
                                printable(words.role)));
    Json body = Json::object({{"principal", words.who}, {data ? "data" : "role", words.role}});
    if (!resource.empty()) body.set("resource", resource);
    return body;
}

// A slip of the pen in a name is not to look like a right that somebody has.
Outcome<void> refuse_what_is_not_there(Session& session, const std::string& resource) {
    const std::size_t slash = resource.find('/');
    if (slash == std::string::npos || resource.starts_with("codes/")) return {};
    const std::string path = resource.substr(0, slash + 1) + percent_encode(resource.substr(slash + 1));
    LAVANT_TRY_VOID(session.attempt(fmt::format("assign the role on {}", printable(resource)), "GET",
                                    session.workspace_path("/" + path), Json()));
    return {};
}

// "workspace", "server", "computes/gpu"
std::string place_of(const Session& session, std::string_view scope) {
    const WorkspaceName& names = session.address().workspace;
    const std::string workspace = "/subscriptions/" + names.subscription + "/resourceGroups/" +
                                  names.resource_group +
                                  "/providers/Microsoft.MachineLearningServices/workspaces/" + names.name;
    if (scope == "/") return "server";
    if (!scope.starts_with(workspace)) return printable(scope);
    scope.remove_prefix(workspace.size());
    return scope.empty() ? "workspace" : printable(scope.substr(1));
}

// "[::1]:443" and "10.0.0.1:443" without what follows the last colon: whose it is, says the machine alone.
std::string_view without_port(std::string_view address) {
    const std::size_t colon = address.rfind(':');
    const bool bare = colon == std::string_view::npos || address.find(':') != colon;  // no port, or IPv6
    return bare && !address.starts_with('[') ? address : address.substr(0, colon);
}

std::string role_table(const Session& session, const Json& roles, int width) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : roles.items())
        rows.push_back({printable(one["principal"].text()),
                        printable(one.has("data") ? one["data"].text() : one["role"].text()),
                        place_of(session, one["scope"].text()), printable(one["id"].text())});
    return render_table({{"WHO", Cut::Last}, {"ROLE"}, {"ON", Cut::First}, {"ID"}}, rows, width);
}

Outcome<std::string> time_query(const char* name, const std::string& text) {
    if (text.empty()) return std::string();
    const Instant now{
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    const auto at = parse_moment(text, now);
    if (!at)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot use --{} {}: write 7d, 12h, a day (2026-01-31) or a time", name,
                                printable(text)));
    return fmt::format("&{}={}", name, percent_encode(to_rfc3339(*at)));
}

}  // namespace

Outcome<Exit> create_principal(Session& session, const Console& console, const PrincipalWords& words,
                               const Output& output) {
    Json body = Json::object();
    if (!words.display_name.empty()) body.set("displayName", words.display_name);
    LAVANT_TRY(const Json made, session.put(path_of(session, words.kind, words.name), body));
    LAVANT_TRY_VOID(print_principal(made, words.kind, console, output));
    if (words.kind == PrincipalKind::User && output.format == Format::Table)
        console.err << fmt::format(
            "give a role with: lavant role assign contributor {0}\n"
            "and a key with:   lavant key create {0}\n",
            printable(words.name));
    return Exit::Completed;
}

Outcome<Exit> list_principals(Session& session, const Console& console, PrincipalKind kind,
                              const Output& output) {
    LAVANT_TRY(const Json answer, session.get(session.own_path(words_of(kind).path)));
    const Json& rows = answer["value"];
    LAVANT_TRY_VOID(print(rows, output, console, [&] { return principal_table(rows, kind, console.width); }));
    return Exit::Completed;
}

Outcome<Exit> show_principal(Session& session, const Console& console, const PrincipalWords& words,
                             const Output& output) {
    LAVANT_TRY(const Json one, session.get(path_of(session, words.kind, words.name)));
    LAVANT_TRY_VOID(print_principal(one, words.kind, console, output));
    return Exit::Completed;
}

Outcome<Exit> delete_principal(Session& session, const Console& console, const PrincipalWords& words) {
    LAVANT_TRY_VOID(session.remove(path_of(session, words.kind, words.name)));
    say(console, fmt::format("deleted {} {}{}", words_of(words.kind).word, printable(words.name),
                             words.kind == PrincipalKind::Group ? "" : " with its keys and roles"));
    return Exit::Completed;
}

Outcome<Exit> create_service_principal(Session& session, const Console& console, const PrincipalWords& words,
                                       const KeyWords& key, const Output& output) {
    KeyWords asked = key;
    asked.user = words.name;
    LAVANT_TRY(const Json body, key_request(asked));
    LAVANT_TRY(const Json made, session.put(path_of(session, words.kind, words.name),
                                            Json::object({{"displayName", words.display_name}})));
    LAVANT_TRY(const Json secret, session.post(session.own_path("/keys"), body));
    const Json shown = Json::object({{"name", words.name},
                                     {"clientId", made["id"]},
                                     {"clientSecret", secret["key"]},
                                     {"tenantId", kTenant},
                                     {"authority", session.address().url}});
    LAVANT_TRY_VOID(print(shown, output, console, [&] {
        return fmt::format(
            "export AZURE_AUTHORITY_HOST={}\nexport AZURE_TENANT_ID={}\n"
            "export AZURE_CLIENT_ID={}\nexport AZURE_CLIENT_SECRET={}\n",
            shown["authority"].text(), kTenant, shown["clientId"].text(), shown["clientSecret"].text());
    }));
    console.err << fmt::format("the secret is shown only this once (key {})\n",
                               printable(secret["id"].text()));
    return Exit::Completed;
}

Outcome<Exit> change_members(Session& session, const Console& console, const std::string& group,
                             const std::vector<std::string>& members, bool join) {
    for (const std::string& member : members) {
        const std::string path =
            path_of(session, PrincipalKind::Group, group) + "/members/" + percent_encode(member);
        LAVANT_TRY_VOID(session.attempt(fmt::format("{} '{}'", join ? "add" : "remove", printable(member)),
                                        join ? "PUT" : "DELETE", path, join ? Json::object() : Json()));
        say(console, fmt::format("{} {} {} group {}", join ? "added" : "removed", printable(member),
                                 join ? "to" : "from", printable(group)));
    }
    return Exit::Completed;
}

Outcome<Exit> assign_role(Session& session, const Console& console, const RoleWords& words) {
    LAVANT_TRY(const Json body, role_request(words));
    LAVANT_TRY_VOID(refuse_what_is_not_there(session, body["resource"].string()));
    LAVANT_TRY(const Json made,
               session.attempt("assign the role", "POST", roles_path(session, words.server), body));
    const std::string place = place_of(session, made["scope"].text());
    if (is_data_right(words.role)) {
        const std::string may = words.role == "none"    ? "has no access to"
                                : words.role == "write" ? "may read and write"
                                                        : "may read";
        say(console, fmt::format("{} {} the files of {}", printable(words.who), may, place));
    } else {
        say(console, fmt::format("{} is {} on {}", printable(words.who), printable(words.role), place));
    }
    return Exit::Completed;
}

Outcome<Exit> revoke_role(Session& session, const Console& console, const RoleWords& words) {
    std::string id = words.role;  // alone, it is an id
    if (!words.who.empty()) {
        LAVANT_TRY(const Json wanted, role_request(words));
        LAVANT_TRY(const Json answer, session.get(roles_path(session, words.server) +
                                                  "?principal=" + percent_encode(words.who)));
        id.clear();
        const std::string place = words.server             ? "server"
                                  : wanted.has("resource") ? wanted["resource"].string()
                                                           : "workspace";
        for (const Json& one : answer["value"].items()) {
            const std::string word = one.has("data") ? one["data"].string() : one["role"].string();
            if (word == words.role && place_of(session, one["scope"].text()) == place)
                id = one["id"].string();
        }
        if (id.empty())
            return stop(Exit::Refused, ErrorCode::NotFound,
                        fmt::format("'{}' was not made {} on {}; see: lavant role list", printable(words.who),
                                    printable(words.role), printable(place)));
    }
    LAVANT_TRY_VOID(session.attempt("revoke the role", "DELETE",
                                    roles_path(session, words.server) + "/" + percent_encode(id), Json()));
    say(console, "revoked " + printable(id));
    return Exit::Completed;
}

Outcome<Exit> list_roles(Session& session, const Console& console, const RoleWords& words,
                         const Output& output) {
    const std::string query = words.who.empty() ? "" : "?principal=" + percent_encode(words.who);
    LAVANT_TRY(const Json answer, session.get(roles_path(session, words.server) + query));
    const Json& roles = answer["value"];
    LAVANT_TRY_VOID(print(roles, output, console, [&] { return role_table(session, roles, console.width); }));
    return Exit::Completed;
}

Outcome<Exit> show_me(Session& session, const Console& console, const Output& output) {
    LAVANT_TRY(const Json me, session.get(session.own_path("/whoami")));
    LAVANT_TRY_VOID(print(me, output, console, [&] {
        std::vector<std::pair<std::string, std::string>> fields{
            {"user", printable(me["user"].text())},
            {"role here", printable(me["role"].text())},
            {"role on the server", printable(me["serverRole"].text())},
            {"groups", joined(me["groups"])},
            {"key", printable(me["key"].text())}};
        if (me.has("expiresAt")) fields.emplace_back("until", printable(me["expiresAt"].text()));
        return render_fields(fields, console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> show_audit(Session& session, const Console& console, const AuditWords& words,
                         const Output& output) {
    std::string query = fmt::format("?limit={}", std::min(words.max, 1'000));
    for (const auto& [name, value] : {std::pair{"user", &words.user},
                                      {"key", &words.key},
                                      {"method", &words.method},
                                      {"path", &words.path},
                                      {"status", &words.status}})
        if (!value->empty()) query += fmt::format("&{}={}", name, percent_encode(*value));
    LAVANT_TRY(const std::string since, time_query("since", words.since));
    LAVANT_TRY(const std::string until, time_query("until", words.until));
    std::string path = session.own_path("/audit" + query + since + until);
    Json records = Json::array();
    while (!path.empty() && static_cast<int>(records.size()) < words.max) {
        LAVANT_TRY(const Json page, session.attempt("read the audit records", "GET", path, Json()));
        for (const Json& one : page["value"].items())
            if (static_cast<int>(records.size()) < words.max) records.append(one);
        path = next_page(page);
    }
    LAVANT_TRY_VOID(print(records, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& one : records.items())
            rows.push_back({printable(one["time"].text().substr(0, 19)), printable(one["user"].string("-")),
                            printable(one["method"].text()), one["status"].scalar_text(),
                            place_of(session, one["path"].text()),
                            printable(without_port(one["address"].text()))});
        // What was done is the last to be cut.
        return render_table({{"TIME (UTC)"},
                             {"USER", Cut::First},
                             {"METHOD"},
                             {"STATUS"},
                             {"ON", Cut::Last},
                             {"FROM", Cut::First}},
                            rows, console.width);
    }));
    return Exit::Completed;
}

}  // namespace lavant::cli
