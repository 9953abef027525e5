#include "cli/quota_commands.h"

#include <fmt/format.h>

#include "base/text.h"

namespace lavant::cli {
namespace {

using wire::Json;

// -1 is how Azure writes that there is none.
std::string limit_text(const Json& limit) {
    if (limit.is_null()) return "-";
    return limit.integer() < 0 ? "unlimited" : limit.scalar_text();
}

std::string tier_text(const Json& tier) { return printable(tier.text()); }

bool is_interesting(const Json& row) {
    return row["used"].integer() > 0 || row["set"].boolean() || row["family"].text() == "total";
}

std::string quota_table(const std::vector<Json>& rows, int width) {
    std::vector<std::vector<std::string>> cells;
    for (const Json& row : rows)
        cells.push_back({printable(row["family"].text()), tier_text(row["tier"]),
                         printable(row["location"].text()), row["used"].scalar_text(),
                         limit_text(row["limit"]), limit_text(row["workspaceLimit"])});
    return render_table(
        {{"FAMILY", Cut::First}, {"TIER"}, {"LOCATION"}, {"USED"}, {"LIMIT"}, {"WORKSPACE LIMIT"}}, cells,
        width);
}

// A number as JSON; anything else goes as it is, for the server to say what is wrong with it.
Json cores_json(const std::string& cores) {
    if (const auto count = parse_integer(cores)) return *count;
    return cores;
}

Json body_of(const QuotaWords& words) {
    Json body = Json::object({{"family", words.family}, {"cores", cores_json(words.cores)}});
    for (const auto& [key, value] : {std::pair("location", &words.location), std::pair("tier", &words.tier),
                                     std::pair("level", &words.level), std::pair("reason", &words.reason)})
        if (!value->empty()) body.set(key, *value);
    return body;
}

std::string request_table(const Json& requests, int width) {
    if (requests.size() == 0) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : requests.items())
        rows.push_back({printable(one["id"].text()), printable(one["status"].text()),
                        printable(one["family"].text()), tier_text(one["tier"]),
                        one.has("granted") ? one["granted"].scalar_text() : one["cores"].scalar_text(),
                        printable(one["requestedBy"].text()), printable(one["reason"].text())});
    return render_table({{"ID"},
                         {"STATUS"},
                         {"FAMILY", Cut::First},
                         {"TIER"},
                         {"CORES"},
                         {"BY", Cut::First},
                         {"REASON", Cut::First}},
                        rows, width);
}

std::string described(const Json& quota) {
    return fmt::format("{} in {}, {}", printable(quota["family"].text()), printable(quota["location"].text()),
                       tier_text(quota["tier"]));
}

Outcome<Exit> decide(Session& session, const Console& console, const std::string& id, const char* verb,
                     const Json& body, const Output& output) {
    LAVANT_TRY(const Json decided,
               session.attempt(
                   fmt::format("{} '{}'", verb, printable(id)), "POST",
                   session.own_path(fmt::format("/quotas/requests/{}/{}", percent_encode(id), verb)), body));
    LAVANT_TRY_VOID(print(decided, output, console, [&] {
        const std::string cores =
            decided.has("granted") ? ": " + decided["granted"].scalar_text() + " cores" : "";
        return fmt::format("{} {} of {}{}\n", printable(decided["status"].text()), printable(id),
                           described(decided), cores);
    }));
    return Exit::Completed;
}

// As the SDK spells the members of a usage.
Json to_az_usage(const Json& arm) {
    return Json::object({{"aml_workspace_location", arm["amlWorkspaceLocation"]},
                         {"current_value", arm["currentValue"]},
                         {"id", arm["id"]},
                         {"limit", arm["limit"]},
                         {"name", Json::object({{"localized_value", arm.get("name.localizedValue")},
                                                {"value", arm.get("name.value")}})},
                         {"type", arm["type"]},
                         {"unit", "count"}});
}

}  // namespace

Outcome<Exit> list_quotas(Session& session, const Console& console, const QuotaListOptions& options,
                          const Output& output) {
    std::string query;
    for (const auto& [key, value] :
         {std::pair("location", &options.location), std::pair("family", &options.family)})
        if (!value->empty())
            query += fmt::format("{}{}={}", query.empty() ? "?" : "&", key, percent_encode(*value));
    LAVANT_TRY(const Json answer,
               session.attempt("list quotas", "GET", session.own_path("/quotas" + query), Json()));
    Json found = Json::array();
    for (const Json& row : answer["value"].items())
        if (!options.used || row["used"].integer() > 0) found.append(row);
    LAVANT_TRY_VOID(print(found, output, console, [&] {
        const bool whole = options.all || options.used || !options.family.empty();
        std::vector<Json> shown;
        for (const Json& row : found.items())
            if (whole || is_interesting(row)) shown.push_back(row);
        std::string text = shown.empty() ? "" : quota_table(shown, console.width);
        if (const std::size_t more = found.size() - shown.size(); more > 0)
            text +=
                fmt::format("{} more, unused and as they are by default: lavant quota list --all\n", more);
        return text;
    }));
    if (found.size() == 0 && output.format == Format::Table) console.err << "nothing is used\n";
    return Exit::Completed;
}

Outcome<Exit> set_quota(Session& session, const Console& console, const QuotaWords& words,
                        const Output& output) {
    LAVANT_TRY(const Json set,
               session.attempt("set the quota", "PUT", session.own_path("/quotas"), body_of(words)));
    LAVANT_TRY_VOID(print(set, output, console, [&] {
        return fmt::format("{}: {} cores for the {}\n", described(set), limit_text(set["cores"]),
                           printable(set["level"].text()));
    }));
    return Exit::Completed;
}

Outcome<Exit> request_quota(Session& session, const Console& console, const QuotaWords& words,
                            const Output& output) {
    LAVANT_TRY(const Json made, session.attempt("ask for quota", "POST", session.own_path("/quotas/requests"),
                                                body_of(words)));
    LAVANT_TRY_VOID(print(made, output, console, [&] { return printable(made["id"].text()) + "\n"; }));
    if (output.format == Format::Table && !output.query)
        console.note(fmt::format("asked for {} cores of {}; an owner grants it with: lavant quota grant {}",
                                 made["cores"].scalar_text(), described(made), printable(made["id"].text())));
    return Exit::Completed;
}

Outcome<Exit> list_quota_requests(Session& session, const Console& console, bool all, const Output& output) {
    LAVANT_TRY(const Json answer,
               session.attempt("list requests", "GET",
                               session.own_path(all ? "/quotas/requests" : "/quotas/requests?status=pending"),
                               Json()));
    const Json& requests = answer["value"];
    LAVANT_TRY_VOID(print(requests, output, console, [&] { return request_table(requests, console.width); }));
    if (requests.size() == 0 && output.format == Format::Table)
        console.err << (all ? "no requests\n" : "no requests wait for an answer\n");
    return Exit::Completed;
}

Outcome<Exit> grant_quota(Session& session, const Console& console, const std::string& id,
                          const std::string& cores, const Output& output) {
    Json body = Json::object();
    if (!cores.empty()) body.set("cores", cores_json(cores));
    return decide(session, console, id, "grant", body, output);
}

Outcome<Exit> deny_quota(Session& session, const Console& console, const std::string& id,
                         const Output& output) {
    return decide(session, console, id, "deny", Json::object(), output);
}

Outcome<Exit> list_usages(Session& session, const Console& console, const std::string& location,
                          const Output& output) {
    const std::string path =
        fmt::format("/subscriptions/{}/providers/Microsoft.MachineLearningServices/locations/{}/usages",
                    percent_encode(session.address().workspace.subscription),
                    percent_encode(location.empty() ? "local" : location));
    LAVANT_TRY(const Json answer, session.attempt("list usages", "GET", path, Json()));
    Json usages = Json::array();
    for (const Json& one : answer["value"].items()) usages.append(to_az_usage(one));
    LAVANT_TRY_VOID(print(usages, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& one : usages.items())
            rows.push_back({printable(one.get("name.localized_value").text()),
                            one["current_value"].scalar_text(), limit_text(one["limit"])});
        return render_table({{"NAME", Cut::First}, {"USED"}, {"LIMIT"}}, rows, console.width);
    }));
    return Exit::Completed;
}

}  // namespace lavant::cli
