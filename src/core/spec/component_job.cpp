// A command job that takes its command from a component.

#include <algorithm>

#include "base/text.h"
#include "core/spec/component_reading.h"
#include "core/spec/expression.h"

namespace lavant::spec {
namespace {

// The declared input with the job's value, or its default; nothing if it is optional and absent.
std::optional<InputSpec> bind_input(const PortSpec& declared, std::vector<InputSpec>& given, Fields& fields,
                                    Reading& reading) {
    const std::string path = fields.path_of("inputs") + "." + declared.name;
    const auto found = std::find_if(given.begin(), given.end(),
                                    [&](const InputSpec& input) { return input.name == declared.name; });
    if (found == given.end()) {
        if (declared.value) {
            InputSpec input;
            input.name = declared.name;
            input.mode = declared.mode;
            input.type = declared.is_literal() ? "literal" : declared.type;
            input.value_type = declared.is_literal() ? declared.type : "";
            (declared.is_literal() ? input.value : input.path) = declared.value->printed();
            return input;
        }
        if (!declared.is_optional()) {
            reading.problems.add(path, fields.position_of("inputs"),
                                 "is missing; the component needs this input of type " + declared.type);
        }
        return std::nullopt;
    }
    InputSpec input = *found;
    const Document& written = *fields.map().find("inputs")->find(declared.name);
    if (declared.is_literal()) {
        const std::string wrong =
            input.type == "literal" ? check_value(declared, input.value) : "must be a literal value";
        if (!wrong.empty()) reading.problems.add(path, written.at, wrong);
        input.value_type = declared.type;
        return input;
    }
    if (input.type == "literal") {  // A bare string names the place.
        input = read_path(written, path, reading);
        input.name = declared.name;
    } else if (written.find("type") != nullptr && input.type != declared.type && !input.type.empty()) {
        reading.problems.add(path + ".type", written.at,
                             "is " + input.type + ", but the component takes " + declared.type);
    }
    input.type = declared.type;
    if (input.mode.empty()) input.mode = declared.mode;
    return input;
}

void bind_inputs(const ComponentSpec& component, Fields& fields, Reading& reading, CommandJobSpec& spec) {
    std::vector<std::string> names;
    std::vector<InputSpec> bound;
    for (const PortSpec& declared : component.inputs) {
        names.push_back(declared.name);
        if (auto input = bind_input(declared, spec.inputs, fields, reading))
            bound.push_back(std::move(*input));
    }
    for (const InputSpec& given : spec.inputs) {
        if (std::find(names.begin(), names.end(), given.name) != names.end()) continue;
        reading.problems.add(fields.path_of("inputs") + "." + given.name, fields.position_of("inputs"),
                             "is not an input of the component" + suggestion(given.name, names));
    }
    spec.inputs = std::move(bound);
}

void bind_outputs(const ComponentSpec& component, Fields& fields, Reading& reading, CommandJobSpec& spec) {
    std::vector<std::string> names;
    std::vector<OutputSpec> bound;
    for (const PortSpec& port : component.outputs) {
        names.push_back(port.name);
        OutputSpec& output = bound.emplace_back();
        output.name = port.name;
        output.type = port.type;
        output.mode = port.mode;
        for (const OutputSpec& given : spec.outputs) {
            if (given.name != output.name) continue;
            if (!given.mode.empty()) output.mode = given.mode;
            output.path = given.path;
            output.asset_name = given.asset_name;
            output.asset_version = given.asset_version;
        }
    }
    for (const OutputSpec& given : spec.outputs) {
        if (std::find(names.begin(), names.end(), given.name) != names.end()) continue;
        reading.problems.add(fields.path_of("outputs") + "." + given.name, fields.position_of("outputs"),
                             "is not an output of the component" + suggestion(given.name, names));
    }
    spec.outputs = std::move(bound);
}

// What the job does not say itself it takes from the component.
void merge_component(ComponentSpec component, CommandJobSpec& spec) {
    if (spec.display_name.empty()) spec.display_name = component.display_name;
    if (spec.description.empty()) spec.description = component.description;
    spec.code = component.code;
    spec.code_local = component.code_local;
    const bool job_has_environment = !spec.environment.reference.empty() || !spec.environment.image.empty() ||
                                     !spec.environment.build_path.empty();
    if (!job_has_environment) spec.environment = std::move(component.environment);
    if (!spec.distribution) spec.distribution = component.distribution;
    if (component.resources) {
        if (!spec.resources) {
            spec.resources = component.resources;
        } else {
            if (!spec.resources->instance_count)
                spec.resources->instance_count = component.resources->instance_count;
            if (spec.resources->instance_type.empty())
                spec.resources->instance_type = component.resources->instance_type;
        }
    }
    spec.command = settle_optional_blocks(component.command, [&](const Reference& reference) {
        if (reference.scope != "inputs") return true;
        for (const InputSpec& input : spec.inputs) {
            if (input.name == reference.name) return true;
        }
        return false;
    });
}

}  // namespace

void apply_component(Fields& fields, Reading& reading, CommandJobSpec& spec) {
    for (const char* key : {"command", "code"}) {
        if (fields.has(key)) fields.problem(key, "cannot stand beside component, which brings its own");
    }
    reading.beyond_azure.push_back(
        "component: refused in a command job; put the component into a pipeline's step");
    const Document* value = fields.find("component");
    if (value == nullptr) return;
    if (value->is_string() && value->text.starts_with("azureml:")) {
        fields.problem("component", "registered components are not supported yet; name the component's file");
        return;
    }
    std::optional<ComponentSpec> component = load_component(fields, "component", reading);
    if (!component) return;
    if (component->kind != "command") {
        if (!component->kind.empty())
            fields.problem("component", "is of type " + component->kind +
                                            "; only a component of type command can stand in a command job");
        return;
    }
    if (!component->includes.empty())
        fields.problem("component",
                       "has additional_includes, which a command job cannot take; put the component into a "
                       "pipeline's step, or copy those files below code");
    bind_inputs(*component, fields, reading, spec);
    bind_outputs(*component, fields, reading, spec);
    spec.component = component->name.empty() && value->is_string() ? value->text : component->name;
    merge_component(std::move(*component), spec);
}

}  // namespace lavant::spec
