#pragma once
// Which pool a job goes to: that of the compute it names, or a serverless one for its size and tier.

#include <string>
#include <vector>

#include "api/context.h"
#include "core/model/node.h"
#include "wire/arm_job.h"

namespace lavant::api {

struct SubmissionAsk;  // job_submission.h

struct PoolPlan {
    Pool pool;       // of a compute: its key alone, the plane has the rest
    Resources task;  // of one process, in a pool that packs
    std::string warning;
    std::vector<FieldProblem> problems;
};
PoolPlan plan_pool(Context& context, const SubmissionAsk& ask, const wire::ArmCommandJob& job);

}  // namespace lavant::api
