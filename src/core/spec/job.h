#pragma once
// A job file of any kind: its `type` says which, else its $schema, else it is a command job.

#include <string>
#include <string_view>
#include <variant>

#include "core/spec/automl.h"
#include "core/spec/command_job.h"
#include "core/spec/finetuning.h"
#include "core/spec/pipeline.h"
#include "core/spec/spark.h"
#include "core/spec/sweep.h"

namespace lavant::spec {

using JobSpec = std::variant<CommandJobSpec, SweepJobSpec, PipelineJobSpec, SparkJobSpec, AutoMlJobSpec,
                             FineTuningJobSpec>;

// command, sweep, pipeline, spark, automl, finetuning or distillation; what it says, if it is none of them.
std::string job_type_of(const Document& document);

// All problems at once in Error::fields, with paths, lines and columns.
[[nodiscard]] Result<JobSpec> parse_job(const Document& document, const ComponentLoader& loader);

std::string_view type_of(const JobSpec& job);  // likewise
JobHead& head_of(JobSpec& job);
const JobHead& head_of(const JobSpec& job);

}  // namespace lavant::spec
