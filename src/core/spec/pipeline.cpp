#include "core/spec/pipeline.h"

#include <algorithm>

#include "base/text.h"
#include "core/spec/pipeline_reading.h"

namespace lavant::spec {
namespace {

PipelineSettingsSpec read_settings(Fields& fields, Reading& reading) {
    PipelineSettingsSpec settings;
    const Document* map = fields.find("settings");
    if (map == nullptr) return settings;
    Fields parts(*map, fields.path_of("settings"), reading.problems);
    if (!map->is_map()) return settings;
    settings.default_compute = read_compute(parts, "default_compute");
    settings.default_datastore = read_compute(parts, "default_datastore");
    settings.continue_on_step_failure = parts.boolean("continue_on_step_failure");
    settings.continue_run_on_failed_optional_input = parts.boolean("continue_run_on_failed_optional_input");
    settings.force_rerun = parts.boolean("force_rerun");
    // The wire keeps settings that it does not know, so a slip of the pen is no mistake there.
    const std::vector<std::string> known = {"default_compute", "default_datastore",
                                            "continue_on_step_failure",
                                            "continue_run_on_failed_optional_input", "force_rerun"};
    for (const Document::Entry& entry : map->entries) {
        if (std::ranges::find(known, entry.key) != known.end()) continue;
        settings.others.push_back(entry);
        reading.beyond_azure.push_back(
            ignored_there(parts.path_of(entry.key), "an unknown setting" + suggestion(entry.key, known)));
    }
    return settings;
}

PortSpec port_of(const InputSpec& input) {
    PortSpec port;
    port.name = input.name;
    port.type = input.type == "literal" ? input.value_type : input.type;
    port.mode = input.mode;
    return port;
}

PortSpec port_of(const OutputSpec& output) {
    PortSpec port;
    port.name = output.name;
    port.type = output.type;
    port.mode = output.mode;
    return port;
}

template <class Value>
std::vector<PortSpec> ports_of(const std::vector<Value>& values) {
    std::vector<PortSpec> ports;
    for (const Value& value : values) ports.push_back(port_of(value));
    return ports;
}

// What the job does not say of its component's inputs and outputs, it repeats from the component.
InputSpec default_of(const PortSpec& declared) {
    InputSpec input;
    input.name = declared.name;
    input.type = "literal";
    input.value = declared.printed(*declared.value);
    input.value_type = declared.type;
    return input;
}

OutputSpec output_of(const PortSpec& declared) {
    OutputSpec output;
    output.name = declared.name;
    if (!declared.type.empty()) output.type = declared.type;
    output.mode = declared.mode;
    return output;
}

// A pipeline job may be one pipeline component with values for its inputs.
void read_job_component(Fields& fields, Reading& reading, PipelineJobSpec& job) {
    const Document* value = fields.find("component");
    if (value == nullptr) return;
    if (fields.has("jobs")) fields.problem("jobs", "cannot stand beside component, which brings its own");
    if (value->is_string() && value->text.starts_with("azureml:")) {
        job.component_reference = value->text;
        return;
    }
    auto component = load_component(fields, "component", reading);
    if (!component || component->kind.empty()) return;
    if (component->kind != "pipeline") {
        fields.problem("component", "is of type " + component->kind +
                                        "; only a component of type pipeline can stand in a pipeline job");
        return;
    }
    for (const PortSpec& declared : component->inputs) {
        if (std::ranges::find(job.inputs, declared.name, &InputSpec::name) != job.inputs.end()) continue;
        if (declared.value) {
            job.inputs.push_back(default_of(declared));
        } else if (!declared.is_optional()) {
            fields.problem("inputs", "'" + declared.name + "' is missing; the component needs it");
        }
    }
    for (const PortSpec& declared : component->outputs)
        if (std::ranges::find(job.outputs, declared.name, &OutputSpec::name) == job.outputs.end())
            job.outputs.push_back(output_of(declared));
    job.component = std::make_shared<const ComponentSpec>(std::move(*component));
}

}  // namespace

void read_pipeline_part(Fields& fields, Reading& reading, ComponentSpec& component) {
    component.steps = read_steps(fields, {component.inputs, component.outputs}, reading);
    if (!fields.has("jobs")) fields.problem("jobs", "is missing; a pipeline has at least one step");
    fields.ignore({"settings", "experiment_name"});
}

Result<PipelineJobSpec> parse_pipeline_job(const Document& document, const ComponentLoader& loader) {
    PipelineJobSpec job;
    Problems problems;
    Reading reading{loader, loader.folder, problems, job.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, job, "pipeline");
    job.inputs = read_inputs(fields, reading, InputPlace::Pipeline);
    job.outputs = read_outputs(fields, reading, InputPlace::Pipeline);
    job.settings = read_settings(fields, reading);
    job.identity = read_identity(fields);
    if (fields.has("component")) {
        read_job_component(fields, reading, job);
    } else {
        job.steps = read_steps(fields, {ports_of(job.inputs), ports_of(job.outputs)}, reading);
        if (document.is_map() && !fields.has("jobs"))
            fields.problem("jobs", "is missing; a pipeline has at least one step");
    }
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return job;
}

}  // namespace lavant::spec
