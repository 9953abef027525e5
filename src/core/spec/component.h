#pragma once
// A component as its author wrote it, checked: what it takes, what it makes, and how. Components of every
// kind are one struct, because a step, a file and a registered component are read alike; `kind` says which
// parts mean something.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/sections.h"
#include "core/spec/sweep.h"

namespace lavant::spec {

inline constexpr std::size_t kPortsMost = 1'000;           // inputs, and as many outputs, of one component
inline constexpr std::size_t kStepsMost = 2'000;           // of one pipeline with everything nested in it
inline constexpr std::size_t kComponentFilesMost = 2'000;  // read on behalf of one file
inline constexpr std::size_t kIncludesMost = 1'000;        // additional_includes of one component
inline constexpr std::size_t kComponentDepthMost = 16;     // component files that name component files

// An input or output that a component declares.
struct PortSpec {
    std::string name;
    std::string type;             // uri_folder, …, or string, integer, number, boolean
    bool is_called_path = false;  // an old word for uri_folder, which travels as it was written
    std::string mode;
    std::string description;
    std::optional<bool> optional;
    std::optional<Document> value;  // the default
    std::optional<double> least;
    std::optional<double> most;
    std::vector<std::string> one_of;
    std::optional<bool> early_available;  // of an output
    std::optional<bool> is_control;       // likewise

    bool is_literal() const;
    bool is_optional() const { return optional.value_or(false); }
    // A value as the wire has it: a number's default of 3 is 3.0.
    std::string printed(const Document& document) const;
};

struct ParallelTaskSpec {
    std::string type;  // run_function, function, model; or command, which only we take
    std::string code;
    std::string code_local;
    std::string entry_script;
    std::string command;
    std::string program_arguments;
    std::string append_row_to;
    std::string model;
    EnvironmentSpec environment;
};

// What a parallel component and a parallel step have in common.
struct ParallelSpec {
    std::optional<ParallelTaskSpec> task;
    std::string input_data;
    std::optional<std::int64_t> mini_batch_size;  // files, or bytes of a table
    std::vector<std::string> partition_keys;
    std::optional<std::int64_t> max_concurrency_per_instance;
    std::optional<std::int64_t> error_threshold;
    std::optional<std::int64_t> mini_batch_error_threshold;
    std::optional<std::int64_t> retry_timeout_seconds;
    std::optional<std::int64_t> max_retries;
    std::string logging_level;
    std::map<std::string, std::string> environment_variables;
};

// What a spark component, a spark step and a spark job have in common.
struct SparkSpec {
    std::string code;
    std::string code_local;
    std::string entry_file;   // one of the two
    std::string entry_class;  // of a jar
    std::vector<std::string> py_files;
    std::vector<std::string> jars;
    std::vector<std::string> files;
    std::vector<std::string> archives;
    Document conf = Document::map();
    std::string args;
    EnvironmentSpec environment;
    bool has_environment = false;
    std::optional<std::string> instance_type;  // resources, of a job or step
    std::string runtime_version;
};

struct ComponentSpec;
struct AutoMlJobSpec;

// One step of a pipeline.
struct StepSpec {
    std::string name;
    std::string type;  // command, parallel, spark, pipeline, sweep, automl
    std::string display_name;
    std::string comment;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> properties;
    std::string compute;
    std::vector<InputSpec> inputs;    // a binding is a literal: "${{parent.inputs.x}}"
    std::vector<OutputSpec> outputs;  // a binding is OutputSpec::binding
    // Exactly one, but for automl, which has neither.
    std::string component_reference;                 // of a registered one, as written
    std::shared_ptr<const ComponentSpec> component;  // from a file, or of the step's own
    bool component_is_file = false;  // named by its path alone, which the wire calls another source

    std::map<std::string, std::string> environment_variables;
    std::optional<ResourcesSpec> resources;
    std::optional<DistributionSpec> distribution;
    std::optional<std::int64_t> timeout_seconds;
    std::optional<IdentitySpec> identity;
    std::vector<ServiceSpec> services;
    std::optional<QueueSpec> queue;
    std::optional<ParallelSpec> parallel;
    std::optional<SparkSpec> spark;
    std::optional<SweepSpec> sweep;  // its trial is `component`
    std::shared_ptr<const AutoMlJobSpec> automl;
};

struct ComponentSpec {
    std::string kind;  // command, parallel, spark, pipeline
    std::string schema;
    std::string name;
    std::string version;
    std::string display_name;
    std::string description;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> properties;
    std::optional<bool> is_deterministic;
    std::vector<PortSpec> inputs;
    std::vector<PortSpec> outputs;
    // command
    std::string code;
    std::string code_local;
    std::string command;
    EnvironmentSpec environment;
    IncludesSpec includes;                   // of spark too
    std::optional<ResourcesSpec> resources;  // of parallel too
    std::optional<DistributionSpec> distribution;
    std::optional<ParallelSpec> parallel;
    std::optional<SparkSpec> spark;
    std::vector<StepSpec> steps;            // of a pipeline
    bool is_inline = false;                 // written in a step, or named with `file:`, not by a path alone
    std::vector<std::string> beyond_azure;  // as in a job
};

// All problems at once in Error::fields, with paths, lines and columns.
[[nodiscard]] Result<ComponentSpec> parse_component(const Document& document, const ComponentLoader& loader);

const PortSpec* find_port(const std::vector<PortSpec>& ports, std::string_view name);

}  // namespace lavant::spec
