#pragma once
// A checked job of any kind to the ARM request body that submits it. (The server's direction is arm_job.h.)

#include <string>

#include "core/spec/job.h"
#include "wire/json.h"
#include "wire/resolver.h"

namespace lavant::wire {

// {"properties": {"jobType": …}}. The resolver is asked for every folder, environment, input and component on
// the way; its first failure ends the work.
[[nodiscard]] Result<Json> to_arm_job(const spec::JobSpec& job, Resolver& resolver);

// The body that registers an environment defined in the job: an image, or a build context already uploaded.
// The same definition gives the same text, so a hash of it can serve as an anonymous version.
std::string to_arm_environment(const spec::EnvironmentSpec& environment,
                               const std::string& build_context_uri);

}  // namespace lavant::wire
