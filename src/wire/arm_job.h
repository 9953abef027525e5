#pragma once
// A command job as it travels in ARM JSON, read on the server. (The CLI's direction is job_to_arm.h.)

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/launch.h"

namespace lavant::wire {

// The parts of a command job's `properties` that the server acts on.
struct ArmCommandJob {
    std::string properties;  // the whole object, normalised JSON text: what GET echoes
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
// properties.limits.timeout. A job type other than Command is refused as not supported yet.
[[nodiscard]] Result<ArmCommandJob> parse_arm_job(std::string_view body);

}  // namespace lavant::wire
