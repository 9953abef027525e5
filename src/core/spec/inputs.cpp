#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "core/spec/output_path.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

bool is_literal_type(const std::string& type) {
    const auto& types = literal_types();
    return std::find(types.begin(), types.end(), type) != types.end();
}

std::string literal_type_of(Document::Kind kind) {
    switch (kind) {
        case Document::Kind::Boolean:
            return "boolean";
        case Document::Kind::Integer:
            return "integer";
        case Document::Kind::Float:
            return "number";
        case Document::Kind::Null:
        case Document::Kind::String:
        case Document::Kind::List:
        case Document::Kind::Map:
            break;
    }
    return "string";
}

InputSpec read_literal(const Document& value, const std::string& path, Reading& reading) {
    InputSpec input;
    input.type = "literal";
    input.value_type = literal_type_of(value.kind);
    if (!value.is_scalar() || value.is_null()) {
        reading.problems.add(
            path, value.at,
            "must be a string, a number or a boolean, but is " + std::string(name_of(value.kind)));
        return input;
    }
    if (value.kind == Document::Kind::Float && !std::isfinite(value.number)) {
        reading.problems.add(path, value.at, "must be a finite number; put it in quotes to pass the word");
    }
    input.value = value.printed();
    return input;
}

// {type: integer, value: 3}: a component's way of writing, welcome in a job too.
InputSpec read_typed_literal(Fields& fields, const std::string& type, Reading& reading) {
    const Document* value = fields.find("value");
    if (value == nullptr) value = fields.find("default");
    if (value == nullptr) {
        fields.problem("value", "is missing; a job's input of type " + type + " needs one");
        return {};
    }
    InputSpec input = read_literal(*value, fields.path_of("value"), reading);
    const bool fits =
        type == "string" || type == input.value_type || (type == "number" && input.value_type == "integer");
    if (!fits && !input.value.empty()) fields.problem("value", "must be of type " + type);
    input.value_type = type;
    fields.ignore({"description", "optional", "default", "min", "max", "enum"});
    reading.beyond_azure.push_back(
        refused_there(fields.path_of("type"), "a literal input has no type; write the value alone"));
    return input;
}

std::vector<std::string> modes_for(const std::string& type) {
    if (type == "mltable") return input_modes();
    return {"ro_mount", "download", "direct"};
}

void check_kind(const InputSpec& input, const Document& at, const std::string& path, Reading& reading) {
    if (input.local_path.empty()) return;
    const PathKind kind = reading.loader.kind_of(input.local_path);
    if (kind == PathKind::Folder && input.type == "uri_file")
        reading.problems.add(path, at.at, "'" + input.path + "' is a folder; its type is uri_folder");
    if (kind == PathKind::File && input.type == "uri_folder")
        reading.problems.add(path, at.at, "'" + input.path + "' is a file; its type is uri_file");
}

// What a step gets from its pipeline travels as a literal, with the mode beside it.
void bind(InputSpec& input) {
    input.value_type = std::exchange(input.type, "literal");
    input.value = std::exchange(input.path, "");
}

InputSpec read_mapping(const Document& value, const std::string& path, Reading& reading, InputPlace place) {
    Fields fields(value, path, reading.problems);
    std::vector<std::string> types = asset_types();
    types.insert(types.end(), literal_types().begin(), literal_types().end());
    const bool typed = fields.has("type");
    const std::string type = fields.choice("type", types);
    if (typed && type.empty()) return {};
    InputSpec input;
    if (is_literal_type(type)) {
        input = read_typed_literal(fields, type, reading);
    } else if (!typed && fields.has("value")) {
        const Document* literal = fields.find("value");
        if (literal != nullptr) input = read_literal(*literal, fields.path_of("value"), reading);
    } else {
        const Document* at = fields.find("path");
        if (at != nullptr) input = read_path(*at, fields.path_of("path"), reading);
        if (at == nullptr && !fields.has("path") && place != InputPlace::Pipeline)
            fields.problem("path", "is missing; say where the data is");
        input.type = type.empty() ? "uri_folder" : type;
        if (at != nullptr && typed) check_kind(input, *at, fields.path_of("path"), reading);
        input.mode = fields.choice("mode", modes_for(input.type));
        input.datastore = fields.string("datastore");
        fields.ignore({"description", "path_on_compute"});
        if (place == InputPlace::Step && input.path.starts_with("${{parent.")) bind(input);
    }
    fields.finish();
    return input;
}

OutputSpec read_output(const Document& value, const std::string& path, Reading& reading, InputPlace place) {
    OutputSpec output;
    if (value.is_null()) return output;
    if (place == InputPlace::Step && value.is_string() && value.text.starts_with("${{parent.")) {
        output.binding = value.text;
        return output;
    }
    output.has_settings = true;
    Fields fields(value, path, reading.problems);
    if (fields.has("type")) output.type = fields.choice("type", asset_types());
    output.mode = fields.choice("mode", output_modes());
    if (output.mode == "mount") output.mode = "rw_mount";
    output.path = fields.string("path");
    if (place == InputPlace::Step && output.path.starts_with("${{parent."))
        output.binding = std::exchange(output.path, "");
    output.asset_name = fields.string("name");
    output.asset_version = fields.text("version");
    if (!output.asset_version.empty() && output.asset_name.empty()) {
        fields.problem("version", "needs a name; give both to register the output, or neither");
    }
    if (!output.path.empty() && !is_remote(output.path) && output.path.find("${{") == std::string::npos) {
        fields.problem("path",
                       "must be a place the job can write to, like "
                       "azureml://datastores/workspaceblobstore/paths/…; a local path is not");
    }
    if (const auto problem = find_output_problem(output.path); problem && output.mode != "direct")
        fields.problem("path", "is no place for an output: " + *problem);
    fields.ignore({"description"});
    fields.finish();
    return output;
}

template <class Each>
void each_named(Fields& fields, std::string_view section, Reading& reading, Each each) {
    const Document* map = fields.find(section);
    if (map == nullptr) return;
    if (!map->is_map()) {
        fields.problem(section, "must be a mapping of names, but is " + std::string(name_of(map->kind)));
        return;
    }
    for (const Document::Entry& entry : map->entries) {
        const std::string path = fields.path_of(section) + "." + entry.key;
        if (!is_valid_name(entry.key)) {
            reading.problems.add(
                path, entry.key_at,
                "is not a usable name; use letters, digits, '_' and '-', and begin with a letter");
        }
        each(entry, path);
    }
}

}  // namespace

const std::vector<std::string>& asset_types() {
    static const std::vector<std::string> types = {"uri_file",     "uri_folder",   "mltable",
                                                   "custom_model", "mlflow_model", "triton_model"};
    return types;
}

const std::vector<std::string>& literal_types() {
    static const std::vector<std::string> types = {"string", "integer", "number", "boolean"};
    return types;
}

const std::vector<std::string>& input_modes() {
    static const std::vector<std::string> modes = {"ro_mount", "download", "direct", "eval_mount",
                                                   "eval_download"};
    return modes;
}

const std::vector<std::string>& output_modes() {
    static const std::vector<std::string> modes = {"rw_mount", "upload", "direct", "mount"};
    return modes;
}

bool is_valid_name(std::string_view name) {
    if (name.empty() || name.size() > 255) return false;
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (!is_letter(name.front())) return false;
    for (char c : name) {
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '-') return false;
    }
    return true;
}

InputSpec read_path(const Document& value, const std::string& path, Reading& reading) {
    InputSpec input;
    input.type = "uri_folder";
    if (!value.is_string()) {
        reading.problems.add(path, value.at, "must be a string, but is " + std::string(name_of(value.kind)));
        return input;
    }
    input.path = value.text;
    if (trim(input.path).empty()) {
        reading.problems.add(path, value.at, "is empty; say where the data is");
        return input;
    }
    if (is_remote(input.path) || input.path.find("${{") != std::string::npos) return input;
    input.local_path = join_path(reading.folder, without_file_scheme(input.path));
    if (reading.loader.kind_of(input.local_path) == PathKind::Absent) {
        reading.problems.add(
            path, value.at,
            "there is no file or folder '" + input.path + "' (looked for " + input.local_path + ")");
    }
    return input;
}

std::vector<InputSpec> read_inputs(Fields& fields, Reading& reading, InputPlace place) {
    std::vector<InputSpec> inputs;
    each_named(fields, "inputs", reading, [&](const Document::Entry& entry, const std::string& path) {
        InputSpec input = entry.value.is_map() ? read_mapping(entry.value, path, reading, place)
                                               : read_literal(entry.value, path, reading);
        input.name = entry.key;
        inputs.push_back(std::move(input));
    });
    return inputs;
}

std::vector<OutputSpec> read_outputs(Fields& fields, Reading& reading, InputPlace place) {
    std::vector<OutputSpec> outputs;
    each_named(fields, "outputs", reading, [&](const Document::Entry& entry, const std::string& path) {
        OutputSpec output = read_output(entry.value, path, reading, place);
        output.name = entry.key;
        outputs.push_back(std::move(output));
    });
    return outputs;
}

}  // namespace lavant::spec
