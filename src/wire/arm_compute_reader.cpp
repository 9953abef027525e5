#include "wire/arm_compute_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "core/model/lock_scope.h"
#include "core/model/region.h"
#include "core/model/size.h"
#include "core/spec/fields.h"

namespace lavant::wire {
namespace {

constexpr const char* kInner = "properties.properties.";
constexpr const char* kScale = "properties.properties.scaleSettings.";

// Every member of `properties.properties` that a client may say; the rest is the server's to say, or unknown.
constexpr std::array kOfCluster = {"osType",
                                   "vmSize",
                                   "vmPriority",
                                   "virtualMachineImage",
                                   "isolatedNetwork",
                                   "scaleSettings",
                                   "userAccountCredentials",
                                   "subnet",
                                   "remoteLoginPortPublicAccess",
                                   "enableNodePublicIp",
                                   "nodeSharing"};
constexpr std::array kOfScale = {"minNodeCount", "maxNodeCount", "nodeIdleTimeBeforeScaleDown"};
constexpr std::array kOfInstance = {"vmSize",
                                    "subnet",
                                    "applicationSharingPolicy",
                                    "sshSettings",
                                    "computeInstanceAuthorizationType",
                                    "personalComputeInstanceSettings",
                                    "idleTimeBeforeShutdown",
                                    "enableNodePublicIp",
                                    "enableSSO",
                                    "enableRootAccess",
                                    "releaseQuotaOnStop",
                                    "enableOSPatching",
                                    "schedules",
                                    "setupScripts",
                                    "customServices"};

template <std::size_t N>
Json only(const Json& object, const std::array<const char*, N>& keys) {
    Json out = Json::object();
    for (const char* key : keys)
        if (!object[key].is_null()) out.set(key, object[key]);
    return out;
}

void set_default(Json& object, std::string_view key, Json value) {
    if (object[key].is_null()) object.set(key, std::move(value));
}

Json read_tags(ComputeReader& reader, const Json& sent) {
    Json tags = Json::object();
    std::map<std::string, std::string> checked;
    const Json said = reader.object(sent, "tags", "tags");
    for (const Json::Member& tag : said.members()) {
        if (tag.value.is_object() || tag.value.is_array()) {
            reader.problem("tags." + tag.key.substr(0, 80), "must be a string");
            continue;
        }
        const std::string value = tag.value.is_null() ? "" : tag.value.scalar_text();
        tags.set(tag.key, value);
        checked[tag.key] = value;
    }
    for (auto& [name, message] : spec::check_tags(checked))
        reader.problem(name.empty() ? "tags" : "tags." + name.substr(0, 80), std::move(message));
    return tags;
}

Json read_identity(ComputeReader& reader, const Json& sent) {
    const Json identity = reader.object(sent, "identity", "identity");
    if (identity.size() == 0) return nullptr;
    std::string word = reader.text(identity["type"], "identity.type");
    std::erase(word, ' ');
    const auto type =
        spec::match_choice(word, {"None", "SystemAssigned", "UserAssigned", "SystemAssigned,UserAssigned"});
    if (!type) {
        reader.problem("identity.type", "must be SystemAssigned, UserAssigned, both with a comma, or None");
        return nullptr;
    }
    Json out = Json::object({{"type", *type}});
    if (!type->ends_with("UserAssigned")) return out;
    Json users = Json::object();
    const Json said = reader.object(identity, "userAssignedIdentities", "identity.userAssignedIdentities");
    for (const Json::Member& user : said.members()) {
        if (user.key.empty() || user.key.size() > spec::kComputeTextBytes)
            reader.problem("identity.userAssignedIdentities", "has an id that is empty or too long");
        users.set(user.key, Json::object());
    }
    if (users.size() == 0) reader.problem("identity.userAssignedIdentities", "is missing; name at least one");
    if (users.size() > spec::kComputeItemsMost)
        reader.problem("identity.userAssignedIdentities",
                       "has too many: at most " + std::to_string(spec::kComputeItemsMost));
    return out.set("userAssignedIdentities", std::move(users));
}

void read_size(ComputeReader& reader, Json& inner, ArmCompute& out) {
    set_default(inner, "vmSize", kDefaultSize);
    out.size = reader.text(inner["vmSize"], kSizePath);
}

void read_subnet(ComputeReader& reader, Json& inner, ArmCompute& out) {
    const std::string path = std::string(kInner) + "subnet";
    const Json subnet = reader.object(inner, "subnet", path);
    const std::string id = reader.text(subnet["id"], path + ".id");
    if (id.empty()) {
        inner.remove("subnet");
        return;
    }
    if (!is_subnet_id(id))
        reader.problem(path + ".id",
                       "must be the whole id of a subnet: /subscriptions/S/resourceGroups/G/providers/"
                       "Microsoft.Network/virtualNetworks/V/subnets/NAME");
    out.subnet = to_lower(id);
    inner.set("subnet", Json::object({{"id", id}}));
}

void read_scale(ComputeReader& reader, Json& inner, ArmCompute& out) {
    const std::string scale_path = std::string(kInner) + "scaleSettings";
    Json scale = only(reader.object(inner, "scaleSettings", scale_path), kOfScale);
    set_default(scale, "minNodeCount", kDefaultNodesMin);
    set_default(scale, "maxNodeCount", kDefaultNodesMax);
    set_default(scale, "nodeIdleTimeBeforeScaleDown", kDefaultIdleSeconds);
    const auto path = [](const char* key) { return std::string(kScale) + key; };
    const Scale asked{
        reader.integer(scale["minNodeCount"], path("minNodeCount")),
        reader.integer(scale["maxNodeCount"], path("maxNodeCount")),
        reader.seconds(scale["nodeIdleTimeBeforeScaleDown"], path("nodeIdleTimeBeforeScaleDown"))};
    const auto problems = check_scale(asked);
    for (const ScaleProblem& problem : problems)
        reader.problem(path(problem.of == ScaleProblem::Of::Min   ? "minNodeCount"
                            : problem.of == ScaleProblem::Of::Max ? "maxNodeCount"
                                                                  : "nodeIdleTimeBeforeScaleDown"),
                       problem.message);
    if (!problems.empty() || !asked.nodes_min || !asked.nodes_max || !asked.idle_seconds) return;
    out.nodes_min = static_cast<int>(*asked.nodes_min);
    out.nodes_max = static_cast<int>(*asked.nodes_max);
    out.idle_before_release = std::chrono::seconds(*asked.idle_seconds);
    scale.set("nodeIdleTimeBeforeScaleDown", to_iso_duration(out.idle_before_release));
    inner.set("scaleSettings", only(scale, kOfScale));
}

void read_cluster_ssh(ComputeReader& reader, Json& inner) {
    const std::string access_path = std::string(kInner) + "remoteLoginPortPublicAccess";
    const std::string access = reader.choice(inner["remoteLoginPortPublicAccess"], access_path,
                                             {"Enabled", "Disabled", "NotSpecified"});
    inner.set("remoteLoginPortPublicAccess", access == "Enabled" ? "Enabled" : "Disabled");
    const std::string path = std::string(kInner) + "userAccountCredentials";
    const Json account = only(reader.object(inner, "userAccountCredentials", path),
                              std::array{"adminUserName", "adminUserSshPublicKey"});
    reader.text(account["adminUserName"], path + ".adminUserName");
    reader.text(account["adminUserSshPublicKey"], path + ".adminUserSshPublicKey", spec::kComputeKeyBytes);
    inner.remove("userAccountCredentials");
    if (account.size() > 0) inner.set("userAccountCredentials", account);
}

void read_cluster(ComputeReader& reader, Json& properties, ArmCompute& out) {
    Json inner = only(reader.object(properties, "properties", "properties.properties"), kOfCluster);
    read_size(reader, inner, out);
    read_subnet(reader, inner, out);
    const std::string tier =
        reader.choice(inner["vmPriority"], std::string(kInner) + "vmPriority", {"Dedicated", "LowPriority"});
    out.tier = tier == "LowPriority" ? Tier::LowPriority : Tier::Dedicated;
    inner.set("vmPriority", out.tier == Tier::LowPriority ? "LowPriority" : "Dedicated");
    read_scale(reader, inner, out);
    read_cluster_ssh(reader, inner);
    const std::string ip_path = std::string(kInner) + "enableNodePublicIp";
    inner.set("enableNodePublicIp", reader.boolean(inner["enableNodePublicIp"], ip_path).value_or(true));
    const std::string sharing =
        reader.choice(inner["nodeSharing"], std::string(kInner) + "nodeSharing", {"exclusive", "packed"});
    out.packed = sharing == "packed";
    inner.remove("nodeSharing");
    if (out.packed) inner.set("nodeSharing", "packed");
    inner.set("osType", "Linux");
    properties.set("disableLocalAuth", !inner.has("userAccountCredentials"));
    properties.set("properties", only(inner, kOfCluster));
}

void read_instance(ComputeReader& reader, Json& properties, ArmCompute& out) {
    const Json& said = properties["properties"];
    out.running = said["state"].text() != "Stopped";
    Json inner = only(reader.object(properties, "properties", "properties.properties"), kOfInstance);
    read_size(reader, inner, out);
    read_subnet(reader, inner, out);
    out.nodes_min = out.nodes_max = out.running ? 1 : 0;
    const std::string idle_path = std::string(kInner) + "idleTimeBeforeShutdown";
    const auto idle = reader.seconds(inner["idleTimeBeforeShutdown"], idle_path);
    if (idle && (*idle < 60 || *idle > spec::kShutdownMinutesMost * 60))
        reader.problem(idle_path, "must be from a minute to 30 days");
    for (const char* key :
         {"enableNodePublicIp", "enableSSO", "enableRootAccess", "releaseQuotaOnStop", "enableOSPatching"})
        reader.boolean(inner[key], std::string(kInner) + key);
    for (const char* key : {"sshSettings", "personalComputeInstanceSettings", "schedules", "setupScripts"})
        static_cast<void>(reader.object(inner, key, std::string(kInner) + key));
    for (const char* key : {"idleTimeBeforeShutdown", "schedules", "setupScripts", "customServices"})
        if (const Json& value = inner[key]; value.size() > 0 || value.is_string() || value.is_integer())
            out.warnings.push_back(std::string(key) + " is kept and shown; nothing acts on it yet");
    properties.set("properties", only(inner, kOfInstance).set("state", out.running ? "Running" : "Stopped"));
}

void read_attached(ComputeReader& reader, Json& properties) {
    const std::string id = reader.text(properties["resourceId"], "properties.resourceId");
    if (properties["resourceId"].is_null()) {
        reader.problem("properties.resourceId", "is missing; say what is attached");
    } else if (!id.empty() && !to_lower(id).starts_with("/subscriptions/")) {
        reader.problem("properties.resourceId", "is no id of a resource: those begin with /subscriptions/");
    }
    properties.set("properties", reader.object(properties, "properties", "properties.properties"));
}

void read_location(ComputeReader& reader, const Json& sent, ArmCompute& out) {
    out.location = kLocalRegion;
    const std::string asked = reader.text(sent["location"], "location");
    if (asked.empty()) return;
    const auto region = find_region(asked);
    if (!region) return reader.problem("location", region_problem(asked));
    if (out.kind == ComputeKind::Cluster) {
        out.location = *region;
    } else if (*region != kLocalRegion) {
        out.warnings.push_back("location " + *region +
                               " has no effect; only a cluster can be in another region");
    }
    if (out.location != kLocalRegion)
        out.warnings.push_back("the cluster is in " + out.location + ", the workspace in " +
                               std::string(kLocalRegion) +
                               ": jobs may see higher network latency, and moving data between them may cost "
                               "money");
}

}  // namespace

void ComputeReader::problem(const std::string& path, std::string message) {
    problems_.add(path, {}, std::move(message));
}

Json ComputeReader::object(const Json& parent, const std::string& key, const std::string& path) {
    const Json& value = parent[key];
    if (value.is_object()) return value;
    if (!value.is_null())
        problem(path, "must be an object, but is of type " + std::string(value.type_name()));
    return Json::object();
}

std::string ComputeReader::text(const Json& value, const std::string& path, std::size_t bytes_most) {
    if (value.is_null()) return {};
    if (!value.is_string()) {
        problem(path, "must be a string, but is of type " + std::string(value.type_name()));
        return {};
    }
    if (value.text().size() > bytes_most) {
        problem(path, "is too long: at most " + std::to_string(bytes_most) + " bytes");
        return {};
    }
    return value.string();
}

std::string ComputeReader::choice(const Json& value, const std::string& path,
                                  const std::vector<std::string>& allowed) {
    const std::string word = text(value, path);
    if (word.empty()) return {};
    if (auto match = spec::match_choice(word, allowed)) return std::move(*match);
    problem(path, "cannot be '" + word.substr(0, 80) + "'; it must be " + spec::listed(allowed));
    return {};
}

std::optional<std::int64_t> ComputeReader::integer(const Json& value, const std::string& path) {
    if (value.is_null()) return std::nullopt;
    if (value.is_integer()) return value.integer();
    problem(path, "must be an integer, but is " + value.dump().substr(0, 80));
    return std::nullopt;
}

std::optional<std::int64_t> ComputeReader::seconds(const Json& value, const std::string& path) {
    if (value.is_string()) {
        // A length that fits no counter at all is as absurd as one above the limit.
        const auto length = parse_iso_duration(value.text());
        if (length) return std::chrono::duration_cast<std::chrono::seconds>(*length).count();
        problem(path, "must be a time like PT2M, not '" + value.string().substr(0, 80) + "'");
        return std::nullopt;
    }
    return integer(value, path);
}

std::optional<bool> ComputeReader::boolean(const Json& value, const std::string& path) {
    if (value.is_null()) return std::nullopt;
    if (value.is_boolean()) return value.boolean();
    problem(path, "must be true or false");
    return std::nullopt;
}

ArmCompute read_document(ComputeReader& reader, const Json& sent, ComputeKind kind) {
    ArmCompute out;
    out.kind = kind;
    read_location(reader, sent, out);
    Json properties = Json::object({{"computeType", arm_name_of(kind)}});
    const Json& said = sent["properties"];
    const std::string description =
        reader.text(said["description"], "properties.description", spec::kComputeDescriptionBytes);
    if (!description.empty()) properties.set("description", description);
    if (!said["resourceId"].is_null()) properties.set("resourceId", said["resourceId"]);
    properties.set("properties", said["properties"].is_null() ? Json::object() : said["properties"]);
    if (kind == ComputeKind::Cluster) {
        read_cluster(reader, properties, out);
    } else if (kind == ComputeKind::Instance) {
        read_instance(reader, properties, out);
        properties.set("disableLocalAuth", said["disableLocalAuth"].boolean(true));
    } else {
        read_attached(reader, properties);
    }
    out.document = Json::object({{"location", out.location}, {"tags", read_tags(reader, sent)}});
    if (Json identity = read_identity(reader, sent); !identity.is_null())
        out.document.set("identity", std::move(identity));
    out.document.set("properties", std::move(properties));
    return out;
}

}  // namespace lavant::wire
