#include "wire/component_to_arm.h"
#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

Json settings_of(const spec::PipelineSettingsSpec& settings, std::string_view source, Resolver& resolver) {
    Json value = Json::object({{"_source", source}});
    if (!settings.default_compute.empty())
        value.set("default_compute", resolver.compute(settings.default_compute));
    if (!settings.default_datastore.empty())
        value.set("default_datastore", resolver.datastore(settings.default_datastore));
    set_value(value, "continue_on_step_failure", settings.continue_on_step_failure);
    set_value(value, "continue_run_on_failed_optional_input", settings.continue_run_on_failed_optional_input);
    set_value(value, "force_rerun", settings.force_rerun);
    for (const spec::Document::Entry& other : settings.others) value.set(other.key, to_json(other.value));
    return value;
}

// "" when the job has steps of its own.
Result<std::string> component_id(const spec::PipelineJobSpec& job, Resolver& resolver) {
    if (!job.component_reference.empty()) return resolver.component_named(job.component_reference);
    if (!job.component) return std::string();
    LAVANT_TRY(const Json body, to_arm_component(*job.component, ComponentUse::Anonymous, resolver));
    return resolver.job_component(body);
}

}  // namespace

Result<Json> pipeline_to_arm(const spec::PipelineJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "Pipeline", resolver));
    LAVANT_TRY(Json inputs, inputs_of(job.inputs, resolver));
    body.set("inputs", std::move(inputs));
    body.set("outputs", outputs_of(job.outputs));
    LAVANT_TRY(const std::string id, component_id(job, resolver));
    set_text(body, "componentId", id);
    const bool brings_steps = job.component && id.empty();
    LAVANT_TRY(Json steps, steps_to_arm(brings_steps ? job.component->steps : job.steps, resolver));
    body.set("jobs", std::move(steps));
    const char* source = !id.empty() ? "REMOTE.WORKSPACE.JOB" : brings_steps ? "YAML.COMPONENT" : "YAML.JOB";
    body.set("settings", settings_of(job.settings, source, resolver));
    if (job.identity) body.set("identity", identity_of(*job.identity));
    return body;
}

}  // namespace lavant::wire
