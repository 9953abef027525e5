#pragma once
// A job as az and the SDK show it: the job file's own words (snake case, `azureml:` references) with what the
// server added. From the ARM resource.

#include <string>
#include <string_view>

#include "wire/json.h"

namespace lavant::wire {

Json to_az_job(const Json& arm);

// What of it is the user's, and makes the same job again when it is submitted as a job file.
Json to_job_file(const Json& az_job);

// `systemData` as az shows it.
Json az_creation(const Json& system);

// The body that makes the same job again, of any kind: what of the resource a client has said.
Json definition_of(const Json& arm);

// The resource group in an ARM id; "" if there is none.
std::string group_of(std::string_view id);

}  // namespace lavant::wire
