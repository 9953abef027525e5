#include <algorithm>

#include "base/text.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

bool has_scheme(std::string_view path) {
    const std::size_t colon = path.find(':');
    if (colon == std::string_view::npos || colon < 2) return false;  // "C:\x" is a local path
    for (char c : path.substr(0, colon)) {
        const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '+' || c == '-' || c == '.';
        if (!fine) return false;
    }
    return true;
}

void read_conda(Fields& fields, Reading& reading, EnvironmentSpec& environment) {
    const Document* conda = fields.find("conda_file");
    if (conda == nullptr) return;
    if (conda->is_map()) {
        environment.conda = *conda;
        return;
    }
    if (!conda->is_string()) {
        fields.problem("conda_file",
                       "must be a path or a mapping, but is " + std::string(name_of(conda->kind)));
        return;
    }
    environment.conda_file = join_path(reading.folder, without_file_scheme(conda->text));
    if (reading.loader.kind_of(environment.conda_file) != PathKind::File) {
        fields.problem("conda_file",
                       "there is no file '" + conda->text + "' (looked for " + environment.conda_file + ")");
        return;
    }
    auto text = reading.loader.read_text(environment.conda_file);
    if (!text) {
        fields.problem("conda_file", text.error().message);
        return;
    }
    environment.conda_text = std::move(*text);
}

void read_build(Fields& fields, Reading& reading, EnvironmentSpec& environment) {
    const Document* build = fields.find("build");
    if (build == nullptr) return;
    Fields parts(*build, fields.path_of("build"), reading.problems);
    const std::string path = parts.string("path");
    environment.dockerfile_path = parts.string("dockerfile_path");
    parts.finish();
    if (path.empty()) {
        if (build->is_map() && !parts.has("path")) {
            parts.problem("path", "is missing; name the folder of the Dockerfile");
        }
        return;
    }
    environment.build_path = is_remote(path) ? path : join_path(reading.folder, without_file_scheme(path));
    if (!is_remote(path) && reading.loader.kind_of(environment.build_path) != PathKind::Folder) {
        parts.problem("path",
                      "there is no folder '" + path + "' (looked for " + environment.build_path + ")");
    }
}

EnvironmentSpec read_definition(const Document& map, const std::string& path, Reading& reading) {
    EnvironmentSpec environment;
    Fields fields(map, path, reading.problems);
    environment.name = fields.string("name");
    environment.version = fields.text("version");
    environment.description = fields.string("description");
    environment.tags = fields.string_map("tags");
    environment.image = fields.string("image");
    environment.os_type = fields.choice("os_type", {"linux", "windows"});
    read_conda(fields, reading, environment);
    read_build(fields, reading, environment);
    fields.ignore(
        {"$schema", "properties", "inference_config", "datastore", "id", "creation_context", "type"});
    fields.finish();
    if (!map.is_map()) return environment;
    const bool has_image = fields.has("image");
    const bool has_build = fields.has("build");
    if (has_image && has_build) fields.problem("build", "cannot stand beside image; keep one of the two");
    if (!has_image && !has_build) {
        reading.problems.add(path, map.at, "needs an image or a build folder, like {image: python:3.12}");
    }
    return environment;
}

EnvironmentSpec read_file(const Document& value, const std::string& path, Reading& reading) {
    const std::string file = join_path(reading.folder, without_file_scheme(value.text));
    auto document = reading.loader.load(file);
    if (!document) {
        reading.problems.add(path, value.at, document.error().message);
        return {};
    }
    const std::string outer_file = reading.problems.file();
    reading.problems.set_file(value.text);
    Reading inside{reading.loader, parent_folder(file), reading.problems, reading.beyond_azure,
                   reading.visits};
    EnvironmentSpec environment = read_definition(*document, path, inside);
    reading.problems.set_file(outer_file);
    environment.name.clear();  // As every environment that a job defines: it stays anonymous.
    environment.version.clear();
    return environment;
}

EnvironmentSpec read_reference(const Document& value, const std::string& path, Reading& reading) {
    EnvironmentSpec environment;
    const std::string& text = value.text;
    if (text.starts_with("azureml://")) {
        environment.reference = text;
        const auto parts = split(std::string_view(text).substr(10), '/');
        const bool fine = parts.size() >= 4 && parts[0] == "registries" && parts[2] == "environments";
        if (!fine) {
            reading.problems.add(
                path, value.at,
                "must look like azureml://registries/NAME/environments/NAME/versions/VERSION");
        }
        return environment;
    }
    environment.reference = text.substr(std::string_view("azureml:").size());
    if (trim(environment.reference).empty()) {
        reading.problems.add(path, value.at,
                             "names no environment; write azureml:NAME:VERSION or azureml:NAME@latest");
    }
    return environment;
}

}  // namespace

EnvironmentSpec read_environment_definition(const Document& map, const std::string& path, Reading& reading) {
    return read_definition(map, path, reading);
}

bool is_remote(std::string_view path) { return has_scheme(path) && !path.starts_with("file:"); }

std::string without_file_scheme(std::string_view path) {
    if (!path.starts_with("file:")) return std::string(path);
    path.remove_prefix(5);
    if (path.starts_with("//")) path.remove_prefix(2);
    return std::string(path);
}

std::string join_path(const std::string& folder, std::string_view path) {
    while (path.starts_with("./")) path.remove_prefix(2);
    if (path == ".") path = {};
    if (path.starts_with('/') || folder.empty()) return path.empty() ? "." : std::string(path);
    if (path.empty()) return folder;
    return folder.ends_with('/') ? folder + std::string(path) : folder + "/" + std::string(path);
}

std::string parent_folder(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return "";
    return slash == 0 ? "/" : path.substr(0, slash);
}

EnvironmentSpec read_environment(Fields& fields, Reading& reading) {
    const Document* value = fields.find("environment");
    if (value == nullptr) return {};
    const std::string path = fields.path_of("environment");
    if (value->is_map()) {
        EnvironmentSpec environment = read_definition(*value, path, reading);
        if (!environment.name.empty()) {
            reading.beyond_azure.push_back(
                ignored_there(path + ".name", "an environment defined inside a job stays anonymous"));
            environment.name.clear();
            environment.version.clear();
        }
        if (value->find("properties") != nullptr) {
            reading.beyond_azure.push_back(refused_there(path + ".properties", "inside a job; remove it"));
        }
        return environment;
    }
    if (!value->is_string()) {
        fields.problem("environment",
                       "must be a string or a mapping, but is " + std::string(name_of(value->kind)));
        return {};
    }
    if (value->text.starts_with("azureml:")) return read_reference(*value, path, reading);
    if (value->text == "host") {
        reading.beyond_azure.push_back(
            refused_there(path, "`host` is the interpreter of the submitter's own machine"));
        EnvironmentSpec environment;
        environment.reference = value->text;
        return environment;
    }
    const std::string file = join_path(reading.folder, without_file_scheme(value->text));
    if (value->text.starts_with("file:") || reading.loader.kind_of(file) == PathKind::File) {
        return read_file(*value, path, reading);
    }
    fields.problem("environment", "'" + value->text +
                                      "' is neither a file nor a registered environment; write azureml:" +
                                      "NAME@latest, azureml:NAME:VERSION, {image: IMAGE} or host");
    return {};
}

void read_code(Fields& fields, Reading& reading, std::string& code, std::string& local) {
    code = fields.string("code");
    if (code.empty()) {
        const Document* written = fields.find("code");
        if (written != nullptr && written->is_string())
            fields.problem("code", "is empty; name the folder of the code or remove the line");
        return;
    }
    if (is_remote(code)) return;
    local = join_path(reading.folder, without_file_scheme(code));
    if (reading.loader.kind_of(local) == PathKind::Absent) {
        fields.problem("code", "the code folder '" + code + "' does not exist (looked for " + local + ")");
    }
}

}  // namespace lavant::spec
