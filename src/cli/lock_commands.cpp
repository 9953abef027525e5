#include "cli/lock_commands.h"

#include <fmt/format.h>

#include "base/text.h"
#include "core/model/lock.h"
#include "core/model/lock_scope.h"
#include "core/spec/problems.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::string_view kLocks = "/providers/Microsoft.Authorization/locks";

std::string encoded(std::string_view id) {
    std::string path;
    for (const std::string_view part : split(id.substr(id.starts_with('/') ? 1 : 0), '/'))
        path += "/" + percent_encode(part);
    return path;
}

std::string subscription_of(const Session& session) {
    return "/subscriptions/" + session.address().workspace.subscription;
}

// The ARM id of what is locked, or what is wrong with what was said.
Outcome<std::string> scope_of(const Session& session, const LockedThing& thing) {
    const WorkspaceName& names = session.address().workspace;
    const std::string group = subscription_of(session) + "/resourceGroups/" + names.resource_group;
    const std::string workspace =
        group + "/providers/Microsoft.MachineLearningServices/workspaces/" + names.name;
    if (thing.said() > 1)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "lock one thing at a time: give one of --compute, --network, --workspace and --scope");
    std::string id = group;
    if (!thing.compute.empty()) id = workspace + "/computes/" + thing.compute;
    if (!thing.network.empty()) id = group + "/providers/Microsoft.Network/virtualNetworks/" + thing.network;
    if (thing.workspace) id = workspace;
    if (!thing.scope.empty()) id = thing.scope;
    if (!thing.resource.empty()) id = group + "/providers/" + thing.resource_type + "/" + thing.resource;
    LAVANT_TRY_VOID(parse_lock_scope(id));
    while (id.ends_with('/')) id.pop_back();
    return id;
}

// As az shows one.
Json to_az_lock(const Json& arm) {
    const auto parts = split(arm["id"].text(), '/');
    constexpr std::size_t kGroupAt = 4;  // "", "subscriptions", S, "resourceGroups", G
    return Json::object(
        {{"id", arm["id"]},
         {"level", arm.get("properties.level")},
         {"name", arm["name"]},
         {"notes", arm.get("properties.notes").text().empty() ? Json() : arm.get("properties.notes")},
         {"owners", Json()},
         {"resourceGroup", parts.size() > kGroupAt ? Json(parts[kGroupAt]) : Json()},
         {"type", arm["type"]}});
}

std::string scope_part(std::string_view lock_id) {
    const std::size_t at = to_lower(lock_id).rfind(to_lower(kLocks));
    return std::string(lock_id.substr(0, at));
}

// "compute cpu", "resource group research"
std::string what_is_locked(std::string_view lock_id) {
    const auto scope = parse_lock_scope(scope_part(lock_id));
    return scope ? fmt::format("{} {}", name_of(scope->kind), scope->name) : scope_part(lock_id);
}

Outcome<Json> fetch_locks(Session& session, const LockedThing& thing) {
    std::string scope = subscription_of(session);
    if (thing.said() > 0 || thing.group) {
        LAVANT_TRY(scope, scope_of(session, thing));
    }
    LAVANT_TRY(const Json answer,
               session.attempt("list locks", "GET", encoded(scope) + std::string(kLocks), Json()));
    Json locks = Json::array();
    for (const Json& one : answer["value"].items()) locks.append(to_az_lock(one));
    return locks;
}

Outcome<Json> find_lock(Session& session, const std::string& name, const LockedThing& thing) {
    LAVANT_TRY(const Json locks, fetch_locks(session, thing));
    std::vector<Json> found;
    std::vector<std::string> names;
    for (const Json& one : locks.items()) {
        names.push_back(one["name"].string());
        if (equals_ignoring_case(one["name"].text(), name)) found.push_back(one);
    }
    if (found.empty())
        return stop(Exit::Refused, ErrorCode::NotFound,
                    printable(fmt::format("there is no lock '{}'{}", name,
                                          names.empty() ? "" : spec::suggestion(name, names))));
    if (found.size() == 1) return found.front();
    std::string places;
    for (const Json& one : found)
        places += fmt::format("{}{}", places.empty() ? "" : ", ", what_is_locked(one["id"].text()));
    return stop(Exit::Refused, ErrorCode::Conflict,
                printable(fmt::format("there are {} locks '{}' (on {}); say which one with --compute, "
                                      "--network, --workspace or --scope",
                                      found.size(), name, places)));
}

std::string table_of(const Json& locks, int width) {
    if (locks.size() == 0) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : locks.items())
        rows.push_back({printable(one["name"].text()), printable(one["level"].text()),
                        printable(what_is_locked(one["id"].text())), printable(one["notes"].text())});
    return render_table({{"NAME", Cut::Last}, {"LEVEL"}, {"ON", Cut::Last}, {"NOTES", Cut::First}}, rows,
                        width);
}

Outcome<void> check_level(const std::string& level) {
    if (parse_lock_level(level)) return {};
    const auto near = nearest(level, {"CanNotDelete", "ReadOnly"});
    return stop(Exit::Usage, ErrorCode::InvalidArgument,
                fmt::format("there is no level '{}'; {}", printable(level),
                            near ? "did you mean '" + *near + "'?" : "it is CanNotDelete or ReadOnly"));
}

}  // namespace

int LockedThing::said() const {
    return (compute.empty() ? 0 : 1) + (network.empty() ? 0 : 1) + (workspace ? 1 : 0) +
           (scope.empty() ? 0 : 1) + (resource.empty() ? 0 : 1);
}

Outcome<Exit> create_lock(Session& session, const Console& console, const LockWords& words,
                          const Output& output) {
    LAVANT_TRY_VOID(check_level(words.level));
    if (words.thing.said() == 0 && !words.thing.group)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "say what to lock: --compute NAME, --network NAME, --workspace, --resource-group GROUP "
                    "or --scope ID");
    LAVANT_TRY(const std::string scope, scope_of(session, words.thing));
    const Json body =
        Json::object({{"properties", Json::object({{"level", words.level}, {"notes", words.notes}})}});
    LAVANT_TRY(
        const Json made,
        session.attempt(fmt::format("make lock '{}'", printable(words.name)), "PUT",
                        encoded(scope) + std::string(kLocks) + "/" + percent_encode(words.name), body));
    const Json lock = to_az_lock(made);
    LAVANT_TRY_VOID(print(lock, output, console, [&] {
        return fmt::format("{} ({}) on {}\n", printable(lock["name"].text()), printable(lock["level"].text()),
                           printable(what_is_locked(lock["id"].text())));
    }));
    return Exit::Completed;
}

Outcome<Exit> list_locks(Session& session, const Console& console, const LockedThing& thing,
                         const Output& output) {
    LAVANT_TRY(const Json locks, fetch_locks(session, thing));
    LAVANT_TRY_VOID(print(locks, output, console, [&] { return table_of(locks, console.width); }));
    if (locks.size() == 0 && output.format == Format::Table) console.err << "no locks\n";
    return Exit::Completed;
}

Outcome<Exit> show_lock(Session& session, const Console& console, const std::string& name,
                        const LockedThing& thing, const Output& output) {
    LAVANT_TRY(const Json lock, find_lock(session, name, thing));
    LAVANT_TRY_VOID(
        print(lock, output, console, [&] { return table_of(Json::array({lock}), console.width); }));
    return Exit::Completed;
}

Outcome<Exit> delete_lock(Session& session, const Console& console, const std::string& name,
                          const LockedThing& thing) {
    LAVANT_TRY(const Json lock, find_lock(session, name, thing));
    const std::string id = lock["id"].string();
    LAVANT_TRY_VOID(
        session.attempt(fmt::format("delete lock '{}'", printable(name)), "DELETE", encoded(id), Json()));
    console.out << fmt::format("deleted {} on {}\n", printable(lock["name"].text()),
                               printable(what_is_locked(id)));
    console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
