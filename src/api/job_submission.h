#pragma once
// From a parsed command job to the event that submits it: code, environment, data and compute are resolved
// here, so that everything behind is certain to exist. All problems are reported at once.

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
    std::string workspace;  // its key
    WorkspaceName workspace_name;
    std::string user;
    bool is_owner = false;           // of the server
    const Caller* caller = nullptr;  // whose rights to datastores count; null: they were checked
};
// `job.properties` is moved from.
[[nodiscard]] Result<plane::SubmitJob> plan_submission(Context& context, const SubmissionAsk& ask,
                                                       wire::ArmCommandJob job);

// The `lavant.` keys of a job's properties, which wire::parse_arm_job has checked.
struct OwnProperties {
    RetryPolicy retry;
    bool keep_on_failure = false;
    bool confined = true;  // `lavant.sandbox`
    std::string python_home;
};
OwnProperties read_own_properties(const std::map<std::string, std::string>& extra);

}  // namespace lavant::api
