#include "wire/az_asset.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "wire/az_job.h"
#include "wire/sections_to_arm.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

std::string snake(std::string_view name) { return part_words(name, '_'); }

void set_if(Json& object, std::string_view key, const Json& value) {
    if (!value.is_null()) object.set(key, value);
}

Json with_file_keys(const Json& value) {
    if (value.is_array()) {
        Json list = Json::array();
        for (const Json& item : value.items()) list.append(with_file_keys(item));
        return list;
    }
    if (!value.is_object()) return value;
    Json out = Json::object();
    for (const auto& [key, member] : value.members())
        if (!member.is_null()) out.set(snake(key), with_file_keys(member));
    return out;
}

void sort_keys(Json& object) { std::ranges::sort(object.mutable_members(), {}, &Json::Member::key); }

// az writes some ids with `azureml:` before them.
enum class IdForm { Plain, Azureml };

// "…/data/NAME/versions/VERSION", or "…/data/NAME" for a container.
Json headline(const Json& arm, IdForm form) {
    Json out = Json::object();
    const std::string id = arm["id"].string();
    const auto parts = split(id, '/');
    const bool is_version = parts.size() > 3 && parts[parts.size() - 2] == "versions";
    if (is_version) {
        out.set("name", parts[parts.size() - 3]);
        out.set("version", parts.back());
    } else {
        out.set("name", arm["name"]);
        set_if(out, "latest_version", arm["properties"]["latestVersion"]);
    }
    if (!id.empty()) out.set("id", form == IdForm::Azureml ? "azureml:" + id : id);
    const Json& properties = arm["properties"];
    set_if(out, "description", properties["description"]);
    out.set("tags", properties["tags"].is_object() ? properties["tags"] : Json::object());
    if (arm["systemData"].is_object()) out.set("creation_context", az_creation(arm["systemData"]));
    if (const std::string group = group_of(id); !group.empty()) out.set("resourceGroup", group);
    if (properties["isArchived"].boolean()) out.set("is_archived", true);
    return out;
}

const Json& object_or_empty(const Json& value) {
    static const Json empty = Json::object();
    return value.is_object() ? value : empty;
}

Json trigger_of(const Json& trigger) {
    Json out = Json::object({{"type", to_lower(trigger["triggerType"].text())}});
    for (const auto& [key, value] : trigger.members()) {
        if (value.is_null() || key == "triggerType") continue;
        if (key == "frequency") {
            out.set("frequency", to_lower(value.text()));
        } else if (key == "schedule") {
            Json pattern = with_file_keys(value);
            if (const Json days = pattern["week_days"]; days.is_array()) {
                Json lower = Json::array();
                for (const Json& day : days.items()) lower.append(to_lower(day.text()));
                pattern.set("week_days", std::move(lower));
            }
            if (pattern["hours"].size() > 0 || pattern["minutes"].size() > 0) out.set("schedule", pattern);
        } else {
            out.set(snake(key), value);
        }
    }
    return out;
}

// The job as it is shown by itself, less what only a job that was submitted has.
Json job_of(const Json& definition) {
    Json out = to_az_job(Json::object({{"properties", definition}}));
    for (const char* key :
         {"name", "id", "creation_context", "resourceGroup", "source_job_id", "is_archived"})
        out.remove(key);
    if (const std::string source = definition["sourceJobId"].string(); !source.empty())
        out.set("id", "azureml:" + source);
    sort_keys(out);
    return out;
}

}  // namespace

Json to_az_data(const Json& arm) {
    const Json& properties = arm["properties"];
    Json out = headline(arm, IdForm::Plain);
    out.set("properties", object_or_empty(properties["properties"]));
    set_if(out, "type", properties["dataType"]);
    set_if(out, "path", properties["dataUri"]);
    sort_keys(out);
    return out;
}

Json to_az_model(const Json& arm) {
    const Json& properties = arm["properties"];
    Json out = headline(arm, IdForm::Azureml);
    out.set("properties", object_or_empty(properties["properties"]));
    out.set("type", properties["modelType"].string("custom_model"));
    set_if(out, "path", properties["modelUri"]);
    set_if(out, "stage", properties["stage"]);
    set_if(out, "job_name", properties["jobName"]);
    if (properties["flavors"].size() > 0) {
        Json flavors = Json::object();
        for (const auto& [key, value] : properties["flavors"].members()) flavors.set(key, value["data"]);
        out.set("flavors", std::move(flavors));
    }
    sort_keys(out);
    return out;
}

Json to_az_environment(const Json& arm) {
    const Json& properties = arm["properties"];
    Json out = headline(arm, IdForm::Azureml);
    if (properties["properties"].size() > 0) out.set("properties", properties["properties"]);
    set_if(out, "image", properties["image"]);
    if (const std::string_view conda = properties["condaFile"].text(); !conda.empty()) {
        const auto document = parse_yaml(conda, "condaFile");
        out.set("conda_file", document ? to_json(*document) : Json(conda));
    }
    if (const Json& build = properties["build"]; build.is_object()) {
        Json shown = Json::object();
        set_if(shown, "dockerfile_path", build["dockerfilePath"]);
        set_if(shown, "path", build["contextUri"]);
        out.set("build", std::move(shown));
    }
    if (properties["inferenceConfig"].is_object())
        out.set("inference_config", with_file_keys(properties["inferenceConfig"]));
    if (const std::string_view os = properties["osType"].text(); !os.empty())
        out.set("os_type", to_lower(os));
    sort_keys(out);
    return out;
}

Json to_az_component(const Json& arm) {
    const Json& properties = arm["properties"];
    const Json& component = properties["componentSpec"];
    Json out = headline(arm, IdForm::Azureml);
    // The component's own words, as they were sent; what the resource says of itself goes before.
    for (const auto& [key, value] : component.members())
        if (!key.starts_with("_") && !out.has(key) && !value.is_null()) out.set(key, value);
    if (component["tags"].size() > 0 && out["tags"].size() == 0) out.set("tags", component["tags"]);
    sort_keys(out);
    return out;
}

Json to_az_datastore(const Json& arm) {
    static const std::map<std::string_view, const char*> types = {
        {"AzureBlob", "azure_blob"},
        {"AzureFile", "azure_file"},
        {"AzureDataLakeGen1", "azure_data_lake_gen1"},
        {"AzureDataLakeGen2", "azure_data_lake_gen2"},
        {"OneLake", "one_lake"},
    };
    const Json& properties = arm["properties"];
    Json out = Json::object({{"name", arm["name"]}, {"id", arm["id"]}});
    const auto type = types.find(properties["datastoreType"].text());
    out.set("type", type != types.end() ? type->second : snake(properties["datastoreType"].text()));
    for (const char* key : {"accountName", "containerName", "fileShareName", "filesystem", "storeName",
                            "endpoint", "protocol", "description", "oneLakeWorkspaceName", "isDefault"})
        set_if(out, snake(key), properties[key]);
    out.set("tags", object_or_empty(properties["tags"]));
    if (const Json& artifact = properties["artifact"]; artifact.is_object())
        out.set("artifact", Json::object({{"name", artifact["artifactName"]}, {"type", "lake_house"}}));
    Json credentials = Json::object();
    for (const char* key : {"tenantId", "clientId", "authorityUrl", "resourceUrl", "thumbprint"})
        set_if(credentials, snake(key), properties["credentials"][key]);
    out.set("credentials", std::move(credentials));
    if (properties["lavant"].is_object()) out.set("lavant", with_file_keys(properties["lavant"]));
    if (const std::string group = group_of(arm["id"].text()); !group.empty()) out.set("resourceGroup", group);
    sort_keys(out);
    return out;
}

Json to_az_schedule(const Json& arm) {
    const Json& properties = arm["properties"];
    const std::string group = group_of(arm["id"].text());
    Json out = Json::object({{"name", arm["name"]}, {"id", arm["id"]}});
    set_if(out, "display_name", properties["displayName"]);
    set_if(out, "description", properties["description"]);
    out.set("tags", object_or_empty(properties["tags"]));
    out.set("properties", object_or_empty(properties["properties"]));
    out.set("trigger", trigger_of(properties["trigger"]));
    const Json& action = properties["action"];
    const std::string_view type = action["actionType"].text();
    if (type == "CreateJob") {
        out.set("create_job", job_of(action["jobDefinition"]));
    } else if (type == "CreateMonitor") {
        out.set("create_monitor", with_file_keys(action["monitorDefinition"]));
    } else if (action.is_object()) {
        out.set("import_data", with_file_keys(action["dataImportDefinition"]));
    }
    out.set("is_enabled", properties["isEnabled"].boolean(true));
    set_if(out, "provisioning_state", properties["provisioningState"]);
    if (arm["systemData"].is_object()) out.set("creation_context", az_creation(arm["systemData"]));
    if (!group.empty()) out.set("resourceGroup", group);
    sort_keys(out);
    return out;
}

}  // namespace lavant::wire
