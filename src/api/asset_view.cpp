#include "api/asset_view.h"

#include <algorithm>

#include "api/asset_names.h"
#include "base/text.h"

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

void default_member(Json& object, std::string_view key, Json value) {
    if (object[key].is_null()) object.set(key, std::move(value));
}

// A build context is the same if its content is: the part from LocalUpload/<hash> on.
std::string comparable(const Json& value, std::string_view field) {
    if (field != "build" || !value.is_object()) return value.dump();
    const std::string uri = value["contextUri"].string();
    const std::size_t at = uri.find("/LocalUpload/");
    return (at == std::string::npos ? uri : uri.substr(at)) + "\n" +
           value["dockerfilePath"].string("Dockerfile");
}

}  // namespace

const std::vector<AssetKind>& asset_kinds() {
    static const std::vector<AssetKind> kinds = {
        {"codes", {"codeUri"}, false},
        {"environments", {"image", "condaFile", "build"}, true},
        {"data", {"dataUri", "dataType"}, true},
        {"models", {"modelUri", "modelType"}, true},
    };
    return kinds;
}

Result<Json> to_stored_asset(const AssetKind& kind, const Json& properties) {
    Json stored = properties;
    stored.remove("isArchived");
    auto& members = stored.mutable_members();
    std::erase_if(members, [](const Json::Member& member) { return member.value.is_null(); });
    if (kind.name == "codes") {
        const auto place = parse_storage_url(properties["codeUri"].text());
        if (!place)
            return fail(ErrorCode::InvalidArgument,
                        "properties.codeUri must lie in the storage that startPendingUpload gave");
        stored.set("codeUri", *place);
    }
    const std::string data_type = stored["dataType"].string();
    if (kind.name == "data" && (data_type == "uri_folder" || data_type == "mltable")) {
        std::string uri = stored["dataUri"].string();
        if (!uri.empty() && !uri.ends_with('/')) uri += '/';
        stored.set("dataUri", std::move(uri));
    }
    return stored;
}

bool same_content(const AssetKind& kind, const Json& stored, const Json& wanted) {
    return std::ranges::all_of(kind.fixed_fields, [&](const std::string& field) {
        return comparable(stored[field], field) == comparable(wanted[field], field);
    });
}

Json merge_asset(const AssetKind& kind, Json stored, const Json& wanted) {
    for (const Json::Member& member : wanted.members())
        if (std::ranges::find(kind.fixed_fields, member.key) == kind.fixed_fields.end())
            stored.set(member.key, member.value);
    return stored;
}

Result<Json> version_view(const Context& context, const Call& call, const Asset& asset) {
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
    }
    const std::string id = arm_id(workspace_of(call)) + "/" + asset.key.kind + "/" + asset.key.name +
                           "/versions/" + asset.key.version;
    return Json::object({{"id", id},
                         {"name", asset.key.version},
                         {"type", kResourceType + asset.key.kind + "/versions"},
                         {"systemData", system_data(asset)},
                         {"properties", std::move(properties)}});
}

Result<Json> container_view(const Call& call, const Asset& asset) {
    LAVANT_TRY(Json properties, wire::parse_json(asset.body));
    default_member(properties, "tags", Json::object());
    default_member(properties, "properties", Json::object());
    properties.set("isArchived", asset.archived);
    properties.set("provisioningState", "Succeeded");
    return Json::object({{"id", arm_id(workspace_of(call)) + "/" + asset.key.kind + "/" + asset.key.name},
                         {"name", asset.key.name},
                         {"type", kResourceType + asset.key.kind},
                         {"systemData", system_data(asset)},
                         {"properties", std::move(properties)}});
}

Result<Json> advance_container(const std::string& stored, const std::string& version) {
    Json body = Json::object();
    if (!stored.empty()) {
        LAVANT_TRY(body, wire::parse_json(stored));
    }
    const std::int64_t next = parse_integer(body["nextVersion"].text()).value_or(1);
    const std::int64_t number = parse_integer(version).value_or(0);
    const bool counts = number > 0 && number < (std::int64_t{1} << 62);
    body.set("latestVersion", version);
    body.set("nextVersion", std::to_string(counts ? std::max(next, number + 1) : next));
    return body;
}

}  // namespace lavant::api
