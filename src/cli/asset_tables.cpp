#include "cli/asset_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/blob_fetch.h"
#include "core/model/workspace.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::size_t kHashShown = 8;

std::string text_of(const Json& value) { return value.is_null() ? "" : printable(value.scalar_text()); }

// What an environment is made from.
std::string source_of(const Json& environment) {
    if (!environment["image"].text().empty())
        return printable(environment["image"].text()) + (environment.has("conda_file") ? " + conda" : "");
    if (environment.has("build"))
        return "build " + printable(environment["build"]["dockerfile_path"].string("Dockerfile"));
    return {};
}

std::string in_short(AssetKind kind, const Json& asset) {
    if (kind == AssetKind::Environment) return source_of(asset);
    return text_of(asset["type"]);
}

// A place in a datastore without what all of them begin with, and of an upload's hash only the beginning.
std::string short_path(std::string_view path) {
    const auto place = parse_blob_place(path);
    if (!place) return printable(path);
    constexpr std::string_view kUploads = "LocalUpload/";
    std::string below = place->path;
    const std::size_t slash = below.find('/', kUploads.size());
    if (below.starts_with(kUploads) && slash != std::string::npos && slash > kUploads.size() + kHashShown)
        below.replace(kUploads.size() + kHashShown, slash - kUploads.size() - kHashShown, "…");
    return printable(place->datastore == kBlobDatastore ? below : place->datastore + ": " + below);
}

std::string where(AssetKind kind, const Json& asset) {
    if (kind == AssetKind::Component) return text_of(asset["display_name"]);
    if (kind == AssetKind::Environment) return text_of(asset["description"]);
    return short_path(asset["path"].text());
}

const char* where_title(AssetKind kind) {
    if (kind == AssetKind::Component) return "DISPLAY NAME";
    return kind == AssetKind::Environment ? "DESCRIPTION" : "PATH";
}

void add_conda(FieldRows& rows, const Json& environment) {
    const Json& conda = environment["conda_file"];
    if (conda.is_null()) return;
    std::string packages;
    const auto add = [&packages](std::string_view name) {
        (packages += packages.empty() ? "" : ", ") += printable(name);
    };
    for (const Json& one : conda["dependencies"].items()) {
        if (one.is_string()) add(one.text());
        for (const Json& pip : one["pip"].items()) add(pip.text());
    }
    rows.emplace_back("conda", packages.empty() ? "a file without packages" : packages);
}

// "x: integer, data: uri_folder (optional)"
void add_ports(FieldRows& rows, const char* key, const Json& ports) {
    for (const auto& [name, port] : ports.members()) {
        std::string text = printable(name) + ": " + text_of(port["type"]);
        if (const Json& value = port["default"]; !value.is_null())
            text += " = " + printable(value.scalar_text());
        if (port["optional"].boolean() || port["optional"].text() == "True") text += " (optional)";
        rows.emplace_back(key, text);
    }
}

void add_component(FieldRows& rows, const Json& component) {
    add_field(rows, "display name", component["display_name"]);
    add_field(rows, "command", component["command"]);
    add_field(rows, "code", component["code"]);
    if (component["environment"].is_string()) add_field(rows, "environment", component["environment"]);
    add_ports(rows, "input", component["inputs"]);
    add_ports(rows, "output", component["outputs"]);
    for (const auto& [name, step] : component["jobs"].members())
        rows.emplace_back("step", printable(name) + ": " + text_of(step["type"]));
}

}  // namespace

void add_field(FieldRows& rows, const char* key, const Json& value) {
    if (value.is_null() || (value.is_string() && value.text().empty())) return;
    rows.emplace_back(key, printable(value.scalar_text()));
}

void add_pairs(FieldRows& rows, const char* key, const Json& pairs) {
    for (const auto& [name, value] : pairs.members())
        rows.emplace_back(key, printable(name) + " = " + printable(value.scalar_text()));
}

std::string created_of(const Json& shown) {
    const std::string_view at = shown.get("creation_context.created_at").text();
    return at.empty() ? "" : short_time(at);
}

void add_creation(FieldRows& rows, const Json& shown) {
    if (const std::string at = created_of(shown); !at.empty()) rows.emplace_back("created", at + " UTC");
    add_field(rows, "created by", shown.get("creation_context.created_by"));
}

std::string render_asset_line(AssetKind kind, const Json& asset) {
    std::string line = fmt::format("{}:{}", text_of(asset["name"]), text_of(asset["version"]));
    if (const std::string what = in_short(kind, asset); !what.empty()) line += "  " + what;
    if (kind == AssetKind::Data || kind == AssetKind::Model) line += "  " + where(kind, asset);
    return line + "\n";
}

std::string render_asset(AssetKind kind, const Json& asset, const Console& console) {
    FieldRows rows;
    add_field(rows, "name", asset["name"]);
    add_field(rows, "version", asset["version"]);
    add_field(rows, "type", asset["type"]);
    add_field(rows, "description", asset["description"]);
    add_field(rows, "path", asset["path"]);
    add_field(rows, "image", asset["image"]);
    add_field(rows, "build", asset.get("build.path"));
    add_field(rows, "dockerfile", asset.get("build.dockerfile_path"));
    add_conda(rows, asset);
    if (kind == AssetKind::Component) add_component(rows, asset);
    add_field(rows, "stage", asset["stage"]);
    add_field(rows, "made by job", asset["job_name"]);
    for (const auto& [flavor, about] : asset["flavors"].members())
        rows.emplace_back("flavor", printable(flavor));
    add_pairs(rows, "tag", asset["tags"]);
    add_pairs(rows, "property", asset["properties"]);
    if (asset["is_archived"].boolean()) rows.emplace_back("archived", "yes");
    add_creation(rows, asset);
    if (!asset["version"].text().empty())
        rows.emplace_back("use it as",
                          fmt::format("azureml:{}:{}", text_of(asset["name"]), text_of(asset["version"])));
    return render_fields(rows, console.width);
}

std::string table_of_containers(AssetKind kind, const Json& assets, int width) {
    if (assets.size() == 0) return {};
    // Environments and models have no type before one looks at a version.
    const bool typed = kind == AssetKind::Data;
    std::vector<Column> columns = {{"NAME", Cut::Last}, {"LATEST", Cut::First}};
    if (typed) columns.push_back({"TYPE"});
    columns.push_back({"CREATED"});
    const bool described = std::ranges::any_of(
        assets.items(), [](const Json& one) { return !one["description"].text().empty(); });
    if (described) columns.push_back({"DESCRIPTION", Cut::First});
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : assets.items()) {
        std::vector<std::string>& row = rows.emplace_back();
        row = {text_of(one["name"]), text_of(one["latest_version"])};
        if (typed) row.push_back(text_of(one["type"]));
        row.push_back(created_of(one));
        if (described) row.push_back(text_of(one["description"]));
    }
    return render_table(columns, rows, width);
}

std::string table_of_versions(AssetKind kind, const Json& assets, int width) {
    if (assets.size() == 0) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : assets.items())
        rows.push_back({text_of(one["name"]), text_of(one["version"]), in_short(kind, one), created_of(one),
                        where(kind, one)});
    return render_table({{"NAME", Cut::Last},
                         {"VERSION", Cut::Last},
                         {kind == AssetKind::Environment ? "FROM" : "TYPE", Cut::First},
                         {"CREATED"},
                         {where_title(kind), Cut::First}},
                        rows, width);
}

}  // namespace lavant::cli
