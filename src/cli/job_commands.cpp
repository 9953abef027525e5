#include "cli/job_commands.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/time.h"

namespace lavant::cli {
namespace {

using wire::Json;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr int kListMax = 100'000;
constexpr int kReconnectsMax = 200;
constexpr int kReconnectPauseMs = 100;
constexpr int kWaitSeconds = 30;

// "2026-01-02 03:04:05"; the zone is always UTC and said in the column's title.
std::string short_time(std::string_view rfc3339) {
    if (rfc3339.size() < 19) return std::string(rfc3339);
    return std::string(rfc3339.substr(0, 10)) + " " + std::string(rfc3339.substr(11, 8));
}

void add(Fields& fields, const char* key, const Json& value) {
    if (value.is_null() || (value.is_string() && value.text().empty())) return;
    fields.emplace_back(key, value.is_object() || value.is_array() ? value.dump() : value.scalar_text());
}

void add_time(Fields& fields, const char* key, const Json& value) {
    if (!value.text().empty()) fields.emplace_back(key, short_time(value.text()) + " UTC");
}

std::string last_segment(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// ".../environments/base/versions/1" -> "base:1"
std::string short_asset(std::string_view id) {
    const auto parts = split(id, '/');
    for (std::size_t i = 0; i + 3 < parts.size() + 1; ++i) {
        if (i + 3 < parts.size() && parts[i + 2] == "versions" && i + 4 == parts.size()) {
            return std::string(parts[i + 1]) + ":" + std::string(parts[i + 3]);
        }
    }
    return std::string(id);
}

Fields fields_of(const Json& job) {
    const Json& properties = job["properties"];
    Fields fields;
    add(fields, "name", job["name"]);
    add(fields, "status", properties["status"]);
    const Json& error = properties["error"];
    if (error.is_object()) {
        fields.emplace_back("error", fmt::format("{}: {}", printable(error["code"].text()),
                                                 printable(error["message"].text())));
        add(fields, "failed on", error["node"]);
        add(fields, "traceback", error["tracebackLine"]);
    }
    add(fields, "warning", properties.get("lavant.warning"));
    add(fields, "display name", properties["displayName"]);
    add(fields, "experiment", properties["experimentName"]);
    add(fields, "description", properties["description"]);
    add(fields, "command", properties["command"]);
    if (!properties["computeId"].text().empty())
        fields.emplace_back("compute", last_segment(properties["computeId"].text()));
    if (!properties["environmentId"].text().empty())
        fields.emplace_back("environment", short_asset(properties["environmentId"].text()));
    const Json& resources = properties["resources"];
    if (resources.is_object()) {
        fields.emplace_back("instances", fmt::format("{}{}{}", resources["instanceCount"].integer(1),
                                                     resources["instanceType"].text().empty() ? "" : " x ",
                                                     resources["instanceType"].text()));
    }
    for (const auto& [key, value] : properties["tags"].members())
        fields.emplace_back("tag " + printable(key), value.scalar_text());
    add_time(fields, "created", job.get("systemData.createdAt"));
    add(fields, "created by", job.get("systemData.createdBy"));
    const Json& own = properties["lavant"];
    add_time(fields, "started", own["startedAt"]);
    add_time(fields, "ended", own["endedAt"]);
    if (own["attempt"].integer(1) > 1) add(fields, "attempt", own["attempt"]);
    add(fields, "canceled by", own["canceledBy"]);
    add(fields, "warning", own["warning"]);
    const Json& usage = own["usage"];
    if (usage.is_object()) {
        fields.emplace_back("used", fmt::format("{:.2f} s CPU, {:.1f} MiB memory at most, {:.2f} s in all",
                                                usage["cpuMicros"].number() / 1e6,
                                                usage["memoryPeakBytes"].number() / (1 << 20),
                                                usage["wallMicros"].number() / 1e6));
    }
    for (const auto& [key, value] : properties["properties"].members()) {
        if (key.starts_with("lavant.")) fields.emplace_back(printable(key), value.scalar_text());
    }
    return fields;
}

std::string table_of(const Json& jobs, int width) {
    if (jobs.size() == 0) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& job : jobs.items()) {
        const Json& properties = job["properties"];
        const Json& title = properties["displayName"];
        rows.push_back({printable(job["name"].text()), printable(properties["status"].text()),
                        short_time(job.get("systemData.createdAt").text()),
                        printable(properties["experimentName"].text()),
                        title == job["name"] ? "" : printable(title.text())});
    }
    return render_table({{"NAME", Cut::Last},
                         {"STATUS"},
                         {"CREATED (UTC)"},
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

bool wanted(const Json& job, const ListOptions& options) {
    const Json& properties = job["properties"];
    return (options.status.empty() || equals_ignoring_case(properties["status"].text(), options.status)) &&
           (options.experiment.empty() || properties["experimentName"].text() == options.experiment);
}

std::string without_host(const std::string& link) {
    const std::size_t scheme = link.find("://");
    if (scheme == std::string::npos) return link;
    const std::size_t path = link.find('/', scheme + 3);
    return path == std::string::npos ? "/" : link.substr(path);
}

struct Progress {
    std::uint64_t& printed;
    bool& ends_with_newline;
};

// One connection of the log; what it delivered goes to `console` and is counted.
Outcome<void> follow_log(Session& session, const Console& console, const std::string& name,
                         Progress progress) {
    ports::ClientRequest request;
    request.url = session.own_path(
        fmt::format("/jobs/{}/logs?follow=1&offset={}", percent_encode(name), progress.printed));
    request.timeout_s = 0;
    request.on_bytes = [&](std::string_view bytes) {
        if (bytes.empty()) return true;
        console.out << bytes;
        console.out.flush();
        progress.printed += bytes.size();
        progress.ends_with_newline = bytes.back() == '\n';
        return console.out.good();
    };
    LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
    if (answer.status < 200 || answer.status > 299) {
        return tl::make_unexpected(Session::refusal(answer, "read the log of job '" + name + "'"));
    }
    return {};
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

Outcome<Exit> show_job(Session& session, const Console& console, const std::string& name,
                       const Output& output) {
    LAVANT_TRY(const Json job, session.get(session.job_path(name)));
    LAVANT_TRY_VOID(
        print(job, output, console, [&] { return render_fields(fields_of(job), console.width); }));
    return Exit::Completed;
}

Outcome<Exit> list_jobs(Session& session, const Console& console, const ListOptions& options,
                        const Output& output) {
    Json found = Json::array();
    std::string next = session.workspace_path("/jobs") + list_query(options);
    const std::size_t most = static_cast<std::size_t>(std::clamp(options.max, 0, kListMax));
    while (!next.empty() && found.size() < most) {
        LAVANT_TRY(const Json page, session.get(next));
        for (const Json& job : page["value"].items()) {
            if (found.size() < most && wanted(job, options)) found.append(job);
        }
        next = page["nextLink"].text().empty() ? "" : without_host(page["nextLink"].string());
    }
    if (found.size() == most && output.format == Format::Table)
        console.err << fmt::format("the newest {}; there may be more: -r N\n", found.size());
    if (found.size() == 0 && output.format == Format::Table) console.err << "no jobs\n";
    LAVANT_TRY_VOID(print(found, output, console, [&] { return table_of(found, console.width); }));
    return Exit::Completed;
}

Outcome<Exit> cancel_job(Session& session, const Console& console, const std::string& name) {
    LAVANT_TRY([[maybe_unused]] const Json answer,
               session.post(session.job_path(name) + "/cancel", Json::object()));
    LAVANT_TRY(const Json job, session.get(session.job_path(name)));
    console.out << printable(name) << "  " << printable(job.get("properties.status").text()) << "\n";
    console.out.flush();
    return Exit::Completed;
}

void print_end(const JobEnd& end, const Console& console) {
    console.out.flush();
    console.err << printable(end.name) << "  "
                << console.painted(printable(end.status), colour_of_status(end.status)) << "\n";
    if (end.error.is_object()) {
        console.err << "  " << printable(end.error["code"].text()) << ": "
                    << printable(end.error["message"].text()) << "\n";
        if (!end.error["remedy"].text().empty())
            console.err << "  " << printable(end.error["remedy"].text()) << "\n";
    }
    console.err.flush();
}

Outcome<Exit> stream_job(Session& session, const Console& console, const std::string& name) {
    std::uint64_t printed = 0;
    bool ends_with_newline = true;
    const std::string wait =
        session.own_path(fmt::format("/jobs/{}/wait?timeout_s={}", percent_encode(name), kWaitSeconds));
    for (int failures = 0; failures <= kReconnectsMax;) {
        const std::uint64_t before = printed;
        const auto followed = follow_log(session, console, name, {printed, ends_with_newline});
        if (!followed && followed.error().exit != Exit::Unreachable)
            return tl::make_unexpected(followed.error());
        if (!console.out.good()) return Exit::Completed;  // Nobody reads any more (`… | head`).
        // A log that ended for another reason than the job's end (the server restarts) is taken up again.
        const auto job = followed ? session.get(wait) : Outcome<Json>(tl::make_unexpected(followed.error()));
        if (job && (*job)["terminal"].boolean()) {
            if (!ends_with_newline) console.out << "\n";
            print_end({name, (*job)["status"].string(), (*job)["error"]}, console);
            return exit_of_status((*job)["status"].text());
        }
        const bool away = !job && (job.error().exit == Exit::Unreachable ||
                                   job.error().error.code == ErrorCode::Unavailable);
        if (!job && !away) return tl::make_unexpected(job.error());
        failures = printed > before || job ? 0 : failures + 1;
        if (away) ::poll(nullptr, 0, kReconnectPauseMs);
    }
    return stop(Exit::Unreachable, ErrorCode::Unavailable,
                fmt::format("cannot follow job '{}': {} does not answer; the job goes on, look again with: "
                            "lavant job stream {}",
                            name, session.address().url, name));
}

}  // namespace lavant::cli
