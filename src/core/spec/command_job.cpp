#include "core/spec/command_job.h"

#include <algorithm>

#include "base/text.h"
#include "core/model/size.h"
#include "core/spec/expression.h"
#include "core/spec/reading.h"

namespace lavant::spec {

namespace {

void read_own_command(Fields& fields, Reading& reading, CommandJobSpec& spec) {
    read_code(fields, reading, spec.code, spec.code_local);
    spec.command = fields.string("command");
    if (!fields.has("command")) {
        if (fields.map().is_map())
            fields.problem("command", "is missing; say what to run, or name a component");
    } else if (trim(spec.command).empty() && fields.map().find("command")->is_string()) {
        fields.problem("command", "is empty; say what to run");
    }
    // On the submitter's own machine its own interpreter is meant.
    const Document* compute = fields.map().is_map() ? fields.map().find("compute") : nullptr;
    const bool local = compute != nullptr && (compute->text == "local" || compute->text == "azureml:local");
    if (!fields.has("environment") && fields.map().is_map() && !local) {
        fields.problem("environment", "is missing; write azureml:NAME@latest, {image: IMAGE} or host");
    }
}

// A VM size matters only where we choose the machine: an attached compute has instance types of its own. What
// is not Azure's may be a size of the site, which the server knows.
void check_size(const CommandJobSpec& spec, Fields& fields) {
    if (!spec.resources || spec.resources->instance_type.empty()) return;
    if (!spec.compute.empty() && spec.compute != "serverless" && spec.compute != "local") return;
    const std::string& type = spec.resources->instance_type;
    if (!is_azure_size_name(type) || find_size(type)) return;
    const Document* resources = fields.map().find("resources");
    const Document* at = resources != nullptr ? resources->find("instance_type") : nullptr;
    fields.problems().add("resources.instance_type", at != nullptr ? at->at : Position{}, size_problem(type));
}

void check_reference(const Reference& reference, const CommandJobSpec& spec, Position at,
                     Problems& problems) {
    std::vector<std::string> names;
    if (reference.scope == "inputs") {
        for (const InputSpec& input : spec.inputs) names.push_back(input.name);
    } else if (reference.scope == "outputs") {
        for (const OutputSpec& output : spec.outputs) names.push_back(output.name);
    } else if ((reference.scope == "name" || reference.scope == "default_datastore") &&
               reference.name.empty()) {
        return;
    } else {
        problems.add("command", at,
                     reference.written() + " is not an expression of a command job" +
                         suggestion(reference.scope, {"inputs", "outputs", "name", "default_datastore"}));
        return;
    }
    if (std::find(names.begin(), names.end(), reference.name) != names.end()) return;
    if (reference.in_optional && reference.scope == "inputs") return;
    const std::string what = reference.scope == "inputs" ? "input" : "output";
    problems.add("command", at,
                 reference.written() + " names no " + what + " of this job" +
                     (names.empty() ? "; it has none" : suggestion(reference.name, names)));
}

}  // namespace

void check_command(const CommandJobSpec& spec, Position at, Problems& problems) {
    if (const auto open = find_unclosed(spec.command))
        problems.add("command", at, "'" + *open + "' is never closed");
    for (const Reference& reference : find_references(spec.command))
        check_reference(reference, spec, at, problems);
}

Result<CommandJobSpec> parse_command_job(const Document& document, const ComponentLoader& loader) {
    CommandJobSpec spec;
    Problems problems;
    Reading reading{loader, loader.folder, problems, spec.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, spec, "command");
    if (auto retry = parse_retry(spec.properties)) spec.retry = std::move(*retry);
    spec.environment_variables = read_variables(fields);
    spec.inputs = read_inputs(fields, reading);
    spec.outputs = read_outputs(fields, reading);
    spec.environment = read_environment(fields, reading);
    spec.resources = read_resources(fields, reading);
    spec.queue = read_queue(fields, reading);
    spec.distribution = read_distribution(fields);
    spec.timeout_seconds = read_timeout(fields);
    spec.identity = read_identity(fields);
    spec.services = read_services(fields, reading);
    if (fields.has("component")) {
        apply_component(fields, reading, spec);
    } else {
        read_own_command(fields, reading, spec);
        check_command(spec, fields.position_of("command"), problems);
    }
    check_size(spec, fields);
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return spec;
}

}  // namespace lavant::spec
