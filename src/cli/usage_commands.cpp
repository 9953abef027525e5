#include "cli/usage_commands.h"

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::int64_t kUnitsMax = 100'000;

constexpr std::pair<char, Duration> kUnits[] = {{'m', std::chrono::minutes(1)},
                                                {'h', std::chrono::hours(1)},
                                                {'d', std::chrono::hours(24)},
                                                {'w', std::chrono::hours(24 * 7)}};

// Small amounts with the digits that say something.
std::string amount(double value) {
    return value < 1 ? fmt::format("{:.4f}", value) : fmt::format("{:.2f}", value);
}

std::string hours(const Json& seconds) { return amount(seconds.number() / 3600); }

std::string busy_share(const Json& row) {
    const double nodes = row["nodeSeconds"].number();
    return nodes > 0 ? fmt::format("{:.0f} %", 100 * std::min(1.0, row["taskSeconds"].number() / nodes))
                     : "-";
}

std::vector<std::string> cells_of(const Json& row, const std::vector<std::string>& names) {
    std::vector<std::string> cells;
    for (const std::string& name : names) cells.push_back(printable(row[name].text()));
    cells.push_back(row["tasks"].scalar_text());
    cells.push_back(hours(row["nodeSeconds"]));
    if (row.has("taskSeconds")) cells.push_back(busy_share(row));
    cells.push_back(amount(row["price"].number()));
    return cells;
}

std::string table_of(const Json& usage, const std::string& by, int width) {
    const bool of_compute = by == "compute";
    const std::vector<std::string> names =
        by == "job" ? std::vector<std::string>{"job", "user", "compute"} : std::vector<std::string>{by};
    std::vector<Column> columns;
    for (const std::string& name : names) {
        std::string title = name;
        for (char& c : title) c = static_cast<char>(c - 'a' + 'A');
        columns.push_back({title, name == by ? Cut::Last : Cut::First});
    }
    columns.push_back({"TASKS"});
    columns.push_back({"NODE-HOURS"});
    if (of_compute) columns.push_back({"BUSY"});
    columns.push_back({"PRICE (USD)"});
    std::vector<std::vector<std::string>> rows;
    for (const Json& row : usage["value"].items()) rows.push_back(cells_of(row, names));
    Json total = usage["total"];
    total.set(by, "(all)");
    rows.push_back(cells_of(total, names));
    return render_table(columns, rows, width);
}

Outcome<std::string> time_option(const char* name, const std::string& text, Instant now) {
    if (text.empty()) return std::string();
    const auto at = parse_moment(text, now);
    if (!at)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot use --{} {}: write 7d, 12h, a day (2026-01-31) or a time "
                                "(2026-01-31T12:00:00Z)",
                                name, printable(text)));
    return fmt::format("&{}={}", name, percent_encode(to_rfc3339(*at)));
}

}  // namespace

std::optional<Instant> parse_moment(std::string_view text, Instant now) {
    if (text.size() >= 2) {
        const auto count = parse_integer(text.substr(0, text.size() - 1));
        for (const auto& [letter, length] : kUnits)
            if (text.back() == letter && count && *count >= 0 && *count <= kUnitsMax)
                return now - *count * length;
    }
    constexpr std::size_t kDayChars = 10;
    return parse_rfc3339(text.size() == kDayChars ? std::string(text) + "T00:00:00Z" : std::string(text));
}

Outcome<Exit> show_usage(Session& session, const Console& console, const UsageOptions& options,
                         const Output& output) {
    const Instant now{
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    LAVANT_TRY(const std::string since, time_option("since", options.since, now));
    LAVANT_TRY(const std::string until, time_option("until", options.until, now));
    LAVANT_TRY(const Json usage, session.attempt("show usage", "GET",
                                                 session.own_path(fmt::format("/usage?by={}&top={}{}{}",
                                                                              percent_encode(options.by),
                                                                              options.max, since, until)),
                                                 Json()));
    const bool empty = usage["value"].size() == 0;
    LAVANT_TRY_VOID(print(usage, output, console,
                          [&] { return empty ? "" : table_of(usage, options.by, console.width); }));
    if (output.format != Format::Table || output.query) return Exit::Completed;
    if (empty) console.err << "nothing was used; work counts when it has ended\n";
    const std::int64_t more = usage["rows"].integer() - static_cast<std::int64_t>(usage["value"].size());
    if (more > 0) console.err << fmt::format("the {} largest; {} more: -r N\n", usage["value"].size(), more);
    return Exit::Completed;
}

}  // namespace lavant::cli
