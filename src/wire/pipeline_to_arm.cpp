#include "wire/component_to_arm.h"
#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

Json settings_of(const spec::PipelineJobSpec& job, Resolver& resolver) {
    const spec::PipelineSettingsSpec& settings = job.settings;
    Json value = Json::object({{"_source", job.steps_are_of_component ? "YAML.COMPONENT" : "YAML.JOB"}});
    if (!settings.default_compute.empty())
        value.set("default_compute", resolver.compute(settings.default_compute));
    set_text(value, "default_datastore", settings.default_datastore);
    set_value(value, "continue_on_step_failure", settings.continue_on_step_failure);
    set_value(value, "continue_run_on_failed_optional_input", settings.continue_run_on_failed_optional_input);
    set_value(value, "force_rerun", settings.force_rerun);
    for (const spec::Document::Entry& other : settings.others) value.set(other.key, to_json(other.value));
    return value;
}

}  // namespace

Result<Json> pipeline_to_arm(const spec::PipelineJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "Pipeline", resolver));
    LAVANT_TRY(Json inputs, inputs_of(job.inputs, resolver));
    body.set("inputs", std::move(inputs));
    body.set("outputs", outputs_of(job.outputs));
    LAVANT_TRY(Json steps, steps_to_arm(job.steps, resolver));
    body.set("jobs", std::move(steps));
    body.set("settings", settings_of(job, resolver));
    if (!job.component_reference.empty()) {
        LAVANT_TRY(std::string id, resolver.component_named(job.component_reference));
        body.set("componentId", std::move(id));
    }
    if (job.identity) body.set("identity", identity_of(*job.identity));
    return body;
}

}  // namespace lavant::wire
