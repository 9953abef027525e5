#pragma once
// The readers of a command job's sections, shared by jobs and components. Internal to core/spec.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/spec/command_job.h"
#include "core/spec/fields.h"
#include "core/spec/finding.h"

namespace lavant::spec {

// Which other files are being read, so that those that name each other in a circle come to an end.
struct Visits {
    std::vector<std::string> open;
    std::size_t files = 0;
    std::size_t steps = 0;
};

struct Reading {
    const ComponentLoader& loader;
    std::string folder;  // of the file being read
    Problems& problems;
    std::vector<Finding>& beyond_azure;
    std::shared_ptr<Visits> visits = std::make_shared<Visits>();  // of all that is read together
};

// --- paths ---
std::string join_path(const std::string& folder, std::string_view path);
std::string parent_folder(const std::string& path);
bool is_remote(std::string_view path);                   // azureml:, https:, wasbs:, abfss:, s3:, runs:, ...
std::string without_file_scheme(std::string_view path);  // "file:./x" is "./x"
bool is_valid_name(std::string_view name);               // of an input or output

// --- the head of a job ---
// Everything in JobHead. `type` is what the file's own `type` must be, where it has one.
void read_head(Fields& fields, JobHead& head, std::string_view type);
std::string read_compute(Fields& fields, std::string_view key = "compute");  // without `azureml:`
std::map<std::string, std::string> read_variables(Fields& fields);

// --- inputs and outputs ---
// A pipeline's own data may be given later; a step's may be bound to its pipeline.
enum class InputPlace { Job, Pipeline, Step };
std::vector<InputSpec> read_inputs(Fields& fields, Reading& reading, InputPlace place = InputPlace::Job);
std::vector<OutputSpec> read_outputs(Fields& fields, Reading& reading, InputPlace place = InputPlace::Job);
InputSpec read_path(const Document& value, const std::string& path, Reading& reading);
const std::vector<std::string>& asset_types();
const std::vector<std::string>& literal_types();
const std::vector<std::string>& input_modes();
const std::vector<std::string>& output_modes();

// --- sections ---
EnvironmentSpec read_environment(Fields& fields, Reading& reading);
// What a mapping defines: inside a job, or as a file of its own.
EnvironmentSpec read_environment_definition(const Document& map, const std::string& path, Reading& reading);
// `code` gets what is written, `local` where that is on this machine.
void read_code(Fields& fields, Reading& reading, std::string& code, std::string& local);
std::optional<ResourcesSpec> read_resources(Fields& fields, Reading& reading);
std::optional<QueueSpec> read_queue(Fields& fields, Reading& reading);
std::optional<DistributionSpec> read_distribution(Fields& fields);
std::optional<std::int64_t> read_timeout(Fields& fields);
std::optional<IdentitySpec> read_identity(Fields& fields);
std::vector<ServiceSpec> read_services(Fields& fields, Reading& reading);

// --- components ---
// Reads `component:` and fills the parts of `spec` that come from it; `spec.inputs` and `.outputs` hold the
// job's own.
void apply_component(Fields& fields, Reading& reading, CommandJobSpec& spec);

// --- expressions ---
void check_command(const CommandJobSpec& spec, Position at, Problems& problems);

}  // namespace lavant::spec
