#pragma once
// A command job as its author wrote it, checked. Only parse_command_job makes one, so nothing behind it
// checks again.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/job.h"
#include "core/spec/sections.h"

namespace lavant::spec {

struct CommandJobSpec : JobHead {
    std::string code;        // as written
    std::string code_local;  // the folder on this machine, empty if `code` is none or not local
    std::string command;
    EnvironmentSpec environment;
    std::map<std::string, std::string> environment_variables;
    std::vector<InputSpec> inputs;
    std::vector<OutputSpec> outputs;
    std::optional<ResourcesSpec> resources;
    std::optional<QueueSpec> queue;
    std::optional<DistributionSpec> distribution;
    std::optional<std::int64_t> timeout_seconds;
    std::optional<IdentitySpec> identity;
    std::vector<ServiceSpec> services;
    RetryPolicy retry;
    std::string component;  // the component's name or file, empty if the job has its own command
};

// All problems at once in Error::fields, with paths, lines and columns.
[[nodiscard]] Result<CommandJobSpec> parse_command_job(const Document& document,
                                                       const ComponentLoader& loader);

// `lavant.preemption_grace`, in seconds: between SIGTERM and SIGKILL when its node is taken back.
Duration parse_preemption_grace(const std::map<std::string, std::string>& properties);
// `lavant.max_retries` and `lavant.retry_on` of a job's properties; on the server too.
[[nodiscard]] Result<RetryPolicy> parse_retry(const std::map<std::string, std::string>& properties);

// Every key that begins with `lavant.`: known, and its value as it must be. Fields are properties.KEY.
std::vector<FieldProblem> check_lavant_properties(const std::map<std::string, std::string>& properties);

}  // namespace lavant::spec
