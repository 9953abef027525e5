#include "cli/job_commands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/job_stream.h"
#include "core/model/job.h"
#include "core/spec/problems.h"
#include "wire/az_job.h"

namespace lavant::cli {
namespace {

using wire::Json;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr int kWaitSeconds = 5;
constexpr int kPagesMax = 10'000;

void add(Fields& fields, const char* key, const Json& value) {
    if (value.is_null() || (value.is_string() && value.text().empty())) return;
    fields.emplace_back(key, value.is_object() || value.is_array() ? value.dump() : value.scalar_text());
}

void add_time(Fields& fields, const char* key, const Json& value) {
    if (!value.text().empty()) fields.emplace_back(key, short_time(value.text()) + " UTC");
}

std::string without_scheme(std::string_view reference) {
    const bool is_name = reference.starts_with("azureml:") && !reference.starts_with("azureml://");
    return std::string(is_name ? reference.substr(8) : reference);
}

// "lr = 0.1" or "data = uri_folder azureml://…"
std::string put_shortly(const std::string& name, const Json& value) {
    if (!value.is_object()) return printable(name) + " = " + printable(value.scalar_text());
    return printable(name) + " = " + printable(value["type"].text()) + " " + printable(value["path"].text());
}

void add_error(Fields& fields, const Json& error) {
    if (!error.is_object()) return;
    fields.emplace_back(
        "error", fmt::format("{}: {}", printable(error["code"].text()), printable(error["message"].text())));
    add(fields, "failed on", error["node"]);
    if (error["message"].text().find(error["traceback_line"].text()) == std::string_view::npos)
        add(fields, "traceback", error["traceback_line"]);
}

void add_definition(Fields& fields, const Json& job) {
    add(fields, "command", job["command"]);
    if (const std::string_view code = job["code"].text(); !code.empty()) {
        const auto parts = split(code, '/');
        fields.emplace_back("code", std::string(parts.size() > 3 ? parts[parts.size() - 3] : code));
    }
    for (const auto& [name, value] : job["inputs"].members())
        fields.emplace_back("input", put_shortly(name, value));
    for (const auto& [name, value] : job["outputs"].members())
        fields.emplace_back("output", put_shortly(name, value));
    if (job.has("compute")) fields.emplace_back("compute", without_scheme(job["compute"].text()));
    if (job.has("environment")) fields.emplace_back("environment", without_scheme(job["environment"].text()));
    const Json& resources = job["resources"];
    if (!resources.is_object()) return;
    const std::string_view size = resources["instance_type"].text();
    fields.emplace_back("instances", fmt::format("{}{}{}", resources["instance_count"].integer(1),
                                                 size.empty() ? "" : " x ", size));
}

void add_life(Fields& fields, const Json& job) {
    const Json& own = job["lavant"];
    add_time(fields, "created", job["creation_context"]["created_at"]);
    add(fields, "created by", job["creation_context"]["created_by"]);
    add_time(fields, "started", own["started_at"]);
    add_time(fields, "ended", own["ended_at"]);
    if (own["attempt"].integer(1) > 1) add(fields, "attempt", own["attempt"]);
    add(fields, "canceled by", own["canceled_by"]);
    const Json& usage = own["usage"];
    if (!usage.is_object()) return;
    fields.emplace_back("used", fmt::format("{:.2f} s CPU, {:.1f} MiB memory at most, {:.2f} s in all",
                                            usage["cpu_micros"].number() / 1e6,
                                            usage["memory_peak_bytes"].number() / (1 << 20),
                                            usage["wall_micros"].number() / 1e6));
}

std::string age_of(std::string_view rfc3339, Instant now) {
    const auto at = parse_rfc3339(rfc3339);
    return at ? in_words(now - *at) : "";
}

// How long it ran, or runs.
std::string duration_of(const Json& own, Instant now) {
    const auto from = parse_rfc3339(own["started_at"].text());
    if (!from) return {};
    return in_words(parse_rfc3339(own["ended_at"].text()).value_or(now) - *from);
}

std::string table_of(const Json& jobs, int width, Instant now) {
    if (jobs.size() == 0) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& job : jobs.items()) {
        const Json& title = job["display_name"];
        rows.push_back({printable(job["name"].text()), printable(job["status"].text()),
                        age_of(job["creation_context"]["created_at"].text(), now),
                        duration_of(job["lavant"], now), printable(job["experiment_name"].text()),
                        title == job["name"] ? "" : printable(title.text())});
    }
    return render_table({{"NAME", Cut::Last},
                         {"STATUS"},
                         {"AGE"},
                         {"RAN"},
                         {"EXPERIMENT", Cut::First},
                         {"DISPLAY NAME", Cut::First}},
                        rows, width);
}

std::string list_query(const ListOptions& options) {
    std::string query = fmt::format("?listViewType={}", options.all        ? "All"
                                                        : options.archived ? "ArchivedOnly"
                                                                           : "ActiveOnly");
    if (!options.tag.empty()) query += "&tag=" + percent_encode(options.tag);
    return query;
}

Outcome<void> check_status(const std::string& given) {
    std::vector<std::string> known;
    for (const JobStatus status : kEveryStatus) known.emplace_back(name_of(status));
    const bool fine = std::ranges::any_of(
        known, [&given](const std::string& name) { return equals_ignoring_case(name, given); });
    if (fine) return {};
    const auto near = nearest(given, known);
    return stop(Exit::Usage, ErrorCode::InvalidArgument,
                fmt::format("there is no status '{}'; {}", printable(given),
                            near ? "did you mean '" + *near + "'?" : "there are " + spec::listed(known)));
}

bool wanted(const Json& job, const ListOptions& options) {
    const Json& properties = job["properties"];
    return (options.status.empty() || equals_ignoring_case(properties["status"].text(), options.status)) &&
           (options.experiment.empty() || properties["experimentName"].text() == options.experiment);
}

Outcome<Json> jobs_of(Session& session, const ListOptions& options, std::size_t most) {
    Json found = Json::array();
    std::string next = session.workspace_path("/jobs") + list_query(options);
    for (int pages = 0; !next.empty() && found.size() < most; ++pages) {
        if (pages == kPagesMax)
            return stop(
                Exit::Refused, ErrorCode::ResourceExhausted,
                fmt::format("cannot list the jobs: the server has more than {} pages of them; ask for "
                            "fewer: --max-results N",
                            kPagesMax));
        LAVANT_TRY(const Json page, session.attempt("list the jobs", "GET", next, Json()));
        for (const Json& job : page["value"].items()) {
            if (found.size() < most && wanted(job, options)) found.append(wire::to_az_job(job));
        }
        next = next_page(page);
    }
    return found;
}

Outcome<Json> children_of(Session& session, const ListOptions& options, std::size_t most) {
    LAVANT_TRY(const Json children,
               session.get("/history/v1.0" +
                           session.workspace_path("/runs/" + percent_encode(options.parent)) + "/children"));
    Json found = Json::array();
    for (const Json& child : children["value"].items()) {
        if (found.size() >= most) break;
        LAVANT_TRY(const Json job, session.get(session.job_path(child["runId"].text())));
        if (wanted(job, options)) found.append(wire::to_az_job(job));
    }
    return found;
}

}  // namespace

bool is_terminal(std::string_view status) {
    return status == "Completed" || status == "Failed" || status == "Canceled" || status == "NotResponding" ||
           status == "Paused";
}

Exit exit_of_status(std::string_view status) {
    if (status == "Completed") return Exit::Completed;
    return status == "Canceled" ? Exit::Canceled : Exit::Failed;
}

std::string render_job(const Json& job, const Console& console) {
    Fields fields;
    add(fields, "name", job["name"]);
    add(fields, "status", job["status"]);
    add_error(fields, job["error"]);
    add(fields, "warning", job["lavant"]["warning"]);
    if (job["display_name"] != job["name"]) add(fields, "display name", job["display_name"]);
    add(fields, "experiment", job["experiment_name"]);
    add(fields, "description", job["description"]);
    add_definition(fields, job);
    for (const auto& [key, value] : job["tags"].members())
        fields.emplace_back("tag", printable(key) + " = " + value.scalar_text());
    add_life(fields, job);
    for (const auto& [key, value] : job["properties"].members())
        fields.emplace_back("property", printable(key) + " = " + value.scalar_text());
    return render_fields(fields, console.width);
}

Outcome<Exit> show_job(Session& session, const Console& console, const std::string& name,
                       const Output& output, bool web) {
    LAVANT_TRY(const Json arm, session.get(session.job_path(name)));
    const Json job = wire::to_az_job(arm);
    LAVANT_TRY_VOID(print(job, output, console, [&] { return render_job(job, console); }));
    if (web) console.err << "web: " << printable(job.get("services.Studio.endpoint").text()) << "\n";
    return Exit::Completed;
}

Outcome<Exit> list_jobs(Session& session, const Console& console, const ListOptions& options,
                        const Output& output) {
    if (!options.status.empty()) LAVANT_TRY_VOID(check_status(options.status));
    const std::size_t most = static_cast<std::size_t>(std::clamp(options.max, 0, kListMax));
    LAVANT_TRY(const Json found, options.parent.empty() ? jobs_of(session, options, most)
                                                        : children_of(session, options, most));
    if (found.size() == most && output.format == Format::Table)
        console.err << fmt::format("the newest {}; there may be more: -r N\n", found.size());
    if (found.size() == 0 && output.format == Format::Table) console.err << "no jobs\n";
    const Instant now{
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    LAVANT_TRY_VOID(print(found, output, console, [&] { return table_of(found, console.width, now); }));
    return Exit::Completed;
}

Outcome<Exit> cancel_job(Session& session, const Console& console, const std::string& name, bool no_wait,
                         const Output& output) {
    LAVANT_TRY(const Json before, session.get(session.job_path(name)));
    const std::string found = before.get("properties.status").string();
    if (is_terminal(found)) {
        console.err << fmt::format("nothing to cancel: job {} is {} already\n", printable(name),
                                   printable(found));
        return Exit::Completed;
    }
    LAVANT_TRY_VOID(session.post(session.job_path(name) + "/cancel", Json::object()));
    const std::string wait = session.own_path(
        fmt::format("/jobs/{}/wait?timeout_s={}", percent_encode(name), no_wait ? 0 : kWaitSeconds));
    LAVANT_TRY(Json job, session.get(wait));
    while (!no_wait && !job["terminal"].boolean()) {
        console.err << fmt::format("{} is {}; its command gets a few seconds to end\n", printable(name),
                                   printable(job["status"].text()));
        LAVANT_TRY(job, session.get(wait));
    }
    LAVANT_TRY(const Json ended, session.get(session.job_path(name)));
    LAVANT_TRY_VOID(print(wire::to_az_job(ended), output, console,
                          [&] { return printable(name) + "  " + printable(job["status"].text()) + "\n"; }));
    return Exit::Completed;
}

void print_end(const JobEnd& end, const Console& console) {
    console.out.flush();
    console.err << printable(end.name) << "  "
                << console.painted(printable(end.status), colour_of_status(end.status)) << "\n";
    if (end.error.is_object()) {
        console.err << render_fields(
            {{"  " + printable(end.error["code"].text()), printable(end.error["message"].text())}},
            console.width);
    }
    console.err.flush();
}

Outcome<Exit> explain_job(Session& session, const Console& console, const std::string& name,
                          const Output& output) {
    LAVANT_TRY(const Json said,
               session.get(session.own_path(fmt::format("/jobs/{}/explain", percent_encode(name)))));
    Json shown = said;
    if (const std::string remedy = remedy_of(session, name); !remedy.empty()) shown.set("remedy", remedy);
    LAVANT_TRY_VOID(print(shown, output, console, [&] {
        Fields fields{{printable(said["status"].text()), printable(said["explanation"].text())}};
        if (shown.has("remedy")) fields.emplace_back("remedy", shown["remedy"].string());
        return render_fields(fields, console.width);
    }));
    return Exit::Completed;
}

}  // namespace lavant::cli
