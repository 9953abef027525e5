#pragma once
// A job as it travels in ARM JSON, read on the server. (The CLI's direction is job_to_arm.h.)

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/launch.h"

namespace lavant::wire {

// The parts of a job's `properties` that the server acts on. Of one that is not a command, only what all have
// in common is read.
struct ArmCommandJob {
    std::string kind = "command";  // or "sweep", "pipeline", "spark", "automl", "finetuning", "labeling"
    std::string properties;        // the whole object, normalised JSON text: what GET echoes
    std::string display_name;
    std::string description;
    std::string experiment_name;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> extra;  // `properties.properties`
    bool archived = false;
    std::string command;
    std::string code_id;
    std::string environment_id;
    std::string compute_id;
    std::map<std::string, std::string> environment_variables;
    std::vector<LaunchInput> inputs;  // mode in YAML's spelling: "ro_mount"
    std::vector<LaunchOutput> outputs;
    int instance_count = 1;
    std::string instance_type;
    std::string job_tier;  // "", "Spot", "Basic", "Standard", "Premium"
    std::string priority;  // "", "low", "medium", "high"
    std::int64_t timeout_micros = 0;
    std::string distribution;  // "", "pytorch", "mpi", "tensorflow", "ray"
    int process_count = 1;
    std::string identity;  // "", "user_identity", "managed", "aml_token"
};

// `body` is the whole request body ({"properties": {...}}). All problems at once, with paths like
// properties.limits.timeout.
[[nodiscard]] Result<ArmCommandJob> parse_arm_job(std::string_view body);

class Json;
// The defaults a job has that clients expect to read back: no nulls, objects where they look into one, modes
// of inputs and outputs. `properties` is a job's, or a schedule's job definition.
Json normalised_job(Json properties);

}  // namespace lavant::wire
