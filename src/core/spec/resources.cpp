#include "base/limits.h"
#include "base/text.h"
#include "core/model/size.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

struct Range {
    std::int64_t least = 0;
    std::int64_t most = 0;
};

std::optional<int> read_number(Fields& fields, std::string_view key, Range range) {
    const auto number = fields.integer(key);
    if (!number) return std::nullopt;
    if (*number < range.least || *number > range.most) {
        fields.problem(key, "must be between " + std::to_string(range.least) + " and " +
                                std::to_string(range.most) + ", not " + std::to_string(*number));
        return std::nullopt;
    }
    return static_cast<int>(*number);
}

constexpr Range kInstances{1, limits::kInstancesPerJob};
constexpr Range kPort{1, 65'535};

bool is_shm_size(std::string_view text) {
    if (text.empty()) return false;
    const char unit = text.back();
    if (std::string_view("bkmgBKMG").find(unit) != std::string_view::npos) text.remove_suffix(1);
    const auto number = parse_integer(text);
    return number && *number > 0;
}

void read_docker_args(Fields& fields, ResourcesSpec& resources) {
    const Document* args = fields.find("docker_args");
    if (args != nullptr && args->is_list()) {
        resources.docker_args_list = fields.strings("docker_args");
    } else {
        resources.docker_args = fields.string("docker_args");
    }
    if (!fields.has("docker_args_list")) return;
    if (args != nullptr)
        fields.problem("docker_args_list", "cannot stand beside docker_args; keep one of the two");
    resources.docker_args_list = fields.strings("docker_args_list");
}

DistributionSpec read_ray(Fields& fields) {
    DistributionSpec ray;
    ray.port = read_number(fields, "port", kPort);
    ray.address = fields.string("address");
    ray.include_dashboard = fields.boolean("include_dashboard");
    ray.dashboard_port = read_number(fields, "dashboard_port", kPort);
    ray.head_node_additional_args = fields.string("head_node_additional_args");
    ray.worker_node_additional_args = fields.string("worker_node_additional_args");
    return ray;
}

}  // namespace

std::optional<ResourcesSpec> read_resources(Fields& fields, Reading& reading) {
    const Document* map = fields.find("resources");
    if (map == nullptr) return std::nullopt;
    Fields parts(*map, fields.path_of("resources"), reading.problems);
    ResourcesSpec resources;
    resources.instance_count = read_number(parts, "instance_count", kInstances);
    resources.instance_type = parts.string("instance_type");
    resources.locations = parts.strings("locations");
    if (const Document* properties = parts.find("properties")) {
        if (properties->is_map()) {
            resources.properties = *properties;
        } else {
            parts.problem("properties",
                          "must be a mapping, but is " + std::string(name_of(properties->kind)));
        }
    }
    resources.shm_size = parts.string("shm_size");
    if (!resources.shm_size.empty() && !is_shm_size(resources.shm_size)) {
        parts.problem("shm_size", "must be a positive number with b, k, m or g behind it, like 2g");
    }
    read_docker_args(parts, resources);
    if (parts.has("docker_args_list")) {
        reading.beyond_azure.push_back(
            refused_there("resources.docker_args_list", "write the list under docker_args"));
    }
    resources.max_instance_count = read_number(parts, "max_instance_count", kInstances);
    if (resources.max_instance_count &&
        resources.instance_count.value_or(1) > *resources.max_instance_count) {
        parts.problem("max_instance_count", "must not be below instance_count");
    }
    parts.finish();
    return resources;
}

std::optional<QueueSpec> read_queue(Fields& fields, Reading& reading) {
    const Document* map = fields.find("queue_settings");
    if (map == nullptr) return std::nullopt;
    Fields parts(*map, fields.path_of("queue_settings"), reading.problems);
    QueueSpec queue;
    queue.job_tier = parts.choice("job_tier", {"Spot", "Basic", "Standard", "Premium", "Null"});
    queue.priority = parts.choice("priority", {"low", "medium", "high"});
    if (parts.has("job_priority")) {
        if (parts.has("priority"))
            parts.problem("job_priority", "cannot stand beside priority, which means the same");
        queue.priority = parts.choice("job_priority", {"low", "medium", "high"});
        reading.beyond_azure.push_back(refused_there("queue_settings.job_priority", "write priority"));
    }
    parts.finish();
    return queue;
}

std::optional<DistributionSpec> read_distribution(Fields& fields) {
    const Document* map = fields.find("distribution");
    if (map == nullptr) return std::nullopt;
    Fields parts(*map, fields.path_of("distribution"), fields.problems());
    const std::string type = parts.choice("type", {"pytorch", "mpi", "tensorflow", "ray"});
    if (type.empty()) {
        if (map->is_map() && !parts.has("type")) {
            parts.problem("type", "is missing; it must be pytorch, mpi, tensorflow or ray");
        }
        return std::nullopt;
    }
    constexpr Range kProcesses{1, 4096};
    DistributionSpec distribution;
    if (type == "ray") {
        distribution = read_ray(parts);
    } else if (type == "tensorflow") {
        distribution.worker_count = read_number(parts, "worker_count", kProcesses);
        distribution.parameter_server_count = read_number(parts, "parameter_server_count", {0, 4096});
    } else {
        distribution.process_count_per_instance =
            read_number(parts, "process_count_per_instance", kProcesses);
    }
    distribution.type = type;
    parts.finish();
    return distribution;
}

std::optional<std::int64_t> read_timeout(Fields& fields) {
    const Document* map = fields.find("limits");
    if (map == nullptr) return std::nullopt;
    Fields parts(*map, fields.path_of("limits"), fields.problems());
    auto timeout = parts.integer("timeout");
    constexpr std::int64_t kTenYears = 315'360'000;
    if (timeout && (*timeout < 1 || *timeout > kTenYears)) {
        parts.problem("timeout", "must be a number of seconds above 0, not " + std::to_string(*timeout));
        timeout.reset();
    }
    parts.finish();
    return timeout;
}

std::optional<IdentitySpec> read_identity(Fields& fields) {
    const Document* map = fields.find("identity");
    if (map == nullptr) return std::nullopt;
    Fields parts(*map, fields.path_of("identity"), fields.problems());
    IdentitySpec identity;
    identity.type = parts.choice("type", {"user_identity", "managed", "aml_token", "managed_identity"});
    if (identity.type == "managed_identity") identity.type = "managed";
    if (identity.type.empty() && map->is_map() && !parts.has("type")) {
        parts.problem("type", "is missing; it must be user_identity, managed or aml_token");
    }
    if (identity.type == "managed" || identity.type.empty()) {
        identity.client_id = parts.string("client_id");
        identity.object_id = parts.string("object_id");
        identity.resource_id = parts.string("resource_id");
        if (parts.has("msi_resource_id")) identity.resource_id = parts.string("msi_resource_id");
    }
    parts.finish();
    return identity;
}

}  // namespace lavant::spec
