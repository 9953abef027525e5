#include "wire/az_compute.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "core/model/compute.h"
#include "wire/az_job.h"

namespace lavant::wire {
namespace {

std::string snake(std::string_view name) { return part_words(name, '_'); }

void set_if(Json& object, std::string_view key, const Json& value) {
    if (!value.is_null()) object.set(key, value);
}

Json identity_of(const Json& identity) {
    const std::string_view type = identity["type"].text();
    Json out = Json::object(
        {{"type", type == "SystemAssigned,UserAssigned" ? "system_assigned,user_assigned" : snake(type)}});
    Json users = Json::array();
    for (const Json::Member& user : identity["userAssignedIdentities"].members())
        users.append(Json::object({{"resource_id", user.key}}));
    if (users.size() > 0) out.set("user_assigned_identities", std::move(users));
    return out;
}

std::int64_t seconds_of(const Json& length) {
    const auto parsed = parse_iso_duration(length.text());
    return parsed ? std::chrono::duration_cast<std::chrono::seconds>(*parsed).count() : length.integer();
}

Json network_of(const Json& inner) {
    Json out = Json::object();
    set_if(out, "subnet", inner.get("subnet.id"));
    return out;
}

void add_cluster(Json& out, const Json& inner) {
    set_if(out, "size", inner["vmSize"]);
    out.set("tier", snake(inner["vmPriority"].text()));
    const Json& scale = inner["scaleSettings"];
    set_if(out, "min_instances", scale["minNodeCount"]);
    set_if(out, "max_instances", scale["maxNodeCount"]);
    if (scale.has("nodeIdleTimeBeforeScaleDown"))
        out.set("idle_time_before_scale_down", seconds_of(scale["nodeIdleTimeBeforeScaleDown"]));
    out.set("network_settings", network_of(inner));
    out.set("ssh_public_access_enabled", inner["remoteLoginPortPublicAccess"].text() == "Enabled");
    if (const Json& account = inner["userAccountCredentials"]; account.is_object()) {
        Json ssh = Json::object({{"admin_username", account["adminUserName"]}});
        set_if(ssh, "ssh_key_value", account["adminUserSshPublicKey"]);
        out.set("ssh_settings", std::move(ssh));
    }
    set_if(out, "enable_node_public_ip", inner["enableNodePublicIp"]);
    set_if(out, "node_sharing", inner["nodeSharing"]);
}

Json schedule_of(const Json& schedule) {
    const Json& said = schedule.has("cron") ? schedule["cron"] : schedule["recurrence"];
    Json trigger = Json::object({{"type", schedule.has("cron") ? "cron" : "recurrence"}});
    for (const auto& [key, value] : said.members()) {
        if (value.is_null() || key == "triggerType") continue;
        if (key != "schedule") {
            trigger.set(snake(key), value);
            continue;
        }
        Json pattern = Json::object();
        for (const auto& [name, list] : value.members()) pattern.set(snake(name), list);
        trigger.set("schedule", std::move(pattern));
    }
    return Json::object({{"action", to_lower(schedule["action"].text())},
                         {"state", to_lower(schedule["status"].text())},
                         {"trigger", std::move(trigger)}});
}

Json script_of(const Json& script) {
    Json out = Json::object();
    set_if(out, "path", script["scriptData"]);
    set_if(out, "command", script["scriptArguments"]);
    const std::string_view minutes = script["timeout"].text();
    if (minutes.ends_with('m'))
        if (const auto number = parse_integer(minutes.substr(0, minutes.size() - 1)))
            out.set("timeout_minutes", *number);
    return out;
}

Json application_of(const Json& service) {
    Json endpoints = Json::array();
    for (const Json& one : service["endpoints"].items())
        endpoints.append(Json::object({{"target", one["target"]}, {"published", one["published"]}}));
    Json mounts = Json::array();
    for (const Json& one : service["volumes"].items())
        mounts.append(Json::object({{"source", one["source"]}, {"target", one["target"]}}));
    Json variables = Json::object();
    for (const auto& [name, value] : service["environmentVariables"].members())
        variables.set(name, value["value"]);
    return Json::object({{"name", service["name"]},
                         {"type", "docker"},
                         {"image", Json::object({{"reference", service.get("image.reference")}})},
                         {"endpoints", std::move(endpoints)},
                         {"environment_variables", std::move(variables)},
                         {"bind_mounts", std::move(mounts)}});
}

void add_instance_extras(Json& out, const Json& inner) {
    if (const Json& list = inner.get("schedules.computeStartStop"); list.size() > 0) {
        Json schedules = Json::array();
        for (const Json& one : list.items()) schedules.append(schedule_of(one));
        out.set("schedules", Json::object({{"compute_start_stop", std::move(schedules)}}));
    }
    if (const Json& scripts = inner.get("setupScripts.scripts"); scripts.is_object()) {
        Json setup = Json::object();
        if (scripts["creationScript"].is_object())
            setup.set("creation_script", script_of(scripts["creationScript"]));
        if (scripts["startupScript"].is_object())
            setup.set("startup_script", script_of(scripts["startupScript"]));
        out.set("setup_scripts", std::move(setup));
    }
    if (inner["customServices"].size() == 0) return;
    Json applications = Json::array();
    for (const Json& one : inner["customServices"].items()) applications.append(application_of(one));
    out.set("custom_applications", std::move(applications));
}

void add_instance(Json& out, const Json& inner) {
    set_if(out, "size", inner["vmSize"]);
    set_if(out, "state", inner["state"]);
    out.set("network_settings", network_of(inner));
    const Json& ssh = inner["sshSettings"];
    out.set("ssh_public_access_enabled", ssh["sshPublicAccess"].text() == "Enabled");
    if (!ssh["adminPublicKey"].is_null())
        out.set("ssh_settings", Json::object({{"ssh_key_value", ssh["adminPublicKey"]}}));
    if (inner.has("idleTimeBeforeShutdown")) {
        out.set("idle_time_before_shutdown", inner["idleTimeBeforeShutdown"]);
        out.set("idle_time_before_shutdown_minutes", seconds_of(inner["idleTimeBeforeShutdown"]) / 60);
    }
    if (const Json& user = inner.get("personalComputeInstanceSettings.assignedUser"); user.is_object())
        out.set("create_on_behalf_of",
                Json::object({{"user_tenant_id", user["tenantId"]}, {"user_object_id", user["objectId"]}}));
    set_if(out, "enable_node_public_ip", inner["enableNodePublicIp"]);
    set_if(out, "enable_sso", inner["enableSSO"]);
    set_if(out, "enable_root_access", inner["enableRootAccess"]);
    set_if(out, "release_quota_on_stop", inner["releaseQuotaOnStop"]);
    set_if(out, "enable_os_patching", inner["enableOSPatching"]);
    add_instance_extras(out, inner);
}

void add_attached(Json& out, const Json& properties, ComputeKind kind) {
    const Json& inner = properties["properties"];
    if (kind == ComputeKind::Kubernetes) {
        out.set("namespace", inner["namespace"].string("default"));
        out.set("properties", inner);
    }
    if (kind != ComputeKind::VirtualMachine || !inner["administratorAccount"].is_object()) return;
    Json ssh = Json::object({{"admin_username", inner.get("administratorAccount.username")}});
    set_if(ssh, "ssh_port", inner["sshPort"]);
    out.set("ssh_settings", std::move(ssh));
}

// Of one cluster: how its nodes are, and what keeps it from having more.
Json own_part(const Json& arm, ComputeKind kind) {
    const Json& properties = arm["properties"];
    Json own = Json::object();
    if (!arm["systemData"]["createdBy"].text().empty()) own.set("created_by", arm["systemData"]["createdBy"]);
    for (const auto& [key, value] : properties["lavant"].members()) own.set(snake(key), value);
    if (kind != ComputeKind::Cluster) return own;
    const Json& inner = properties["properties"];
    Json nodes = Json::object();
    for (const auto& [key, count] : inner["nodeStateCounts"].members())
        nodes.set(key.substr(0, key.find("NodeCount")), count);
    own.set("nodes", std::move(nodes));
    set_if(own, "current_node_count", inner["currentNodeCount"]);
    set_if(own, "target_node_count", inner["targetNodeCount"]);
    if (inner.has("allocationState")) own.set("allocation_state", to_lower(inner["allocationState"].text()));
    return own;
}

}  // namespace

Json to_az_compute(const Json& arm) {
    const Json& properties = arm["properties"];
    const std::string_view type = properties["computeType"].text();
    const ComputeKind kind = parse_compute_kind(type).value_or(ComputeKind::DataFactory);
    Json out = Json::object({{"type", to_lower(type)}, {"name", arm["name"]}, {"id", arm["id"]}});
    set_if(out, "description", properties["description"]);
    set_if(out, "location", arm["location"]);
    set_if(out, "provisioning_state", properties["provisioningState"]);
    set_if(out, "created_on", properties["createdOn"]);
    set_if(out, "resource_id", properties["resourceId"]);
    if (arm["tags"].size() > 0) out.set("tags", arm["tags"]);
    if (arm["identity"].is_object()) out.set("identity", identity_of(arm["identity"]));
    if (const std::string group = group_of(arm["id"].text()); !group.empty()) out.set("resourceGroup", group);
    if (kind == ComputeKind::Cluster) add_cluster(out, properties["properties"]);
    if (kind == ComputeKind::Instance) add_instance(out, properties["properties"]);
    if (is_attached(kind)) add_attached(out, properties, kind);
    if (Json own = own_part(arm, kind); own.size() > 0) out.set("lavant", std::move(own));
    std::ranges::sort(out.mutable_members(), {}, &Json::Member::key);
    return out;
}

Json to_az_node(const Json& arm) {
    Json out = Json::object();
    set_if(out, "current_job_name", arm["runId"]);
    for (const char* key : {"nodeId", "nodeState", "port", "privateIpAddress", "publicIpAddress"})
        out.set(snake(key), arm[key]);
    return out;
}

}  // namespace lavant::wire
