#include "api/asset_view.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/asset_names.h"
#include "base/text.h"
#include "core/spec/document.h"
#include "wire/yaml.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr const char* kResourceType = "Microsoft.MachineLearningServices/workspaces/";

std::string encode_path(std::string_view path) {
    std::string out;
    for (const std::string_view part : split(path, '/')) {
        if (!out.empty()) out += '/';
        out += percent_encode(part);
    }
    return out;
}

Json system_data(const Asset& asset) {
    return Json::object({{"createdAt", to_rfc3339(asset.created_at)},
                         {"createdBy", asset.created_by},
                         {"createdByType", "User"},
                         {"lastModifiedAt", to_rfc3339(asset.modified_at)}});
}

// The one not archived, if there is one.
Result<std::optional<Asset>> newest_version(const Context& context, const AssetKey& container) {
    ports::AssetQuery query;
    query.workspace = container.workspace;
    query.kind = container.kind;
    query.name = container.name;
    query.limit = 1;
    LAVANT_TRY(auto found, context.ports.reader.list_assets(query));
    if (found.empty()) {
        query.archived = std::nullopt;
        LAVANT_TRY(found, context.ports.reader.list_assets(query));
    }
    if (found.empty()) return std::optional<Asset>{};
    return std::optional<Asset>(std::move(found.front()));
}

void default_member(Json& object, std::string_view key, Json value) {
    if (object[key].is_null()) object.set(key, std::move(value));
}

// What a document says, whatever the order of its keys and the way it is written.
std::string meaning_of(const spec::Document& document) {
    std::string text;
    if (document.is_list()) {
        for (const spec::Document& item : document.items) text += meaning_of(item) + ",";
        return "[" + text + "]";
    }
    if (!document.is_map()) return std::string(name_of(document.kind)) + json_quote(document.printed());
    std::vector<std::string> members;
    for (const spec::Document::Entry& entry : document.entries)
        members.push_back(json_quote(entry.key) + ":" + meaning_of(entry.value));
    std::ranges::sort(members);
    for (const std::string& member : members) text += member + ",";
    return "{" + text + "}";
}

// A build context is the same if its content is: the part from LocalUpload/<hash> on. A conda file is the
// same if it says the same.
std::string comparable(const Json& value, std::string_view field) {
    if (field == "condaFile" && value.is_string()) {
        const auto document = wire::parse_yaml(value.text(), "condaFile");
        return document ? meaning_of(*document) : value.string();
    }
    if (field != "build" || !value.is_object()) return value.dump();
    const std::string uri = value["contextUri"].string();
    const std::size_t at = uri.find("/LocalUpload/");
    return (at == std::string::npos ? uri : uri.substr(at)) + "\n" +
           value["dockerfilePath"].string("Dockerfile");
}

// The type of a member that is there.
Result<void> check_type(const Json& properties, std::string_view field, bool right, std::string_view type) {
    if (properties[field].is_null() || right) return {};
    return fail(ErrorCode::InvalidArgument, "properties." + std::string(field) + " must be " +
                                                std::string(type) + ", not " +
                                                std::string(properties[field].type_name()));
}

Result<void> check_types(const Json& properties) {
    for (const char* field : {"tags", "properties", "flavors", "build"})
        LAVANT_TRY_VOID(check_type(properties, field, properties[field].is_object(), "an object"));
    for (const char* field : {"description", "codeUri", "dataUri", "dataType", "modelUri", "modelType",
                              "image", "condaFile", "stage", "osType", "environmentType", "jobName"})
        LAVANT_TRY_VOID(check_type(properties, field, properties[field].is_string(), "a string"));
    for (const char* field : {"isArchived", "isAnonymous"})
        LAVANT_TRY_VOID(check_type(properties, field, properties[field].is_boolean(), "true or false"));
    return {};
}

tl::unexpected<Error> refuse(std::string message) {
    return fail(ErrorCode::InvalidArgument, std::move(message));
}

Result<void> finish_data(Json& stored) {
    constexpr std::array<std::string_view, 3> kTypes = {"uri_file", "uri_folder", "mltable"};
    if (stored["dataType"].is_null()) stored.set("dataType", "uri_folder");
    const std::string type = stored["dataType"].string();
    if (std::ranges::find(kTypes, type) == kTypes.end())
        return refuse("properties.dataType is uri_file, uri_folder or mltable, not '" + type + "'");
    std::string uri = stored["dataUri"].string();
    if (uri.empty()) return refuse("properties.dataUri is missing; say where the data lies");
    if (type == "uri_file") return {};
    if (!uri.ends_with('/')) uri += '/';
    stored.set("dataUri", std::move(uri));
    return {};
}

Result<void> finish_code(Json& stored) {
    const auto place = parse_storage_url(stored["codeUri"].text());
    if (!place) return refuse("properties.codeUri must lie in the storage that startPendingUpload gave");
    stored.set("codeUri", *place);
    return {};
}

Result<void> finish_environment(const Json& stored) {
    const bool has_image = !stored["image"].text().empty();
    const bool has_build = stored["build"].is_object();
    if (has_image && has_build)
        return refuse("an environment has properties.image or properties.build, not both; leave one out");
    if (!has_image && !has_build && stored["condaFile"].text().empty())
        return refuse("an environment needs properties.image, properties.build or properties.condaFile");
    if (has_build && stored["build"]["contextUri"].text().empty())
        return refuse("properties.build.contextUri is missing; upload the build context first");
    return {};
}

}  // namespace

const std::vector<AssetKind>& asset_kinds() {
    static const std::vector<AssetKind> kinds = {
        {"codes", "code", {"codeUri"}, false},
        {"environments", "environment", {"image", "condaFile", "build"}, true},
        {"data", "data", {"dataUri", "dataType"}, true},
        {"models", "model", {"modelUri", "modelType"}, true},
        {"components", "component", {}, true},
    };
    return kinds;
}

const AssetKind* find_asset_kind(std::string_view name) {
    for (const AssetKind& kind : asset_kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

Result<Json> to_stored_asset(const AssetKind& kind, const Json& properties) {
    LAVANT_TRY_VOID(check_types(properties));
    Json stored = properties;
    for (const char* ours : {"isArchived", "provisioningState"}) stored.remove(ours);
    auto& members = stored.mutable_members();
    std::erase_if(members, [](const Json::Member& member) { return member.value.is_null(); });
    if (kind.name == "codes") LAVANT_TRY_VOID(finish_code(stored));
    if (kind.name == "data") LAVANT_TRY_VOID(finish_data(stored));
    if (kind.name == "environments") LAVANT_TRY_VOID(finish_environment(stored));
    if (kind.name == "models" && stored["modelUri"].text().empty())
        return refuse("properties.modelUri is missing; say where the model lies");
    return stored;
}

std::optional<std::string> changed_field(const AssetKind& kind, const Json& stored, const Json& wanted) {
    for (const std::string& field : kind.fixed_fields)
        if (comparable(stored[field], field) != comparable(wanted[field], field)) return field;
    return std::nullopt;
}

Json merge_asset(const AssetKind& kind, Json stored, const Json& wanted) {
    for (const Json::Member& member : wanted.members())
        if (std::ranges::find(kind.fixed_fields, member.key) == kind.fixed_fields.end())
            stored.set(member.key, member.value);
    return stored;
}

Result<Json> version_view(const Context& context, const Call& call, const Asset& asset,
                          std::string_view label) {
    LAVANT_TRY(Json properties, wire::parse_json(asset.body));
    default_member(properties, "tags", Json::object());
    default_member(properties, "properties", Json::object());
    default_member(properties, "isAnonymous", false);
    properties.set("isArchived", asset.archived);
    properties.set("provisioningState", "Succeeded");
    if (asset.key.kind == "codes")
        properties.set("codeUri", origin_of(context, call.request) + "/storage/" + kStorageHost + "/" +
                                      encode_path(properties["codeUri"].text()));
    if (asset.key.kind == "models") {
        default_member(properties, "flavors", Json::object());
        default_member(properties, "modelType", "custom_model");
    }
    if (asset.key.kind == "environments") {
        default_member(properties, "environmentType", "UserCreated");
        default_member(properties, "osType", "Linux");
        if (properties["build"].is_object())
            default_member(properties.member("build"), "dockerfilePath", "Dockerfile");
    }
    const std::string id =
        arm_id(workspace_of(call)) + "/" + asset.key.kind + "/" + asset.key.name +
        (label.empty() ? "/versions/" + asset.key.version : "/labels/" + std::string(label));
    return Json::object({{"id", id},
                         {"name", asset.key.version},
                         {"type", kResourceType + asset.key.kind + "/versions"},
                         {"systemData", system_data(asset)},
                         {"properties", std::move(properties)}});
}

Result<Json> container_view(const Context& context, const Call& call, const Asset& asset) {
    LAVANT_TRY(Json properties, wire::parse_json(asset.body));
    default_member(properties, "tags", Json::object());
    default_member(properties, "properties", Json::object());
    properties.set("isArchived", asset.archived);
    properties.set("provisioningState", "Succeeded");
    LAVANT_TRY(const auto newest, newest_version(context, asset.key));
    properties.remove("latestVersion");
    if (newest) properties.set("latestVersion", newest->key.version);
    if (newest && asset.key.kind == "data") {
        LAVANT_TRY(const Json version, wire::parse_json(newest->body));
        properties.set("dataType", version["dataType"].string("uri_folder"));
    }
    default_member(properties, "nextVersion", "1");
    if (asset.key.kind == "components" && newest)
        properties.set("nextVersion", to_version_stamp(context.ports.clock.now()));
    return Json::object({{"id", arm_id(workspace_of(call)) + "/" + asset.key.kind + "/" + asset.key.name},
                         {"name", asset.key.name},
                         {"type", kResourceType + asset.key.kind},
                         {"systemData", system_data(asset)},
                         {"properties", std::move(properties)}});
}

std::string to_version_stamp(Instant at) {
    std::string stamp = to_rfc3339(at);  // 2026-01-02T03:04:05.678901Z
    stamp.back() = '0';
    for (char& c : stamp)
        if (c == 'T' || c == ':' || c == '.') c = '-';
    return stamp;
}

Result<Json> advance_container(const std::string& stored, const std::string& version) {
    Json body = Json::object();
    if (!stored.empty()) {
        LAVANT_TRY(body, wire::parse_json(stored));
    }
    const std::int64_t next = parse_integer(body["nextVersion"].text()).value_or(1);
    const std::int64_t number = parse_integer(version).value_or(0);
    const bool counts = number > 0 && number < (std::int64_t{1} << 62);
    body.set("nextVersion", std::to_string(counts ? std::max(next, number + 1) : next));
    return body;
}

}  // namespace lavant::api
