#include "wire/spec_to_arm.h"

#include <chrono>

#include "base/time.h"
#include "wire/json.h"

namespace lavant::wire {
namespace {

using spec::CommandJobSpec;
using spec::Document;

std::string written(const std::string& reference) {
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

template <class T>
void set_value(Json& object, std::string_view key, const std::optional<T>& value) {
    if (value) object.set(key, *value);
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

Json inputs_of(const CommandJobSpec& spec, const ResolvedJob& resolved) {
    Json inputs = Json::object();
    for (const spec::InputSpec& input : spec.inputs) {
        Json value = Json::object({{"jobInputType", input.type}});
        if (input.type == "literal") {
            value.set("value", input.value);
        } else {
            const auto uri = resolved.input_uris.find(input.name);
            value.set("uri", uri != resolved.input_uris.end() ? uri->second : written(input.path));
            set_text(value, "mode", wire_mode(input.mode));
        }
        inputs.set(input.name, std::move(value));
    }
    return inputs;
}

Json outputs_of(const CommandJobSpec& spec) {
    Json outputs = Json::object();
    for (const spec::OutputSpec& output : spec.outputs) {
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

Json services_of(const CommandJobSpec& spec) {
    static const std::map<std::string, std::string> names = {{"ssh", "SSH"},
                                                             {"vs_code", "VSCode"},
                                                             {"jupyter_lab", "JupyterLab"},
                                                             {"tensor_board", "TensorBoard"},
                                                             {"custom", "Custom"}};
    Json services = Json::object();
    for (const spec::ServiceSpec& service : spec.services) {
        Json value = Json::object({{"jobServiceType", names.at(service.type)}});
        set_value(value, "port", service.port);
        if (service.on_all_nodes) value.set("nodes", Json::object({{"nodesValueType", "All"}}));
        if (!service.properties.empty()) value.set("properties", to_json(service.properties));
        services.set(service.name, std::move(value));
    }
    return services;
}

}  // namespace

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

std::string to_arm_body(const CommandJobSpec& spec, const ResolvedJob& resolved) {
    Json job = Json::object({{"jobType", "Command"}});
    set_text(job, "displayName", spec.display_name);
    set_text(job, "description", spec.description);
    set_text(job, "experimentName", spec.experiment_name);
    job.set("tags", to_json(spec.tags));
    job.set("properties", to_json(spec.properties));
    job.set("isArchived", false);
    job.set("command", spec.command);
    set_text(job, "codeId", resolved.code_id.empty() ? written(spec.code) : resolved.code_id);
    job.set("environmentId",
            resolved.environment_id.empty() ? spec.environment.reference : resolved.environment_id);
    set_text(job, "computeId", resolved.compute_id.empty() ? spec.compute : resolved.compute_id);
    job.set("environmentVariables", to_json(spec.environment_variables));
    job.set("inputs", inputs_of(spec, resolved));
    job.set("outputs", outputs_of(spec));
    if (spec.distribution) job.set("distribution", distribution_of(*spec.distribution));
    if (spec.resources) job.set("resources", resources_of(*spec.resources));
    if (spec.timeout_seconds) {
        const Duration timeout = std::chrono::seconds(*spec.timeout_seconds);
        job.set("limits",
                Json::object({{"jobLimitsType", "Command"}, {"timeout", to_iso_duration(timeout)}}));
    }
    if (spec.queue) job.set("queueSettings", queue_of(*spec.queue));
    if (spec.identity) job.set("identity", identity_of(*spec.identity));
    if (!spec.services.empty()) job.set("services", services_of(spec));
    set_text(job, "parentJobName", spec.parent_job_name);
    return Json::object({{"properties", std::move(job)}}).dump();
}

std::string to_arm_environment(const spec::EnvironmentSpec& environment,
                               const std::string& build_context_uri) {
    Json value = Json::object();
    set_text(value, "description", environment.description);
    value.set("tags", to_json(environment.tags));
    value.set("properties", Json::object());
    set_text(value, "image", environment.image);
    if (environment.conda) {
        value.set("condaFile", wire::to_json(*environment.conda).to_yaml());
    } else {
        set_text(value, "condaFile", environment.conda_text);
    }
    if (!environment.build_path.empty()) {
        Json build = Json::object({{"contextUri", build_context_uri}});
        build.set("dockerfilePath",
                  environment.dockerfile_path.empty() ? "Dockerfile" : environment.dockerfile_path);
        value.set("build", std::move(build));
    }
    value.set("osType", environment.os_type == "windows" ? "Windows" : "Linux");
    value.set("isAnonymous", environment.name.empty());
    return Json::object({{"properties", std::move(value)}}).dump();
}

}  // namespace lavant::wire
