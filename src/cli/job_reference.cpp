#include "cli/job_reference.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/console.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kShownMost = 6;

Outcome<std::string> last_job(Session& session) {
    LAVANT_TRY(const Json found, session.get(session.own_path("/jobs?mine=1&limit=1")));
    if (found["value"].size() == 0)
        return stop(Exit::Refused, ErrorCode::NotFound,
                    "there is no @last: you have no job yet; make one with: lavant submit -- COMMAND");
    return found["value"].items().front()["name"].string();
}

}  // namespace

Outcome<std::string> resolve_job(Session& session, const std::string& given, Match match) {
    if (given.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "the name of the job is empty; say which is meant");
    if (given == "@last") return last_job(session);
    LAVANT_TRY(const Json found, session.get(session.own_path(fmt::format(
                                     "/jobs?prefix={}&limit={}", percent_encode(given), kShownMost))));
    const auto& jobs = found["value"].items();
    for (const Json& job : jobs)
        if (job["name"].text() == given) return given;
    if (jobs.size() == 1 && match == Match::ByBeginning) return jobs.front()["name"].string();
    if (jobs.empty() || match == Match::Exactly)
        return stop(Exit::Refused, ErrorCode::NotFound,
                    fmt::format("there is no job '{}'; see: lavant job list", printable(given)));
    std::string names;
    for (const Json& job : jobs) names += "\n  " + printable(job["name"].text());
    return stop(Exit::Refused, ErrorCode::Conflict,
                fmt::format("several jobs begin with '{}'; write more of the name:{}{}", printable(given),
                            names, jobs.size() == kShownMost ? "\n  …" : ""));
}

}  // namespace lavant::cli
