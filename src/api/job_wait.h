#pragma once
// GET /lavant/v1/jobs/{name}/wait: answered in the moment the job's end is committed, or at the time-out.

#include "api/context.h"

namespace lavant::api {

void start_job_wait(Context& context, const SharedCall& call);

}  // namespace lavant::api
