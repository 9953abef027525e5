// The steps of a pipeline, each for itself. What they mean to each other is in bindings.cpp.

#include <algorithm>

#include "base/text.h"
#include "core/spec/automl.h"
#include "core/spec/pipeline_reading.h"
#include "core/spec/sweep_reading.h"

namespace lavant::spec {
namespace {

const std::vector<std::string>& step_types() {
    static const std::vector<std::string> types = {"command",  "parallel", "spark",
                                                   "pipeline", "sweep",    "automl"};
    return types;
}

// "${{jobs.a.outputs.b}}" is an older way of writing "${{parent.jobs.a.outputs.b}}".
Document with_parent(const Document& step, const std::string& path, Reading& reading) {
    Document changed = step;
    for (Document::Entry& section : changed.entries) {
        if (section.key != "inputs" && section.key != "outputs") continue;
        for (Document::Entry& entry : section.value.entries) {
            std::string& text = entry.value.text;
            if (!entry.value.is_string() || !text.starts_with("${{jobs.")) continue;
            text.insert(3, "parent.");
            reading.beyond_azure.push_back(
                refused_there(path + "." + section.key + "." + entry.key, "write ${{parent.jobs. …}}"));
        }
    }
    return changed;
}

void read_step_head(Fields& fields, StepSpec& step) {
    step.display_name = fields.string("display_name");
    step.comment = fields.string("comment");
    step.tags = fields.string_map("tags");
    step.properties = fields.string_map("properties");
    step.compute = read_compute(fields);
    // `name` and `experiment_name` come from the pipeline, whatever a step says.
    fields.ignore({"$schema", "name", "experiment_name", "type", "id"});
}

// The component that the step names, or the start of the one that it brings with itself.
void read_step_component(Fields& fields, Reading& reading, std::string_view key, StepDraft& draft) {
    const Document* value = fields.find(key);
    if (value == nullptr) return;
    StepSpec& step = draft.step;
    const bool is_registered = value->is_string() && value->text.starts_with("azureml:");
    if (is_registered) {
        step.component_reference = value->text;
        if (trim(value->text.substr(8)).empty())
            fields.problem(key, "names no component; write azureml:NAME:VERSION or azureml:NAME@latest");
        return;
    }
    step.component_is_file = value->is_string() && !value->text.starts_with("file:");
    if (auto component = load_component(fields, key, reading)) {
        const std::string wanted = step.type == "sweep" ? "command" : step.type;
        if (component->kind != wanted && !component->kind.empty())
            fields.problem(key, "is of type " + component->kind + ", but the step is of type " + step.type);
        component->is_inline = !step.component_is_file;
        step.component = std::make_shared<const ComponentSpec>(std::move(*component));
    }
}

ComponentSpec own_component(const StepSpec& step, Fields& fields) {
    ComponentSpec own;
    own.kind = step.type;
    own.is_inline = true;
    own.description = fields.string("description");
    own.tags = step.tags;
    return own;
}

void read_command_step(Fields& fields, Reading& reading, StepDraft& draft) {
    StepSpec& step = draft.step;
    step.environment_variables = read_variables(fields);
    step.resources = read_resources(fields, reading);
    step.distribution = read_distribution(fields);
    step.timeout_seconds = read_timeout(fields);
    step.identity = read_identity(fields);
    step.services = read_services(fields, reading);
    step.queue = read_queue(fields, reading);
    if (fields.has("component")) {
        for (const char* key : {"command", "code"}) {
            if (fields.has(key)) fields.problem(key, "cannot stand beside component, which brings its own");
        }
        if (fields.has("environment")) read_environment(fields, reading);
        return;
    }
    ComponentSpec own = own_component(step, fields);
    read_code(fields, reading, own.code, own.code_local);
    own.command = fields.string("command");
    if (!fields.has("command")) fields.problem("command", "is missing; say what to run, or name a component");
    own.environment = read_environment(fields, reading);
    if (!fields.has("environment"))
        fields.problem("environment", "is missing; write azureml:NAME@latest, {image: IMAGE} or host");
    own.resources = step.resources;
    own.distribution = step.distribution;
    draft.own = std::move(own);
}

void read_parallel_step(Fields& fields, Reading& reading, StepDraft& draft) {
    StepSpec& step = draft.step;
    step.parallel = read_parallel(fields, reading);
    step.resources = read_resources(fields, reading);
    step.identity = read_identity(fields);
    if (fields.has("component")) return;
    if (!step.parallel->task && !fields.has("task") && !fields.has("parallel"))
        fields.problem("task", "is missing; say what runs on each mini batch, or name a component");
    ComponentSpec own = own_component(step, fields);
    own.parallel = step.parallel;
    own.resources = step.resources;
    draft.own = std::move(own);
}

void read_spark_step(Fields& fields, Reading& reading, StepDraft& draft) {
    StepSpec& step = draft.step;
    step.identity = read_identity(fields);
    if (fields.has("component")) {
        SparkSpec spark;
        if (const Document* conf = fields.find("conf"); conf != nullptr && conf->is_map()) spark.conf = *conf;
        read_spark_resources(fields, spark);
        step.spark = std::move(spark);
        return;
    }
    step.spark = read_spark(fields, reading);
    ComponentSpec own = own_component(step, fields);
    own.spark = step.spark;
    draft.own = std::move(own);
    read_spark_resources(fields, *step.spark);
}

void read_sweep_step(Fields& fields, Reading& reading, StepDraft& draft) {
    StepSpec& step = draft.step;
    step.sweep = read_sweep(fields, reading);
    step.identity = read_identity(fields);
    if (!fields.has("trial")) fields.problem("trial", "is missing; name the component to try");
}

}  // namespace

StepDraft read_step(const Document::Entry& entry, const std::string& path, Reading& reading) {
    StepDraft draft;
    draft.path = path;
    draft.folder = reading.folder;
    draft.written = &entry.value;
    StepSpec& step = draft.step;
    step.name = entry.key;
    const Document written = entry.value.is_map() ? with_parent(entry.value, path, reading) : entry.value;
    Fields fields(written, path, reading.problems);
    if (!written.is_map()) return draft;
    step.type = fields.has("type") ? fields.choice("type", step_types()) : "command";
    if (step.type.empty()) return draft;
    read_step_head(fields, step);
    if (step.type == "automl") {
        step.outputs = read_outputs(fields, reading, InputPlace::Step);
        step.automl = read_automl_step(fields, reading);
        fields.ignore({"description"});
        fields.finish();
        return draft;
    }
    step.inputs = read_inputs(fields, reading, InputPlace::Step);
    step.outputs = read_outputs(fields, reading, InputPlace::Step);
    read_step_component(fields, reading, step.type == "sweep" ? "trial" : "component", draft);
    if (step.type == "command") read_command_step(fields, reading, draft);
    if (step.type == "parallel") read_parallel_step(fields, reading, draft);
    if (step.type == "spark") read_spark_step(fields, reading, draft);
    if (step.type == "sweep") read_sweep_step(fields, reading, draft);
    if (step.type == "pipeline") {
        if (!fields.has("component")) fields.problem("component", "is missing; name the pipeline component");
        fields.ignore({"settings", "jobs"});
    }
    fields.ignore({"description"});
    fields.finish();
    return draft;
}

std::vector<StepSpec> read_steps(Fields& fields, const PipelineScope& scope, Reading& reading) {
    const Document* map = fields.find("jobs");
    if (map == nullptr) return {};
    if (!map->is_map() || map->entries.empty()) {
        fields.problem("jobs", "must be a mapping of the steps' names to the steps");
        return {};
    }
    std::vector<StepDraft> drafts;
    for (const Document::Entry& entry : map->entries) {
        const std::string path = fields.path_of("jobs") + "." + entry.key;
        if (++reading.visits->steps > kStepsMost) {
            reading.problems.add(path, entry.key_at,
                                 "there are more than " + std::to_string(kStepsMost) + " steps");
            break;
        }
        if (!is_valid_name(entry.key))
            reading.problems.add(
                path, entry.key_at,
                "is not a usable name; use letters, digits, '_' and '-', and begin with a letter");
        drafts.push_back(read_step(entry, path, reading));
    }
    return bind_steps(std::move(drafts), scope, reading);
}

}  // namespace lavant::spec
