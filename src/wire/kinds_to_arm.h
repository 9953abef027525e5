#pragma once
// One function for each kind of job, each in a file of its own; job_to_arm.h is what others call.

#include "core/spec/job.h"
#include "wire/json.h"
#include "wire/resolver.h"

namespace lavant::wire {

[[nodiscard]] Result<Json> command_to_arm(const spec::CommandJobSpec& job, Resolver& resolver);
[[nodiscard]] Result<Json> sweep_to_arm(const spec::SweepJobSpec& job, Resolver& resolver);
[[nodiscard]] Result<Json> pipeline_to_arm(const spec::PipelineJobSpec& job, Resolver& resolver);
[[nodiscard]] Result<Json> spark_to_arm(const spec::SparkJobSpec& job, Resolver& resolver);
[[nodiscard]] Result<Json> finetuning_to_arm(const spec::FineTuningJobSpec& job, Resolver& resolver);
[[nodiscard]] Result<Json> automl_to_arm(const spec::AutoMlJobSpec& job, Resolver& resolver);

}  // namespace lavant::wire
