#include "core/spec/asset.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/spec/asset_reading.h"

namespace lavant::spec {
namespace {

constexpr std::string_view kRule = "use letters, digits, '-', '_' and '.', and begin with a letter or digit";

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

bool is_plain_word(std::string_view word) {
    return !word.empty() && word.front() != '.' && word.front() != '-' && std::ranges::all_of(word, is_plain);
}

// What the public examples leave to be filled in is no mistake of whoever checks them.
bool has_placeholder(std::string_view text) { return text.find('<') != std::string_view::npos; }

void check_kind(Fields& fields, const AssetSpec& spec, const ComponentLoader& loader) {
    if (spec.local_path.empty()) return;
    const PathKind kind = loader.kind_of(spec.local_path);
    const std::string shown = "'" + spec.path + "' ";
    if (kind == PathKind::Folder && spec.type == "uri_file")
        fields.problem("path", shown + "is a folder; its type is uri_folder");
    if (kind == PathKind::File && (spec.type == "uri_folder" || spec.type == "mltable"))
        fields.problem("path", shown + "is a file; " +
                                   (spec.type == "mltable" ? "name the folder that has the file MLTable"
                                                           : "its type is uri_file"));
    if (kind == PathKind::File && spec.type == "mlflow_model")
        fields.problem("path", shown + "is a file; an MLflow model is the folder that has the file MLmodel");
}

void read_path_of(Fields& fields, Reading& reading, AssetSpec& spec) {
    const Document* written = fields.find("path");
    if (written == nullptr) {
        if (fields.map().is_map() && !fields.has("path"))
            fields.problem("path", "is missing; say where it is: a local path, or azureml://datastores/…");
        return;
    }
    if (written->is_string() && written->text.size() > kAssetPathBytes)
        return fields.problem("path", "is too long: at most " + std::to_string(kAssetPathBytes) + " bytes");
    const InputSpec place = read_path(*written, fields.path_of("path"), reading);
    spec.path = place.path;
    spec.local_path = place.local_path;
}

// What an MLTable reads is kept beside it, so that the server knows without reading it.
void read_table(Fields& fields, const ComponentLoader& loader, AssetSpec& spec) {
    if (spec.local_path.empty() || loader.kind_of(spec.local_path) != PathKind::Folder) return;
    const std::string file = join_path(spec.local_path, "MLTable");
    if (loader.kind_of(file) != PathKind::File)
        return fields.problem("path", "'" + spec.path + "' is no MLTable: it has no file of that name");
    const auto table = loader.load(file);
    if (!table) return fields.problem("path", table.error().message);
    const Document* paths = table->find("paths");
    if (paths == nullptr || !paths->is_list()) {
        if (table->find("transformations") == nullptr)
            fields.problem("path", "the file MLTable in '" + spec.path + "' has no list `paths`");
        return;
    }
    for (const Document& one : paths->items)
        for (const char* key : {"file", "folder", "pattern"})
            if (const Document* place = one.find(key);
                place != nullptr && place->is_string() && spec.referenced.size() < kReferencedPathsMost)
                spec.referenced.push_back(place->text);
}

void read_what_assets_share(Fields& fields, AssetSpec& spec) {
    spec.name = read_asset_name(fields);
    spec.version = read_asset_version(fields, spec.warnings);
    spec.description = read_description(fields);
    spec.tags = read_pairs(fields, "tags");
    spec.properties = read_pairs(fields, "properties");
    spec.datastore = read_datastore_name(fields);
    // What the server answers with may stand in a file that came from `show`.
    fields.ignore({"$schema", "id", "creation_context", "latest_version", "resourceGroup",
                   "auto_delete_setting", "is_archived"});
}

void read_routes(Fields& parent, EnvironmentFile& file) {
    const Document* map = parent.find("inference_config");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("inference_config"), parent.problems());
    for (const char* route : {"liveness_route", "readiness_route", "scoring_route"}) {
        const Document* one = fields.find(route);
        if (one == nullptr) {
            if (!fields.has(route)) fields.problem(route, "is missing; write it as {port: 8080, path: /}");
            continue;
        }
        Fields parts(*one, fields.path_of(route), parent.problems());
        if (!parts.integer("port") && !parts.has("port")) parts.problem("port", "is missing");
        if (parts.string("path").empty() && !parts.has("path")) parts.problem("path", "is missing");
        parts.finish();
    }
    fields.finish();
    file.inference_config = *map;
}

}  // namespace

std::string asset_name_problem(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > kAssetNameBytes)
        return "is too long: at most " + std::to_string(kAssetNameBytes) + " bytes";
    if (!is_plain_word(name))
        return "'" + std::string(name.substr(0, 80)) + "' cannot be a name: " + std::string(kRule);
    return "";
}

std::string read_asset_name(Fields& fields) {
    std::string name = fields.string("name");
    if (fields.map().is_map() && !fields.has("name")) {
        fields.problem("name", "is missing; it is what others find it by");
    } else if (const Document* written = fields.map().find("name"); written && written->is_string()) {
        if (std::string problem = asset_name_problem(name); !problem.empty())
            fields.problem("name", std::move(problem));
    }
    return name;
}

std::string read_asset_version(Fields& fields, std::vector<std::string>& warnings) {
    std::string version = fields.text("version");
    if (version.empty()) {
        const Document* written = fields.map().find("version");
        if (written != nullptr && written->is_string())
            fields.problem("version", "is empty; remove the line to get the next version");
        return version;
    }
    if (has_placeholder(version)) {
        warnings.push_back("version: '" + version.substr(0, 80) + "' still is the example's placeholder");
    } else if (version.size() > kAssetVersionBytes || !is_plain_word(version)) {
        fields.problem("version",
                       "'" + version.substr(0, 80) + "' cannot be a version: " + std::string(kRule));
    } else if (equals_ignoring_case(version, "latest")) {
        fields.problem("version", "'latest' means the newest one and cannot be given to one");
    }
    return version;
}

std::string read_description(Fields& fields) {
    std::string text = fields.string("description");
    if (text.size() <= kAssetDescriptionBytes) return text;
    fields.problem("description",
                   "is too long: at most " + std::to_string(kAssetDescriptionBytes) + " bytes");
    return {};
}

std::map<std::string, std::string> read_pairs(Fields& fields, std::string_view key) {
    std::map<std::string, std::string> pairs = fields.string_map(key);
    if (pairs.size() > kAssetPairsMost)
        fields.problem(key, "has " + std::to_string(pairs.size()) + " entries; at most " +
                                std::to_string(kAssetPairsMost));
    for (const auto& [name, value] : pairs)
        if (name.empty() || name.size() + value.size() > kAssetPairBytes)
            fields.problem(key, name.empty() ? "an entry has no name"
                                             : "'" + name.substr(0, 80) + "' is too long: at most " +
                                                   std::to_string(kAssetPairBytes) + " bytes");
    return pairs;
}

std::string read_datastore_name(Fields& fields) {
    std::string name = fields.string("datastore");
    if (name.starts_with("azureml:")) name.erase(0, std::string_view("azureml:").size());
    if (!name.empty() && !is_plain_word(name))
        fields.problem("datastore", "'" + name.substr(0, 80) + "' is no datastore's name; like " +
                                        "workspaceblobstore, or azureml:workspaceblobstore");
    return name;
}

Result<AssetSpec> parse_data(const Document& document, const ComponentLoader& loader) {
    AssetSpec spec;
    Problems problems;
    Reading reading{loader, loader.folder, problems, spec.beyond_azure};
    Fields fields(document, "", problems);
    read_what_assets_share(fields, spec);
    spec.type =
        fields.has("type") ? fields.choice("type", {"uri_file", "uri_folder", "mltable"}) : "uri_folder";
    read_path_of(fields, reading, spec);
    check_kind(fields, spec, loader);
    if (spec.type == "mltable") read_table(fields, loader, spec);
    fields.ignore({"skip_validation", "mltable_schema_url", "referenced_uris"});
    if (fields.has("source"))
        fields.problem("source", "is not supported: data is registered from where it lies, not imported");
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the data file"));
    return spec;
}

Result<AssetSpec> parse_model(const Document& document, const ComponentLoader& loader) {
    AssetSpec spec;
    Problems problems;
    Reading reading{loader, loader.folder, problems, spec.beyond_azure};
    Fields fields(document, "", problems);
    read_what_assets_share(fields, spec);
    spec.type = fields.has("type") ? fields.choice("type", {"custom_model", "mlflow_model", "triton_model"})
                                   : "custom_model";
    read_path_of(fields, reading, spec);
    check_kind(fields, spec, loader);
    spec.stage = fields.string("stage");
    if (const Document* flavors = fields.find("flavors")) {
        spec.flavors = *flavors;
        const bool fine = flavors->is_map() && std::ranges::all_of(flavors->entries, [](const auto& entry) {
                              return entry.value.is_map();
                          });
        if (!fine) fields.problem("flavors", "must be a mapping of flavors to their settings");
    }
    fields.ignore({"utc_time_created", "job_name", "system_metadata", "default_deployment_template",
                   "allowed_deployment_templates", "intellectual_property"});
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the model file"));
    return spec;
}

Result<EnvironmentFile> parse_environment_file(const Document& document, const ComponentLoader& loader) {
    EnvironmentFile file;
    Problems problems;
    Reading reading{loader, loader.folder, problems, file.beyond_azure};
    if (document.find("dependencies") != nullptr || document.find("channels") != nullptr) {
        problems.add("", document.at,
                     "is a conda file; an environment file names it: image: IMAGE and conda_file: FILE");
        return fail(problems.to_error("the environment file"));
    }
    file.environment = read_environment_definition(document, "", reading);
    Fields fields(document, "", problems);
    // The definition was read as one inside a job is, which needs no name.
    if (document.is_map()) {
        read_asset_name(fields);
        file.environment.version = read_asset_version(fields, file.warnings);
        file.environment.description = read_description(fields);
        file.properties = read_pairs(fields, "properties");
        file.datastore = read_datastore_name(fields);
        read_routes(fields, file);
    }
    if (!problems.empty()) return fail(problems.to_error("the environment file"));
    return file;
}

}  // namespace lavant::spec
