#pragma once
// GET /lavant/v1/jobs/{name}/logs: a log file, whole, from an offset, or followed until the job has ended and
// every byte was sent.

#include "api/context.h"

namespace lavant::api {

void serve_log(Context& context, const SharedCall& call);

}  // namespace lavant::api
