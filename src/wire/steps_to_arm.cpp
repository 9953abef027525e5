// The steps of a pipeline: snake_case, but for componentId and computeId.

#include "wire/automl_to_arm.h"
#include "wire/component_to_arm.h"
#include "wire/sections_to_arm.h"
#include "wire/spark_to_arm.h"
#include "wire/sweep_to_arm.h"

namespace lavant::wire {
namespace {

using spec::StepSpec;

Result<Json> step_inputs(const StepSpec& step, Resolver& resolver) {
    Json inputs = Json::object();
    for (const spec::InputSpec& input : step.inputs) {
        LAVANT_TRY(const Json value, input_of(input, resolver));
        inputs.set(input.name, with_snake_keys(value));
    }
    return inputs;
}

Json step_outputs(const StepSpec& step) {
    Json outputs = Json::object();
    for (const spec::OutputSpec& output : step.outputs) {
        if (!output.binding.empty()) {
            Json bound = Json::object({{"value", output.binding}, {"type", "literal"}});
            set_text(bound, "mode", output.has_settings ? wire_mode(output.mode) : "");
            outputs.set(output.name, std::move(bound));
            continue;
        }
        if (!output.has_settings) continue;
        Json value = Json::object({{"job_output_type", output.type}});
        set_text(value, "uri", output.path);
        set_text(value, "mode", wire_mode(output.mode));
        set_text(value, "name", output.asset_name);
        set_text(value, "version", output.asset_version);
        outputs.set(output.name, std::move(value));
    }
    return outputs;
}

// Where the definition of the step came from, in the wire's own words.
std::string source_of(const StepSpec& step) {
    if (step.component_reference.starts_with("azureml://registries/")) return "REMOTE.REGISTRY";
    if (!step.component_reference.empty()) return "REMOTE.WORKSPACE.COMPONENT";
    return step.component_is_file ? "YAML.COMPONENT" : "YAML.JOB";
}

Result<std::string> component_id(const StepSpec& step, Resolver& resolver) {
    if (!step.component_reference.empty()) return resolver.component_named(step.component_reference);
    LAVANT_TRY(const Json body, to_arm_component(*step.component, ComponentUse::Anonymous, resolver));
    return resolver.component(body);
}

void add_command(Json& node, const StepSpec& step) {
    const spec::ComponentSpec* component = step.component.get();
    const auto& resources = step.resources || component == nullptr ? step.resources : component->resources;
    const auto& distribution =
        step.distribution || component == nullptr ? step.distribution : component->distribution;
    if (resources) node.set("resources", snake_resources(*resources));
    if (distribution) node.set("distribution", with_snake_keys(distribution_of(*distribution)));
    if (step.timeout_seconds)
        node.set("limits", Json::object({{"job_limits_type", "Command"},
                                         {"timeout", iso_seconds(*step.timeout_seconds)}}));
    if (!step.environment_variables.empty())
        node.set("environment_variables", to_json(step.environment_variables));
    if (step.queue) node.set("queue_settings", with_snake_keys(queue_of(*step.queue)));
    if (step.services.empty()) return;
    Json services = Json::object();
    const Json written = services_of(step.services);
    for (const Json::Member& service : written.members()) {
        Json value = with_snake_keys(service.value);
        if (value.has("nodes")) value.set("nodes", with_snake_keys(value["nodes"]));
        services.set(service.key, std::move(value));
    }
    node.set("services", std::move(services));
}

// What the step does not say itself it repeats from its component.
Result<void> add_parallel(Json& node, const StepSpec& step, Resolver& resolver) {
    const spec::ParallelSpec& own = *step.parallel;
    const spec::ParallelSpec* of =
        step.component && step.component->parallel ? &*step.component->parallel : nullptr;
    if (of != nullptr) add_all(node, parallel_parts(*of));
    add_all(node, parallel_parts(own));
    const auto& size = own.mini_batch_size || of == nullptr ? own.mini_batch_size : of->mini_batch_size;
    if (size) node.set("mini_batch_size", *size);
    const auto& resources =
        step.resources || step.component == nullptr ? step.resources : step.component->resources;
    if (resources) node.set("resources", snake_resources(*resources));
    const auto& task = own.task || of == nullptr ? own.task : of->task;
    if (!task) return {};
    LAVANT_TRY(Json value, parallel_task(*task, resolver));
    node.set("task", std::move(value));
    return {};
}

void add_spark(Json& node, const StepSpec& step) {
    const bool has_component = step.component && step.component->spark;
    const spec::SparkSpec& from = has_component ? *step.component->spark : *step.spark;
    add_all(node, spark_files(from));
    node.set("entry", with_snake_keys(spark_entry(from)));
    spec::SparkSpec merged = from;
    if (!step.spark->conf.entries.empty()) merged.conf = step.spark->conf;
    Json conf = spark_conf(merged);
    if (conf.size() > 0) node.set("conf", std::move(conf));
    if (step.spark->instance_type)
        node.set("resources", Json::object({{"instance_type", *step.spark->instance_type},
                                            {"runtime_version", step.spark->runtime_version}}));
    if (step.identity) return;
    if (!step.compute.empty()) node.set("identity", Json::object({{"identity_type", "Managed"}}));
    if (step.compute.empty() && step.spark->instance_type)
        node.set("identity", Json::object({{"identity_type", "UserIdentity"}}));
}

void add_sweep(Json& node, const spec::SweepSpec& sweep) {
    Json limits = Json::object();
    set_value(limits, "max_total_trials", sweep.limits.max_total_trials);
    set_value(limits, "max_concurrent_trials", sweep.limits.max_concurrent_trials);
    set_value(limits, "timeout", sweep.limits.timeout_seconds);
    set_value(limits, "trial_timeout", sweep.limits.trial_timeout_seconds);
    node.set("limits", std::move(limits));
    node.set("objective", Json::object({{"goal", sweep.goal}, {"primary_metric", sweep.primary_metric}}));
    if (sweep.sampling.is_word) {
        node.set("sampling_algorithm", sweep.sampling.type);
    } else {
        Json sampling = Json::object({{"type", sweep.sampling.type}});
        set_text(sampling, "rule", sweep.sampling.rule);
        set_value(sampling, "seed", sweep.sampling.seed);
        set_value(sampling, "logbase", sweep.sampling.logbase);
        node.set("sampling_algorithm", std::move(sampling));
    }
    Json space = Json::object();
    for (const spec::SearchSpec& search : sweep.search_space) space.set(search.name, to_json(search.space));
    node.set("search_space", std::move(space));
    if (sweep.early_termination)
        node.set("early_termination", with_snake_keys(early_termination_of(*sweep.early_termination)));
    if (sweep.queue) node.set("queue_settings", with_snake_keys(queue_of(*sweep.queue)));
    if (sweep.resources) node.set("resources", snake_resources(*sweep.resources));
}

Result<Json> step_to_arm(const StepSpec& step, Resolver& resolver) {
    Json node = Json::object({{"name", step.name}, {"type", step.type}});
    set_text(node, "display_name", step.display_name);
    set_text(node, "comment", step.comment);
    if (!step.compute.empty()) node.set("computeId", resolver.compute(step.compute));
    if (step.automl) {
        node.set("tags", to_json(step.tags));
        node.set("properties", to_json(step.properties));
        LAVANT_TRY(const Json parts, automl_step(*step.automl, resolver));
        add_all(node, parts);
        if (!step.outputs.empty()) node.set("outputs", step_outputs(step));
        return node;
    }
    node.set("_source", source_of(step));
    if (!step.tags.empty()) node.set("tags", to_json(step.tags));
    if (!step.properties.empty()) node.set("properties", to_json(step.properties));
    LAVANT_TRY(std::string id, component_id(step, resolver));
    if (step.sweep) {
        node.set("trial", Json::object({{"componentId", std::move(id)}}));
        add_sweep(node, *step.sweep);
    } else {
        node.set("componentId", std::move(id));
    }
    LAVANT_TRY(Json inputs, step_inputs(step, resolver));
    if (inputs.size() > 0) node.set("inputs", std::move(inputs));
    Json outputs = step_outputs(step);
    if (outputs.size() > 0) node.set("outputs", std::move(outputs));
    if (step.identity) node.set("identity", with_snake_keys(identity_of(*step.identity)));
    if (step.type == "command") add_command(node, step);
    if (step.parallel) LAVANT_TRY_VOID(add_parallel(node, step, resolver));
    if (step.spark) add_spark(node, step);
    return node;
}

}  // namespace

Result<Json> steps_to_arm(const std::vector<StepSpec>& steps, Resolver& resolver) {
    Json nodes = Json::object();
    for (const StepSpec& step : steps) {
        LAVANT_TRY(Json node, step_to_arm(step, resolver));
        nodes.set(step.name, std::move(node));
    }
    return nodes;
}

}  // namespace lavant::wire
