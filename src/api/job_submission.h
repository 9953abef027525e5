#pragma once
// From a parsed command job to the event that submits it: code, environment, data and compute are resolved here, so
// that everything behind is certain to exist. All problems are reported at once.

#include <map>
#include <string>
#include <vector>

#include "api/context.h"
#include "base/result.h"
#include "core/plane/events.h"
#include "wire/arm_job.h"

namespace lavant::api {

struct SubmissionAsk {
    std::string name;
    WorkspaceName workspace;
    std::string user;
};
// `job.properties` is moved from.
[[nodiscard]] Result<plane::SubmitJob> plan_submission(Context& context, const SubmissionAsk& ask,
                                                       wire::ArmCommandJob job);

// `lavant.max_retries`, `lavant.retry_on`, `lavant.keep_on_failure`, `lavant.python_home`.
struct OwnProperties {
    RetryPolicy retry;
    bool keep_on_failure = false;
    std::string python_home;
};
OwnProperties parse_own_properties(std::map<std::string, std::string> extra, std::vector<FieldProblem>& problems);

}  // namespace lavant::api
