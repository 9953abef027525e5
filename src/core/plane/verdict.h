#pragma once
// What a task's end means: whether it may be tried again, and how it reads to the user.

#include <string>

#include "base/result.h"
#include "core/model/job.h"
#include "core/model/node.h"

namespace lavant::plane {

// The node went, not what ran there: such an end does not use up a user's retries.
bool is_nodes_fault(EndReason reason);
bool may_retry(const RetryPolicy& policy, const TaskEnd& end);

// Whether what failed this way may succeed when it is tried again.
bool may_pass(ErrorCode code);

// The error of a failed job: a code users branch on, and a message with the remedy.
JobError explain_failure(const TaskEnd& end, const std::string& node);
// Of a job whose outputs cannot be put in their place, however often it is tried.
JobError explain_unpublished(ErrorCode code, const std::string& message);

}  // namespace lavant::plane
