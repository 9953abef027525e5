#include "api/usage_routes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/answers.h"
#include "base/text.h"
#include "core/spec/problems.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using ports::UsageBy;
using ports::UsageSum;
using wire::Json;

constexpr std::int64_t kRowsDefault = 100;

constexpr std::pair<std::string_view, UsageBy> kWays[] = {
    {"user", UsageBy::User}, {"job", UsageBy::Job}, {"compute", UsageBy::Compute}};

Result<UsageBy> parse_by(const std::string& word) {
    std::vector<std::string> known;
    for (const auto& [name, by] : kWays) {
        if (name == word) return by;
        known.emplace_back(name);
    }
    return fail(ErrorCode::InvalidArgument, "usage is added up by user, job or compute, not by '" +
                                                word.substr(0, 100) + "'" + spec::suggestion(word, known));
}

// A day is its beginning.
Result<std::optional<Instant>> parse_time(const Call& call, const char* name) {
    const auto text = call.request.query_value(name);
    if (!text || text->empty()) return std::optional<Instant>{};
    constexpr std::size_t kDayChars = 10;
    const auto at = parse_rfc3339(text->size() == kDayChars ? *text + "T00:00:00Z" : *text);
    if (!at)
        return fail(ErrorCode::InvalidArgument,
                    std::string(name) + " is a day (2026-01-31) or a time (2026-01-31T12:00:00Z), not '" +
                        text->substr(0, 100) + "'");
    return std::optional<Instant>(*at);
}

double seconds(std::int64_t micros) { return static_cast<double>(micros) / 1e6; }

// Of tasks; of a compute also what its nodes came to, whether they worked or not.
struct Row {
    UsageSum tasks;
    std::optional<UsageSum> nodes;
};

Json view(const Row& row, UsageBy by) {
    const UsageSum& counted = row.nodes ? *row.nodes : row.tasks;
    Json shown = Json::object();
    if (by != UsageBy::Compute) shown.set("user", row.tasks.user);
    if (by == UsageBy::Job) shown.set("job", row.tasks.job);
    if (by != UsageBy::User) shown.set("compute", row.nodes ? row.nodes->compute : row.tasks.compute);
    shown.set("tasks", row.tasks.entries).set("nodeSeconds", seconds(counted.node_micros));
    if (by == UsageBy::Compute) shown.set("taskSeconds", seconds(row.tasks.node_micros));
    return shown.set("price", seconds(counted.price_micros));
}

Result<std::vector<Row>> load_rows(Context& context, ports::UsageQuery query) {
    LAVANT_TRY(auto tasks, context.ports.reader.sum_usage(query));
    std::vector<Row> rows;
    if (query.by != UsageBy::Compute) {
        for (UsageSum& sum : tasks) rows.push_back({std::move(sum), std::nullopt});
        return rows;
    }
    std::map<std::string, UsageSum> worked;
    for (UsageSum& sum : tasks) worked[sum.compute] = sum;
    query.kind = UsageKind::Node;
    LAVANT_TRY(auto nodes, context.ports.reader.sum_usage(query));
    for (UsageSum& sum : nodes) {
        Row row;
        if (const auto found = worked.extract(sum.compute)) row.tasks = found.mapped();
        row.nodes = std::move(sum);
        rows.push_back(std::move(row));
    }
    // Nodes that are still there are not in the ledger yet, their ended tasks are.
    for (auto& [compute, sum] : worked) {
        Row row{std::move(sum), UsageSum{}};
        row.nodes->compute = compute;
        rows.push_back(std::move(row));
    }
    return rows;
}

Json total_of(const std::vector<Row>& rows, UsageBy by) {
    Row total;
    if (by == UsageBy::Compute) total.nodes.emplace();
    for (const Row& row : rows) {
        total.tasks.entries += row.tasks.entries;
        total.tasks.node_micros += row.tasks.node_micros;
        total.tasks.price_micros += row.tasks.price_micros;
        if (!row.nodes) continue;
        total.nodes->node_micros += row.nodes->node_micros;
        total.nodes->price_micros += row.nodes->price_micros;
    }
    Json shown = view(total, by);
    for (const char* name : {"user", "job", "compute"}) shown.remove(name);
    return shown;
}

// Everybody sees all of it: whose jobs run here is no secret among those who share the workspace, and the
// list of jobs says it already.
Result<HttpResponse> show_usage(Context& context, const Call& call) {
    ports::UsageQuery query;
    query.workspace = call.workspace;
    query.limit = ports::kRowsPerQuery;
    LAVANT_TRY(query.by, parse_by(call.request.query_value("by").value_or("user")));
    LAVANT_TRY(const auto since, parse_time(call, "since"));
    LAVANT_TRY(const auto until, parse_time(call, "until"));
    if (since) query.since = *since;
    if (until) query.until = *until;
    if (query.since >= query.until) return fail(ErrorCode::InvalidArgument, "since must be before until");
    const auto top = parse_integer(call.request.query_value("top").value_or(std::to_string(kRowsDefault)));
    if (!top || *top < 1 || *top > ports::kRowsPerQuery)
        return fail(ErrorCode::InvalidArgument,
                    "top is a number from 1 to " + std::to_string(ports::kRowsPerQuery));
    LAVANT_TRY(const auto rows, load_rows(context, query));
    Json value = Json::array();
    for (const Row& row : rows) {
        if (std::ssize(value.items()) >= *top) break;
        value.append(view(row, query.by));
    }
    return json_response(200, Json::object({{"value", std::move(value)},
                                            {"rows", rows.size()},
                                            {"total", total_of(rows, query.by)},
                                            {"currency", "USD"}}));
}

}  // namespace

void add_usage_routes(Router& router, Context& context) {
    router.add("GET", "/lavant/v1/usage", answer_now(context, Need::Reader, show_usage));
}

}  // namespace lavant::api
