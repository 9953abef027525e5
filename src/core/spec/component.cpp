#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "core/spec/expression.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

struct Declared {
    std::string name;
    std::string type;
    std::string mode;
    bool optional = false;
    std::optional<Document> value;  // the default
    std::optional<double> least;
    std::optional<double> most;
    std::vector<std::string> one_of;
    bool is_literal() const {
        return std::find(literal_types().begin(), literal_types().end(), type) != literal_types().end();
    }
};

struct Component {
    CommandJobSpec base;  // code, command, environment, resources, distribution, outputs
    std::vector<Declared> inputs;
    std::string file;  // as written, empty if inline
};

std::vector<std::string> port_types() {
    std::vector<std::string> types = asset_types();
    types.emplace_back("path");  // an old word for uri_folder
    return types;
}

std::optional<double> read_bound(Fields& fields, std::string_view key) {
    const Document* value = fields.find(key);
    if (value == nullptr) return std::nullopt;
    char* end = nullptr;
    const double bound = std::strtod(value->text.c_str(), &end);
    if (value->is_scalar() && !value->text.empty() && *end == '\0') return bound;
    fields.problem(key, "must be a number");
    return std::nullopt;
}

// "" if `text` is a fine value for the input, else what is wrong with it.
std::string check_value(const Declared& input, const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0';
    if (input.type == "integer" && !parse_integer(text)) return "must be an integer, not '" + text + "'";
    if (input.type == "number" && !is_number) return "must be a number, not '" + text + "'";
    if (input.type == "boolean" && !equals_ignoring_case(text, "true") &&
        !equals_ignoring_case(text, "false")) {
        return "must be true or false, not '" + text + "'";
    }
    if (input.least && is_number && number < *input.least)
        return "must be at least " + python_float(*input.least);
    if (input.most && is_number && number > *input.most)
        return "must be at most " + python_float(*input.most);
    if (!input.one_of.empty() &&
        std::find(input.one_of.begin(), input.one_of.end(), text) == input.one_of.end()) {
        return "must be " + listed(input.one_of) + ", not '" + text + "'";
    }
    return "";
}

Declared read_declared(const Document::Entry& entry, const std::string& path, Reading& reading) {
    Declared input;
    input.name = entry.key;
    Fields fields(entry.value, path, reading.problems);
    std::vector<std::string> types = port_types();
    types.insert(types.end(), literal_types().begin(), literal_types().end());
    input.type = fields.choice("type", types);
    if (entry.value.is_map() && !fields.has("type"))
        fields.problem("type", "is missing; it must be " + listed(types));
    if (input.type == "path") input.type = "uri_folder";
    input.optional = fields.boolean("optional").value_or(false);
    if (const Document* value = fields.find("default")) input.value = *value;
    input.least = read_bound(fields, "min");
    input.most = read_bound(fields, "max");
    if (const Document* one_of = fields.find("enum")) {
        for (const Document& item : one_of->items) input.one_of.push_back(item.printed());
        if (!one_of->is_list()) fields.problem("enum", "must be a list");
    }
    input.mode = fields.choice("mode", input_modes());
    fields.ignore({"description"});
    fields.finish();
    if (input.value && input.is_literal()) {
        const std::string wrong = check_value(input, input.value->printed());
        if (!wrong.empty()) fields.problem("default", wrong);
    }
    return input;
}

std::vector<OutputSpec> read_ports(Fields& fields, Reading& reading) {
    std::vector<OutputSpec> outputs;
    const Document* map = fields.find("outputs");
    if (map == nullptr) return outputs;
    std::vector<std::string> types = port_types();
    types.insert(types.end(), literal_types().begin(), literal_types().end());
    for (const Document::Entry& entry : map->entries) {
        Fields parts(entry.value, fields.path_of("outputs") + "." + entry.key, reading.problems);
        OutputSpec output;
        output.name = entry.key;
        output.type = parts.choice("type", types);
        if (output.type == "path") output.type = "uri_folder";
        output.mode = parts.choice("mode", output_modes());
        if (output.mode == "mount") output.mode = "rw_mount";
        parts.ignore({"description", "early_available", "is_control"});
        parts.finish();
        outputs.push_back(std::move(output));
    }
    return outputs;
}

// Every input and output the command mentions must be declared; an optional one stands inside $[[ ]].
void check_component_command(const Component& component, Fields& fields) {
    if (const auto open = find_unclosed(component.base.command)) {
        fields.problem("command", "'" + *open + "' is never closed");
    }
    for (const Reference& reference : find_references(component.base.command)) {
        if (reference.scope == "outputs") {
            bool known = false;
            for (const OutputSpec& output : component.base.outputs)
                known = known || output.name == reference.name;
            if (!known) fields.problem("command", reference.written() + " names no output of this component");
            continue;
        }
        if (reference.scope != "inputs") continue;  // Seen by the check of the whole job.
        const Declared* declared = nullptr;
        std::vector<std::string> names;
        for (const Declared& input : component.inputs) {
            names.push_back(input.name);
            if (input.name == reference.name) declared = &input;
        }
        if (declared == nullptr) {
            fields.problem("command", reference.written() + " names no input of this component" +
                                          suggestion(reference.name, names));
        } else if (declared->optional && !declared->value && !reference.in_optional) {
            fields.problem("command", reference.written() + " is optional, so it must stand inside $[[ ]]");
        }
    }
}

Component read_component(const Document& document, const std::string& path, Reading& reading) {
    Component component;
    Fields fields(document, path, reading.problems);
    const std::string type = fields.string("type");
    if (!type.empty() && type != "command") {
        fields.problem("type",
                       "is '" + type + "'; only a component of type command can stand in a command job");
        return component;
    }
    component.base.component = fields.string("name");
    component.base.display_name = fields.string("display_name");
    component.base.description = fields.string("description");
    fields.string_map("tags");
    if (const Document* inputs = fields.find("inputs")) {
        for (const Document::Entry& entry : inputs->entries) {
            component.inputs.push_back(
                read_declared(entry, fields.path_of("inputs") + "." + entry.key, reading));
        }
    }
    component.base.outputs = read_ports(fields, reading);
    read_code(fields, reading, component.base.code, component.base.code_local);
    component.base.command = fields.string("command");
    if (document.is_map() && !fields.has("command")) fields.problem("command", "is missing");
    component.base.environment = read_environment(fields, reading);
    if (document.is_map() && !fields.has("environment")) fields.problem("environment", "is missing");
    component.base.resources = read_resources(fields, reading);
    component.base.distribution = read_distribution(fields);
    fields.strings("additional_includes");
    fields.ignore({"$schema", "version", "is_deterministic", "properties", "creation_context", "id"});
    fields.finish();
    check_component_command(component, fields);
    return component;
}

// The declared input with the job's value, or its default; nothing if it is optional and absent.
std::optional<InputSpec> bind_input(const Declared& declared, std::vector<InputSpec>& given, Fields& fields,
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
        if (!declared.optional) {
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

void bind_inputs(const Component& component, Fields& fields, Reading& reading, CommandJobSpec& spec) {
    std::vector<std::string> names;
    std::vector<InputSpec> bound;
    for (const Declared& declared : component.inputs) {
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

void bind_outputs(const Component& component, Fields& fields, Reading& reading, CommandJobSpec& spec) {
    std::vector<std::string> names;
    std::vector<OutputSpec> bound = component.base.outputs;
    for (OutputSpec& output : bound) {
        names.push_back(output.name);
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
void merge_component(Component component, CommandJobSpec& spec) {
    CommandJobSpec& base = component.base;
    if (spec.display_name.empty()) spec.display_name = base.display_name;
    if (spec.description.empty()) spec.description = base.description;
    spec.component = base.component.empty() ? component.file : base.component;
    spec.code = base.code;
    spec.code_local = base.code_local;
    const bool job_has_environment = !spec.environment.reference.empty() || !spec.environment.image.empty() ||
                                     !spec.environment.build_path.empty();
    if (!job_has_environment) spec.environment = std::move(base.environment);
    if (!spec.distribution) spec.distribution = base.distribution;
    if (base.resources) {
        if (!spec.resources) {
            spec.resources = base.resources;
        } else {
            if (!spec.resources->instance_count)
                spec.resources->instance_count = base.resources->instance_count;
            if (spec.resources->instance_type.empty())
                spec.resources->instance_type = base.resources->instance_type;
        }
    }
    spec.command = settle_optional_blocks(base.command, [&](const Reference& reference) {
        if (reference.scope != "inputs") return true;
        for (const InputSpec& input : spec.inputs) {
            if (input.name == reference.name) return true;
        }
        return false;
    });
}

std::optional<Component> load_component(Fields& fields, Reading& reading) {
    const Document* value = fields.find("component");
    if (value == nullptr) return std::nullopt;
    const std::string path = fields.path_of("component");
    if (value->is_map()) return read_component(*value, path, reading);
    if (!value->is_string()) {
        fields.problem("component",
                       "must be a path or a mapping, but is " + std::string(name_of(value->kind)));
        return std::nullopt;
    }
    if (value->text.starts_with("azureml:")) {
        fields.problem("component", "registered components are not supported yet; name the component's file");
        return std::nullopt;
    }
    const std::string file = join_path(reading.folder, without_file_scheme(value->text));
    auto document = reading.loader.load(file);
    if (!document) {
        fields.problem("component", document.error().message);
        return std::nullopt;
    }
    const std::string outer_file = reading.problems.file();
    reading.problems.set_file(value->text);
    Reading inside{reading.loader, parent_folder(file), reading.problems, reading.beyond_azure};
    Component component = read_component(*document, path, inside);
    reading.problems.set_file(outer_file);
    component.file = value->text;
    if (document->find("additional_includes") != nullptr) {
        fields.problem("component",
                       "its additional_includes are not supported yet; copy those files below code");
    }
    return component;
}

}  // namespace

void apply_component(Fields& fields, Reading& reading, CommandJobSpec& spec) {
    for (const char* key : {"command", "code"}) {
        if (fields.has(key)) fields.problem(key, "cannot stand beside component, which brings its own");
    }
    reading.beyond_azure.push_back(
        "component: refused in a command job; put the component into a pipeline's step");
    std::optional<Component> component = load_component(fields, reading);
    if (!component) return;
    bind_inputs(*component, fields, reading, spec);
    bind_outputs(*component, fields, reading, spec);
    merge_component(std::move(*component), spec);
}

Result<void> check_command_component(const Document& document, const ComponentLoader& loader) {
    Problems problems;
    std::vector<std::string> beyond_azure;
    Reading reading{loader, loader.folder, problems, beyond_azure};
    read_component(document, "", reading);
    if (!problems.empty()) return fail(problems.to_error("the component"));
    return {};
}

}  // namespace lavant::spec
