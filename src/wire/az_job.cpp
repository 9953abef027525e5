#include "wire/az_job.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "base/time.h"

namespace lavant::wire {
namespace {

std::string snake(std::string_view name) { return part_words(name, '_'); }

// Of structures whose keys are the protocol's, not the user's.
Json with_snake_keys(const Json& value) {
    if (!value.is_object()) return value;
    Json out = Json::object();
    for (const auto& [key, member] : value.members()) {
        if (!member.is_null()) out.set(snake(key), key == "properties" ? member : with_snake_keys(member));
    }
    return out;
}

// ".../environments/base/versions/1" -> "azureml:base:1"; anything else keeps its whole id.
std::string asset_reference(std::string_view id, std::string_view kind) {
    if (id.starts_with("azureml:")) return std::string(id);
    const auto parts = split(id, '/');
    const std::size_t count = parts.size();
    if (count > 4 && parts[count - 2] == "versions" && parts[count - 4] == kind)
        return "azureml:" + std::string(parts[count - 3]) + ":" + std::string(parts[count - 1]);
    return "azureml:" + std::string(id);
}

std::string compute_reference(std::string_view id) {
    const std::size_t slash = id.rfind('/');
    return "azureml:" + std::string(slash == std::string_view::npos ? id : id.substr(slash + 1));
}

std::string file_mode(std::string_view mode) {
    static const std::map<std::string_view, const char*> modes = {
        {"ReadOnlyMount", "ro_mount"}, {"ReadWriteMount", "rw_mount"}, {"Download", "download"},
        {"Direct", "direct"},          {"EvalMount", "eval_mount"},    {"EvalDownload", "eval_download"},
        {"Upload", "upload"},
    };
    const auto found = modes.find(mode);
    return found == modes.end() ? snake(mode) : found->second;
}

void set_text(Json& object, std::string_view key, std::string_view text) {
    if (!text.empty()) object.set(key, text);
}

Json input_of(const Json& input) {
    if (input["jobInputType"].text() == "literal") return input["value"];
    Json out = Json::object();
    if (!input["mode"].text().empty()) out.set("mode", file_mode(input["mode"].text()));
    out.set("type", input["jobInputType"].text());
    const std::string_view uri = input["uri"].text();
    const bool is_asset = uri.starts_with("/subscriptions/") ||
                          (!uri.empty() && uri.find("://") == std::string_view::npos && uri[0] != '/');
    const char* kind = uri.find("/models/") == std::string_view::npos ? "data" : "models";
    set_text(out, "path", is_asset ? asset_reference(uri, kind) : std::string(uri));
    return out;
}

Json output_of(const Json& output) {
    Json out = Json::object();
    if (!output["mode"].text().empty()) out.set("mode", file_mode(output["mode"].text()));
    out.set("type", output["jobOutputType"].text());
    set_text(out, "path", output["uri"].text());
    set_text(out, "name", output["assetName"].text());
    set_text(out, "version", output["assetVersion"].text());
    return out;
}

template <class Make>
Json each(const Json& named, Make make) {
    Json out = Json::object();
    for (const auto& [name, value] : named.members()) out.set(name, make(value));
    return out;
}

// az spells the zone in numbers.
std::string az_time(std::string_view rfc3339) {
    if (!rfc3339.ends_with('Z')) return std::string(rfc3339);
    return std::string(rfc3339.substr(0, rfc3339.size() - 1)) + "+00:00";
}

Json limits_of(const Json& limits) {
    Json out = with_snake_keys(limits);
    out.remove("job_limits_type");
    if (const auto timeout = parse_iso_duration(limits["timeout"].text()))
        out.set("timeout", std::chrono::duration_cast<std::chrono::seconds>(*timeout).count());
    return out;
}

Json service_of(const Json& service) {
    Json out = with_snake_keys(service);
    out.remove("job_service_type");
    if (service.has("jobServiceType")) out.set("type", service["jobServiceType"]);
    return out;
}

Json distribution_of(const Json& distribution) {
    Json out = Json::object({{"type", snake(distribution["distributionType"].text())}});
    if (out["type"].text() == "py_torch") out.set("type", "pytorch");
    if (out["type"].text() == "tensor_flow") out.set("type", "tensorflow");
    const Json rest = with_snake_keys(distribution);
    for (const auto& [key, value] : rest.members())
        if (key != "distribution_type") out.set(key, value);
    return out;
}

std::string identity_word(std::string_view type) {
    if (type == "AMLToken") return "aml_token";
    return type == "Managed" ? "managed" : snake(type);
}

// One key of the ARM properties; false if it has no place of its own.
bool translate(Json& out, const std::string& key, const Json& value) {
    if (key == "codeId") {
        out.set("code", "azureml:" + value.string());
    } else if (key == "environmentId") {
        out.set("environment", asset_reference(value.text(), "environments"));
    } else if (key == "componentId") {
        out.set("component", asset_reference(value.text(), "components"));
    } else if (key == "computeId") {
        if (!value.text().empty()) out.set("compute", compute_reference(value.text()));
    } else if (key == "jobType") {
        out.set("type", to_lower(value.text()));  // AutoML is automl, FineTuning is finetuning
    } else if (key == "inputs") {
        out.set("inputs", each(value, input_of));
    } else if (key == "outputs") {
        out.set("outputs", each(value, output_of));
    } else if (key == "services") {
        out.set("services", each(value, service_of));
    } else if (key == "limits") {
        out.set("limits", limits_of(value));
    } else if (key == "distribution") {
        out.set("distribution", distribution_of(value));
    } else if (key == "identity") {
        Json identity = with_snake_keys(value);
        identity.remove("identity_type");
        identity.set("type", identity_word(value["identityType"].text()));
        out.set("identity", std::move(identity));
    } else if (key == "queueSettings") {
        Json queue = with_snake_keys(value);
        if (queue.has("job_tier")) queue.set("job_tier", snake(queue["job_tier"].text()));
        out.set("queue_settings", std::move(queue));
    } else {
        return false;
    }
    return true;
}

bool has_users_keys(std::string_view key) {
    return key == "tags" || key == "properties" || key == "environmentVariables" || key == "parameters" ||
           key == "jobs" || key == "searchSpace" || key == "conf";
}

// What a client says of a job; the rest of its properties is the server's.
bool is_of_the_definition(std::string_view key) {
    constexpr std::array kKeys = {
        "jobType",
        "displayName",
        "description",
        "experimentName",
        "tags",
        "properties",
        "computeId",
        "inputs",
        "outputs",
        "isArchived",
        "jobs",
        "settings",
        "componentId",
        "trial",
        "searchSpace",
        "objective",
        "limits",
        "samplingAlgorithm",
        "earlyTermination",
        "taskDetails",
        "entry",
        "conf",
        "args",
        "pyFiles",
        "jars",
        "files",
        "archives",
        "codeId",
        "environmentId",
        "environmentVariables",
        "resources",
        "identity",
        "queueSettings",
        "fineTuningDetails",
        "parentJobName",
    };
    return std::ranges::find(kKeys, key) != kKeys.end();
}

}  // namespace

Json definition_of(const Json& arm) {
    Json properties = Json::object();
    for (const auto& [key, value] : arm["properties"].members()) {
        if (is_of_the_definition(key) && !value.is_null()) properties.set(key, value);
    }
    if (properties["displayName"] == arm["name"]) properties.remove("displayName");  // It was made up.
    properties.set("isArchived", false);
    return Json::object({{"properties", std::move(properties)}});
}

std::string group_of(std::string_view id) {
    const auto parts = split(id, '/');
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        if (equals_ignoring_case(parts[i], "resourceGroups")) return std::string(parts[i + 1]);
    return {};
}

Json az_creation(const Json& system) {
    return Json::object({{"created_at", az_time(system["createdAt"].text())},
                         {"created_by", system["createdBy"]},
                         {"created_by_type", system["createdByType"]},
                         {"last_modified_at", az_time(system["lastModifiedAt"].text())}});
}

Json to_az_job(const Json& arm) {
    const Json& properties = arm["properties"];
    Json out = Json::object();
    for (const auto& [key, value] : properties.members()) {
        if (value.is_null() || translate(out, key, value)) continue;
        out.set(snake(key), has_users_keys(key) ? value : with_snake_keys(value));
    }
    out.set("name", arm["name"]);
    out.set("id", "azureml:" + arm["id"].string());
    out.set("creation_context", az_creation(arm["systemData"]));
    set_text(out, "resourceGroup", group_of(arm["id"].text()));
    std::ranges::sort(out.mutable_members(), {}, &Json::Member::key);
    return out;
}

Json to_job_file(const Json& az_job) {
    constexpr std::array kOfTheFile = {
        "type",     "display_name", "description",    "experiment_name", "command",
        "code",     "component",    "environment",    "compute",         "environment_variables",
        "inputs",   "outputs",      "resources",      "distribution",    "limits",
        "identity", "tags",         "queue_settings", "properties"};
    Json out =
        Json::object({{"$schema", "https://azuremlschemas.azureedge.net/latest/commandJob.schema.json"}});
    for (const char* key : kOfTheFile) {
        const Json& value = az_job[key];
        if (value.is_null() || ((value.is_object() || value.is_array()) && value.size() == 0)) continue;
        out.set(key, value);
    }
    if (az_job["display_name"] == az_job["name"]) out.remove("display_name");  // It was made up.
    if (out["resources"]["properties"].size() == 0 && out.has("resources"))
        out.member("resources").remove("properties");
    return out;
}

}  // namespace lavant::wire
