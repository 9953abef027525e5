#include "wire/compute_to_arm.h"

#include <chrono>
#include <utility>

#include "base/time.h"
#include "core/model/size.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

using spec::ComputeSpec;
using spec::ComputeText;

template <class T>
Json list_of(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.append(value);
    return list;
}

const char* on_or_off(bool on) { return on ? "Enabled" : "Disabled"; }

Json identity_of(const spec::ComputeIdentitySpec& identity) {
    Json value = Json::object();
    if (identity.type == "none") return value.set("type", "None");
    const bool system = identity.type.starts_with("system_assigned");
    const bool user = identity.type.ends_with("user_assigned");
    value.set("type", system && user ? "SystemAssigned,UserAssigned"
                      : user         ? "UserAssigned"
                                     : "SystemAssigned");
    if (!user) return value;
    Json users = Json::object();
    for (const std::string& id : identity.user_assigned) users.set(id, Json::object());
    return value.set("userAssignedIdentities", std::move(users));
}

Json subnet_of(const spec::NetworkSpec& network, const WorkspaceName& workspace) {
    if (network.subnet.starts_with("/")) return Json::object({{"id", network.subnet}});
    return Json::object(
        {{"id", "/subscriptions/" + workspace.subscription + "/resourceGroups/" + workspace.resource_group +
                    "/providers/Microsoft.Network/virtualNetworks/" + network.vnet_name + "/subnets/" +
                    network.subnet}});
}

Json scale_of(const Scale& scale, bool whole) {
    Json value = Json::object();
    if (whole || scale.nodes_max) value.set("maxNodeCount", scale.nodes_max.value_or(kDefaultNodesMax));
    if (whole || scale.nodes_min) value.set("minNodeCount", scale.nodes_min.value_or(kDefaultNodesMin));
    if (whole || scale.idle_seconds)
        value.set("nodeIdleTimeBeforeScaleDown",
                  to_iso_duration(std::chrono::seconds(scale.idle_seconds.value_or(kDefaultIdleSeconds))));
    return value;
}

Json cluster_of(const ComputeSpec& spec, bool whole, const WorkspaceName& workspace) {
    Json value = Json::object();
    if (whole) value.set("osType", "Linux");
    set_text(value, "vmSize", whole && spec.size.empty() ? std::string(kDefaultSize) : spec.size);
    if (spec.tier) value.set("vmPriority", *spec.tier == Tier::LowPriority ? "LowPriority" : "Dedicated");
    if (spec.ssh) {
        Json account = Json::object({{"adminUserName", spec.ssh->admin_username}});
        set_text(account, "adminUserSshPublicKey", spec.ssh->public_key);
        value.set("userAccountCredentials", std::move(account));
    }
    if (Json scale = scale_of(spec.scale, whole); scale.size() > 0)
        value.set("scaleSettings", std::move(scale));
    if (spec.network) value.set("subnet", subnet_of(*spec.network, workspace));
    if (spec.ssh_public_access) {
        value.set("remoteLoginPortPublicAccess", on_or_off(*spec.ssh_public_access));
    } else if (whole) {
        value.set("remoteLoginPortPublicAccess", "NotSpecified");
    }
    if (whole || spec.node_public_ip) value.set("enableNodePublicIp", spec.node_public_ip.value_or(true));
    set_text(value, "nodeSharing", spec.node_sharing);
    return value;
}

Json schedule_of(const spec::PowerScheduleSpec& schedule) {
    const bool cron = schedule.trigger == "cron";
    Json trigger = Json::object({{"triggerType", cron ? "Cron" : "Recurrence"}});
    set_text(trigger, "startTime", schedule.start_time);
    set_text(trigger, "timeZone", schedule.time_zone);
    set_text(trigger, "expression", schedule.expression);
    set_text(trigger, "frequency", schedule.frequency);
    set_value(trigger, "interval", schedule.interval);
    if (schedule.has_pattern) {
        Json pattern =
            Json::object({{"hours", list_of(schedule.hours)}, {"minutes", list_of(schedule.minutes)}});
        if (!schedule.week_days.empty()) pattern.set("weekDays", list_of(schedule.week_days));
        trigger.set("schedule", std::move(pattern));
    }
    return Json::object({{"action", schedule.action},
                         {"status", on_or_off(schedule.enabled)},
                         {"triggerType", cron ? "Cron" : "Recurrence"},
                         {cron ? "cron" : "recurrence", std::move(trigger)}});
}

Json script_of(const spec::ScriptSpec& script) {
    Json value = Json::object({{"scriptSource", "workspaceStorage"}});
    set_text(value, "scriptData", script.path);
    set_text(value, "scriptArguments", script.command);
    if (script.timeout_minutes) value.set("timeout", std::to_string(*script.timeout_minutes) + "m");
    return value;
}

Json application_of(const spec::ApplicationSpec& application) {
    Json endpoints = Json::array();
    for (const auto& endpoint : application.endpoints)
        endpoints.append(Json::object({{"name", "connect"},
                                       {"target", endpoint.target},
                                       {"published", endpoint.published},
                                       {"protocol", "http"}}));
    Json volumes = Json::array();
    for (const auto& mount : application.mounts)
        volumes.append(Json::object(
            {{"type", "bind"}, {"readOnly", false}, {"source", mount.source}, {"target", mount.target}}));
    Json variables = Json::object();
    for (const auto& [name, text] : application.variables)
        variables.set(name, Json::object({{"type", "local"}, {"value", text}}));
    return Json::object({{"name", application.name},
                         {"type", "docker"},
                         {"image", Json::object({{"type", "docker"}, {"reference", application.image}})},
                         {"endpoints", std::move(endpoints)},
                         {"environmentVariables", std::move(variables)},
                         {"volumes", std::move(volumes)},
                         {"docker", Json::object({{"privileged", true}})}});
}

void set_switch(Json& object, const char* key, const std::optional<bool>& value, bool whole, bool otherwise) {
    if (whole || value) object.set(key, value.value_or(otherwise));
}

void set_scripts(Json& value, const spec::InstanceSpec& instance) {
    if (!instance.creation_script && !instance.startup_script) return;
    Json scripts = Json::object();
    if (instance.startup_script) scripts.set("startupScript", script_of(*instance.startup_script));
    if (instance.creation_script) scripts.set("creationScript", script_of(*instance.creation_script));
    value.set("setupScripts", Json::object({{"scripts", std::move(scripts)}}));
}

Json instance_of(const ComputeSpec& spec, bool whole, const WorkspaceName& workspace) {
    const spec::InstanceSpec& instance = spec.instance;
    Json value = Json::object();
    set_text(value, "vmSize", whole && spec.size.empty() ? std::string(kDefaultSize) : spec.size);
    if (spec.network) value.set("subnet", subnet_of(*spec.network, workspace));
    if (spec.ssh || spec.ssh_public_access) {
        Json ssh = Json::object({{"sshPublicAccess", on_or_off(spec.ssh_public_access.value_or(false))}});
        if (spec.ssh) set_text(ssh, "adminPublicKey", spec.ssh->public_key);
        value.set("sshSettings", std::move(ssh));
    }
    if (!instance.user_object_id.empty())
        value.set("personalComputeInstanceSettings",
                  Json::object({{"assignedUser", Json::object({{"objectId", instance.user_object_id},
                                                               {"tenantId", instance.user_tenant_id}})}}));
    set_text(value, "idleTimeBeforeShutdown", instance.idle_before_shutdown);
    set_switch(value, "enableNodePublicIp", spec.node_public_ip, whole, true);
    set_switch(value, "enableSSO", instance.sso, whole, true);
    set_switch(value, "enableRootAccess", instance.root_access, whole, true);
    set_switch(value, "releaseQuotaOnStop", instance.release_quota_on_stop, whole, false);
    set_switch(value, "enableOSPatching", instance.os_patching, whole, false);
    if (whole) value.set("applicationSharingPolicy", "Shared");
    if (whole) value.set("computeInstanceAuthorizationType", "personal");
    if (!instance.schedules.empty()) {
        Json list = Json::array();
        for (const auto& schedule : instance.schedules) list.append(schedule_of(schedule));
        value.set("schedules", Json::object({{"computeStartStop", std::move(list)}}));
    }
    set_scripts(value, instance);
    if (!instance.applications.empty()) {
        Json list = Json::array();
        for (const auto& application : instance.applications) list.append(application_of(application));
        value.set("customServices", std::move(list));
    }
    return value;
}

Json attached_of(const ComputeSpec& spec, bool whole) {
    Json value = Json::object();
    if (spec.kind == ComputeKind::Kubernetes) {
        if (spec.kube_properties) value = to_json(*spec.kube_properties);
        set_text(value, "namespace", whole && spec.kube_namespace.empty() ? "default" : spec.kube_namespace);
    }
    if (spec.kind == ComputeKind::VirtualMachine && spec.ssh) {
        value.set("sshPort", spec.ssh->port.value_or(22));
        value.set("administratorAccount", Json::object({{"username", spec.ssh->admin_username}}));
    }
    return value;
}

}  // namespace

Json to_arm_compute(const ComputeSpec& spec, ComputeText text, const WorkspaceName& workspace) {
    const bool whole = text == ComputeText::Whole;
    Json properties = Json::object({{"computeType", arm_name_of(spec.kind)}});
    if (spec.description) properties.set("description", *spec.description);
    set_text(properties, "resourceId", spec.resource_id);
    Json own;
    if (spec.kind == ComputeKind::Cluster) {
        own = cluster_of(spec, whole, workspace);
        if (whole) properties.set("disableLocalAuth", !spec.ssh);
    } else if (spec.kind == ComputeKind::Instance) {
        own = instance_of(spec, whole, workspace);
        if (whole) properties.set("disableLocalAuth", !spec.ssh_public_access.value_or(false));
    } else {
        own = attached_of(spec, whole);
    }
    if (own.size() > 0) properties.set("properties", std::move(own));
    Json body = Json::object();
    set_text(body, "location", spec.location);
    if (spec.tags) body.set("tags", to_json(*spec.tags));
    if (spec.identity) body.set("identity", identity_of(*spec.identity));
    body.set("properties", std::move(properties));
    return body;
}

}  // namespace lavant::wire
