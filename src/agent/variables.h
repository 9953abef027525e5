#pragma once
// The environment of a task's command: one table, in the order in which it is documented. What the user set
// in `environment_variables` wins over all of it, but for GPUs that are not the task's.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/launch.h"
#include "core/model/messages.h"

namespace lavant::agent {

struct VariableContext {
    const lavant::Launch& launch;
    const StartTask& start;
    std::string server_url;                     // https://host:port
    std::string ca_file;                        // readable by the task
    std::string node;                           // "node-17"
    std::map<std::string, std::string> inputs;  // name to path, URI or literal
    std::map<std::string, std::string> outputs;
    std::string programs_folder;    // searched last, empty for none
    bool machine_has_gpus = false;  // whoever may use them
};

struct VariableDoc {
    std::string_view name;
    std::string_view meaning;
};

// "NAME=value", sorted by name, each name once.
std::vector<std::string> make_environment(const VariableContext& context);

// What the table sets, for the documentation and its test. <name> stands for an input's or output's name.
std::vector<VariableDoc> documented_variables();

// Where MLflow clients of this workspace go.
std::string tracking_url(const std::string& server_url, const lavant::Launch& launch);

}  // namespace lavant::agent
