#include "wire/sections_to_arm.h"

#include <chrono>

#include "base/text.h"
#include "base/time.h"

namespace lavant::wire {

using spec::Document;

std::string without_scheme(const std::string& reference) {
    const bool is_name = reference.starts_with("azureml:") && !reference.starts_with("azureml://");
    return is_name ? reference.substr(8) : reference;
}

Json to_json(const std::map<std::string, std::string>& strings) {
    Json map = Json::object();
    for (const auto& [key, value] : strings) map.mutable_members().push_back({key, value});
    return map;
}

Json to_json(const std::vector<std::string>& strings) {
    Json list = Json::array();
    for (const std::string& text : strings) list.append(text);
    return list;
}

void set_text(Json& object, std::string_view key, const std::string& value) {
    if (!value.empty()) object.set(key, value);
}

std::string wire_mode(const std::string& mode) {
    static const std::map<std::string, std::string> modes = {
        {"ro_mount", "ReadOnlyMount"}, {"rw_mount", "ReadWriteMount"}, {"download", "Download"},
        {"direct", "Direct"},          {"eval_mount", "EvalMount"},    {"eval_download", "EvalDownload"},
        {"upload", "Upload"},
    };
    const auto found = modes.find(mode);
    return found == modes.end() ? "" : found->second;
}

Result<Json> input_of(const spec::InputSpec& input, Resolver& resolver) {
    Json value = Json::object({{"jobInputType", input.type}});
    if (input.type == "literal") {
        value.set("value", input.value);
    } else {
        LAVANT_TRY(const std::string uri, resolver.data(input));
        set_text(value, "uri", uri);
    }
    set_text(value, "mode", wire_mode(input.mode));
    return value;
}

Result<Json> inputs_of(const std::vector<spec::InputSpec>& all, Resolver& resolver) {
    Json inputs = Json::object();
    for (const spec::InputSpec& input : all) {
        LAVANT_TRY(Json value, input_of(input, resolver));
        inputs.set(input.name, std::move(value));
    }
    return inputs;
}

Json outputs_of(const std::vector<spec::OutputSpec>& all) {
    Json outputs = Json::object();
    for (const spec::OutputSpec& output : all) {
        Json value = Json::object({{"jobOutputType", output.type}});
        set_text(value, "uri", output.path);
        set_text(value, "mode", wire_mode(output.mode));
        set_text(value, "assetName", output.asset_name);
        set_text(value, "assetVersion", output.asset_version);
        outputs.set(output.name, std::move(value));
    }
    return outputs;
}

Json resources_of(const spec::ResourcesSpec& resources) {
    Json value = Json::object();
    set_value(value, "instanceCount", resources.instance_count);
    set_text(value, "instanceType", resources.instance_type);
    if (!resources.locations.empty()) value.set("locations", to_json(resources.locations));
    set_text(value, "shmSize", resources.shm_size);
    set_text(value, "dockerArgs", resources.docker_args);
    if (!resources.docker_args_list.empty()) value.set("dockerArgsList", to_json(resources.docker_args_list));
    set_value(value, "maxInstanceCount", resources.max_instance_count);
    value.set("properties", resources.properties ? wire::to_json(*resources.properties) : Json::object());
    return value;
}

Json distribution_of(const spec::DistributionSpec& distribution) {
    static const std::map<std::string, std::string> names = {
        {"pytorch", "PyTorch"}, {"mpi", "Mpi"}, {"tensorflow", "TensorFlow"}, {"ray", "Ray"}};
    Json value = Json::object({{"distributionType", names.at(distribution.type)}});
    set_value(value, "processCountPerInstance", distribution.process_count_per_instance);
    if (distribution.type == "tensorflow") {
        value.set("parameterServerCount", distribution.parameter_server_count.value_or(0));
    }
    set_value(value, "workerCount", distribution.worker_count);
    set_value(value, "port", distribution.port);
    set_text(value, "address", distribution.address);
    set_value(value, "includeDashboard", distribution.include_dashboard);
    set_value(value, "dashboardPort", distribution.dashboard_port);
    set_text(value, "headNodeAdditionalArgs", distribution.head_node_additional_args);
    set_text(value, "workerNodeAdditionalArgs", distribution.worker_node_additional_args);
    return value;
}

Json queue_of(const spec::QueueSpec& queue) {
    Json value = Json::object();
    set_text(value, "jobTier", queue.job_tier);
    if (!queue.priority.empty())
        value.set("priority", queue.priority == "low" ? 1 : queue.priority == "medium" ? 2 : 3);
    return value;
}

Json identity_of(const spec::IdentitySpec& identity) {
    static const std::map<std::string, std::string> names = {
        {"user_identity", "UserIdentity"}, {"managed", "Managed"}, {"aml_token", "AMLToken"}};
    Json value = Json::object({{"identityType", names.at(identity.type)}});
    set_text(value, "clientId", identity.client_id);
    set_text(value, "objectId", identity.object_id);
    set_text(value, "resourceId", identity.resource_id);
    return value;
}

Json services_of(const std::vector<spec::ServiceSpec>& all) {
    static const std::map<std::string, std::string> names = {{"ssh", "SSH"},
                                                             {"vs_code", "VSCode"},
                                                             {"jupyter_lab", "JupyterLab"},
                                                             {"tensor_board", "TensorBoard"},
                                                             {"custom", "Custom"}};
    Json services = Json::object();
    for (const spec::ServiceSpec& service : all) {
        Json value = Json::object({{"jobServiceType", names.at(service.type)}});
        set_value(value, "port", service.port);
        if (service.on_all_nodes) value.set("nodes", Json::object({{"nodesValueType", "All"}}));
        if (!service.properties.empty()) value.set("properties", to_json(service.properties));
        services.set(service.name, std::move(value));
    }
    return services;
}

Json to_json(const Document& document) {
    switch (document.kind) {
        case Document::Kind::Null:
            return nullptr;
        case Document::Kind::Boolean:
            return document.boolean;
        case Document::Kind::Integer:
            return document.integer;
        case Document::Kind::Float:
            return document.number;
        case Document::Kind::String:
            return document.text;
        case Document::Kind::List: {
            Json list = Json::array();
            for (const Document& item : document.items) list.append(to_json(item));
            return list;
        }
        case Document::Kind::Map:
            break;
    }
    Json map = Json::object();
    for (const Document::Entry& entry : document.entries) map.set(entry.key, to_json(entry.value));
    return map;
}

std::string iso_seconds(std::int64_t seconds) {
    const Duration duration = std::chrono::seconds(seconds);
    return to_iso_duration(duration);
}

Result<Json> head_of(const spec::JobHead& job, std::string_view type, Resolver& resolver) {
    Json head = Json::object({{"jobType", type}});
    set_text(head, "displayName", job.display_name);
    set_text(head, "description", job.description);
    set_text(head, "experimentName", job.experiment_name);
    head.set("tags", to_json(job.tags));
    head.set("properties", to_json(job.properties));
    head.set("isArchived", false);
    set_text(head, "computeId", job.compute.empty() ? "" : resolver.compute(job.compute));
    set_text(head, "parentJobName", job.parent_job_name);
    return head;
}

Json with_snake_keys(const Json& object) {
    Json out = Json::object();
    for (const Json::Member& member : object.members()) out.set(part_words(member.key, '_'), member.value);
    return out;
}

}  // namespace lavant::wire
