// What jobs of every kind say about themselves.

#include "base/limits.h"
#include "base/text.h"
#include "core/spec/command_job.h"
#include "core/spec/reading.h"

namespace lavant::spec {

const std::string kJobNameRule =
    "a name begins with a letter or digit and has only letters, digits, '_' and '-', at most " +
    std::to_string(limits::kJobNameChars);

namespace {

void read_properties(Fields& fields, JobHead& head) {
    head.properties = fields.string_map("properties");
    const Document* map = fields.map().find("properties");
    for (const FieldProblem& problem : check_lavant_properties(head.properties)) {
        const std::string key = problem.path.substr(std::string_view("properties.").size());
        const Document* value = map->find(key);
        fields.problems().add(problem.path, value != nullptr ? value->at : map->at, problem.message);
    }
}

}  // namespace

bool is_job_name(std::string_view name) {
    if (name.size() > limits::kJobNameChars) return false;
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    if (name.empty() || !is_word(name.front())) return false;
    for (char c : name) {
        if (!is_word(c) && c != '_' && c != '-') return false;
    }
    return true;
}

std::string read_compute(Fields& fields, std::string_view key) {
    const std::string compute = fields.string(key);
    if (compute.empty()) return "";
    std::string name = compute.starts_with("azureml:") ? compute.substr(8) : compute;
    if (trim(name).empty() || name.find_first_of(" \t\n") != std::string::npos) {
        fields.problem(
            key,
            "'" + compute + "' is not the name of a compute; write azureml:NAME, or nothing for serverless");
    }
    return name;
}

std::map<std::string, std::string> read_variables(Fields& fields) {
    std::map<std::string, std::string> variables;
    const Document* map = fields.find("environment_variables");
    if (map == nullptr) return variables;
    if (!map->is_map()) {
        fields.problem("environment_variables",
                       "must be a mapping, but is " + std::string(name_of(map->kind)));
        return variables;
    }
    for (const Document::Entry& entry : map->entries) {
        const std::string path = fields.path_of("environment_variables") + "." + entry.key;
        if (entry.key.empty() || entry.key.find('=') != std::string::npos) {
            fields.problems().add(path, entry.key_at, "is not a usable name of a variable");
        } else if (!entry.value.is_scalar()) {
            fields.problems().add(path, entry.value.at,
                                  "must be a string, but is " + std::string(name_of(entry.value.kind)));
        } else {
            variables[entry.key] = entry.value.is_null() ? "" : entry.value.printed();
        }
    }
    return variables;
}

void read_head(Fields& fields, JobHead& head, std::string_view type) {
    fields.ignore({"$schema"});
    const std::string written = fields.string("type");
    if (!written.empty() && written != type)
        fields.problem("type", "is '" + written + "', but a " + std::string(type) + " job is wanted here");
    head.name = fields.string("name");
    if (fields.has("name") && !is_job_name(head.name)) fields.problem("name", kJobNameRule);
    head.display_name = fields.string("display_name");
    head.experiment_name = fields.string("experiment_name");
    head.description = fields.string("description");
    head.parent_job_name = fields.string("parent_job_name");
    head.tags = fields.string_map("tags");
    // What the service reports about a job, so it may stand in a file that came from `job show`.
    fields.ignore({"id", "status", "creation_context", "log_files", "parameters", "resourceGroup"});
    read_properties(fields, head);
    head.compute = read_compute(fields);
}

}  // namespace lavant::spec
