#pragma once
// What a task's end means: whether it may be tried again, and how it reads to the user.

#include <string>

#include "core/model/job.h"
#include "core/model/node.h"

namespace lavant::plane {

bool may_retry(const RetryPolicy& policy, const TaskEnd& end);

// The error of a failed job: a code users branch on, and a message with the remedy.
JobError explain_failure(const TaskEnd& end, const std::string& node);

}  // namespace lavant::plane
