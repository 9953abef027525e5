#pragma once
// What a job of a kind without an engine names: computes, components and the environment of a trial. They
// must be there when it is stored, as they must for a command job.

#include <string>

#include "api/job_submission.h"

namespace lavant::api {

// The job's properties with the environment of a sweep's trial by its id, however it was sent, and with what
// only the server says.
[[nodiscard]] Result<std::string> resolve_references(Context& context, const SubmissionAsk& ask,
                                                     const std::string& properties);

}  // namespace lavant::api
