#include "core/spec/component.h"

#include <algorithm>

#include "base/text.h"
#include "core/spec/component_reading.h"
#include "core/spec/expression.h"
#include "core/spec/pipeline_reading.h"

namespace lavant::spec {
namespace {

const std::vector<std::string>& component_kinds() {
    static const std::vector<std::string> kinds = {"command", "parallel", "spark", "pipeline"};
    return kinds;
}

// The rule of the wire: what Python could call a function.
bool is_component_name(std::string_view name) {
    if (name.empty() || name.size() > 255 || name.front() < 'a' || name.front() > 'z') return false;
    return std::ranges::all_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// "commandComponent.schema.json" and "CommandComponent.json" both mean command.
std::string kind_of_schema(std::string_view schema) {
    const std::size_t slash = schema.rfind('/');
    const std::string file = to_lower(slash == std::string_view::npos ? schema : schema.substr(slash + 1));
    for (const std::string& kind : component_kinds()) {
        if (file.starts_with(kind + "component.")) return kind;
    }
    return "command";
}

IncludesSpec read_includes(Fields& fields, Reading& reading, const std::string& code,
                           const std::string& code_local) {
    constexpr const char* kKey = "additional_includes";
    IncludesSpec includes{fields.strings(kKey), {}, reading.folder};
    if (includes.empty()) return {};
    if (includes.written.size() > kIncludesMost)
        fields.problem(kKey, "has more than " + std::to_string(kIncludesMost) + " entries; name a folder");
    if (!code.empty() && code_local.empty())
        fields.problem(kKey, "needs code of this machine, and '" + code + "' is elsewhere");
    for (std::string path : includes.written) {
        while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        const std::string local = join_path(reading.folder, without_file_scheme(path));
        const bool is_there = !path.empty() && reading.loader.kind_of(local) != PathKind::Absent;
        constexpr std::string_view kArchive = ".zip";
        const std::string folder =
            local.ends_with(kArchive) ? local.substr(0, local.size() - kArchive.size()) : "";
        if (!is_there && !folder.empty() && reading.loader.kind_of(folder) == PathKind::Folder) {
            fields.problem(kKey, "'" + path +
                                     "' would be an archive of a folder, which is not supported; name " +
                                     "the folder itself");
        } else if (!is_there) {
            fields.problem(kKey, "there is no file or folder '" + path + "' (looked for " + local + ")");
        }
        includes.local.push_back(local);
    }
    return includes;
}

void read_command_part(Fields& fields, Reading& reading, ComponentSpec& component) {
    read_code(fields, reading, component.code, component.code_local);
    component.command = fields.string("command");
    if (!fields.has("command")) fields.problem("command", "is missing");
    component.environment = read_environment(fields, reading);
    if (!fields.has("environment")) fields.problem("environment", "is missing");
    component.resources = read_resources(fields, reading);
    component.distribution = read_distribution(fields);
    component.includes = read_includes(fields, reading, component.code, component.code_local);
    check_own_expressions(component, fields, "command", component.command);
}

void read_parallel_part(Fields& fields, Reading& reading, ComponentSpec& component) {
    component.parallel = read_parallel(fields, reading);
    component.resources = read_resources(fields, reading);
    if (!component.parallel->task) {
        if (!fields.has("task")) fields.problem("task", "is missing; say what runs on each mini batch");
        return;
    }
    check_own_expressions(component, fields, "input_data", component.parallel->input_data);
    check_own_expressions(component, fields, "task", component.parallel->task->program_arguments);
    check_own_expressions(component, fields, "task", component.parallel->task->append_row_to);
}

void read_spark_part(Fields& fields, Reading& reading, ComponentSpec& component) {
    component.spark = read_spark(fields, reading);
    check_own_expressions(component, fields, "args", component.spark->args);
    component.includes = read_includes(fields, reading, component.spark->code, component.spark->code_local);
}

}  // namespace

void check_own_expressions(const ComponentSpec& component, Fields& fields, std::string_view key,
                           const std::string& text) {
    if (const auto open = find_unclosed(text)) fields.problem(key, "'" + *open + "' is never closed");
    for (const Reference& reference : find_references(text)) {
        if (reference.scope == "outputs") {
            if (find_port(component.outputs, reference.name) == nullptr)
                fields.problem(key, reference.written() + " names no output of this component");
            continue;
        }
        if (reference.scope != "inputs") continue;  // Seen by the check of the whole job.
        const PortSpec* declared = find_port(component.inputs, reference.name);
        if (declared == nullptr) {
            std::vector<std::string> names;
            for (const PortSpec& input : component.inputs) names.push_back(input.name);
            fields.problem(key, reference.written() + " names no input of this component" +
                                    suggestion(reference.name, names));
        } else if (declared->is_optional() && !declared->value && !reference.in_optional &&
                   component.kind == "command") {
            fields.problem(key, reference.written() + " is optional, so it must stand inside $[[ ]]");
        }
    }
}

ComponentSpec read_component(const Document& document, const std::string& path, Reading& reading) {
    ComponentSpec component;
    Fields fields(document, path, reading.problems);
    if (!document.is_map()) return component;
    component.schema = fields.string("$schema");
    component.kind = kind_of_schema(component.schema);
    if (fields.has("type")) component.kind = fields.choice("type", component_kinds());
    if (component.kind.empty()) return component;
    component.name = fields.string("name");
    component.version = fields.text("version");
    component.display_name = fields.string("display_name");
    component.description = fields.string("description");
    component.tags = fields.string_map("tags");
    component.properties = fields.string_map("properties");
    component.is_deterministic = fields.boolean("is_deterministic");
    component.inputs = read_input_ports(fields, reading);
    component.outputs = read_output_ports(fields, reading);
    if (component.kind == "command") read_command_part(fields, reading, component);
    if (component.kind == "parallel") read_parallel_part(fields, reading, component);
    if (component.kind == "spark") read_spark_part(fields, reading, component);
    if (component.kind == "pipeline") read_pipeline_part(fields, reading, component);
    fields.ignore({"creation_context", "id"});
    fields.finish();
    return component;
}

std::optional<ComponentSpec> load_component(Fields& fields, std::string_view key, Reading& reading) {
    const Document* value = fields.find(key);
    if (value == nullptr) return std::nullopt;
    const std::string path = fields.path_of(key);
    if (value->is_map()) {
        ComponentSpec component = read_component(*value, path, reading);
        component.is_inline = true;
        return component;
    }
    if (!value->is_string()) {
        fields.problem(key, "must be a path or a mapping, but is " + std::string(name_of(value->kind)));
        return std::nullopt;
    }
    const std::string file = join_path(reading.folder, without_file_scheme(value->text));
    Visits& visits = *reading.visits;
    if (std::ranges::find(visits.open, file) != visits.open.end()) {
        fields.problem(key, "'" + value->text + "' names itself again through its own steps");
        return std::nullopt;
    }
    if (visits.open.size() >= kComponentDepthMost || visits.files >= kComponentFilesMost) {
        fields.problem(key, "component files name component files more than " +
                                std::to_string(kComponentDepthMost) + " deep, or there are more than " +
                                std::to_string(kComponentFilesMost));
        return std::nullopt;
    }
    ++visits.files;
    auto document = reading.loader.load(file);
    if (!document) {
        fields.problem(key, document.error().message);
        return std::nullopt;
    }
    const std::string outer_file = reading.problems.file();
    reading.problems.set_file(value->text);
    visits.open.push_back(file);
    Reading inside{reading.loader, parent_folder(file), reading.problems, reading.beyond_azure,
                   reading.visits};
    ComponentSpec component = read_component(*document, path, inside);
    visits.open.pop_back();
    reading.problems.set_file(outer_file);
    return component;
}

Result<ComponentSpec> parse_component(const Document& document, const ComponentLoader& loader) {
    Problems problems;
    std::vector<std::string> beyond_azure;
    Reading reading{loader, loader.folder, problems, beyond_azure};
    ComponentSpec component = read_component(document, "", reading);
    Fields fields(document, "", problems);
    // Inside a job the name of a component means nothing, so the rule is for a component by itself.
    if (document.is_map() && !fields.has("name"))
        fields.problem("name", "is missing; give the component one");
    if (!component.name.empty() && !is_component_name(component.name))
        fields.problem("name",
                       "a component's name begins with a small letter and has only small letters, digits and "
                       "'_', at most 255");
    if (!problems.empty()) return fail(problems.to_error("the component"));
    component.beyond_azure = std::move(beyond_azure);
    return component;
}

}  // namespace lavant::spec
