#include "wire/component_to_arm.h"

#include "wire/sections_to_arm.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using spec::ComponentSpec;
using spec::PortSpec;

constexpr const char* kAnonymousComponent = "azureml_anonymous";
constexpr const char* kAnonymousEnvironment = "CliV2AnonymousEnvironment";

Json port_of(const PortSpec& port) {
    const std::string type = port.type.empty() ? "uri_folder" : port.type;
    Json value = Json::object({{"type", port.is_called_path ? "path" : type}});
    set_text(value, "mode", port.mode);
    set_text(value, "description", port.description);
    set_value(value, "optional", port.optional);
    if (port.value) value.set("default", port.printed(*port.value));
    const auto bound = [&port](double number) {
        return port.type == "integer" ? std::to_string(static_cast<std::int64_t>(number))
                                      : spec::python_float(number);
    };
    if (port.least) value.set("min", bound(*port.least));
    if (port.most) value.set("max", bound(*port.most));
    if (!port.one_of.empty()) value.set("enum", to_json(port.one_of));
    set_value(value, "early_available", port.early_available);
    set_value(value, "is_control", port.is_control);
    return value;
}

void set_ports(Json& spec, std::string_view key, const std::vector<PortSpec>& ports) {
    if (ports.empty()) return;
    Json map = Json::object();
    for (const PortSpec& port : ports) map.set(port.name, port_of(port));
    spec.set(key, std::move(map));
}

// As a component has it: {type: tensorflow, worker_count: 2}.
Json snake_distribution(const spec::DistributionSpec& distribution) {
    Json value = with_snake_keys(distribution_of(distribution));
    value.remove("distribution_type");
    value.set("type", distribution.type);
    return value;
}

// Sets `code`, if there is any: a component may have includes alone.
Result<void> set_code(Json& value, CodeAsk ask, Resolver& resolver) {
    if (ask.written.empty() && ask.includes.empty()) return {};
    ask.of_component = true;
    LAVANT_TRY(const std::string id, resolver.code(ask));
    set_text(value, "code", id.starts_with("/subscriptions/") ? "azureml:" + id : id);
    return {};
}

Result<void> add_command(Json& spec, const ComponentSpec& component, Resolver& resolver) {
    spec.set("command", component.command);
    LAVANT_TRY(Json environment, environment_value(component.environment, resolver));
    spec.set("environment", std::move(environment));
    return set_code(spec, {component.code, component.code_local, component.includes}, resolver);
}

Result<void> add_parallel(Json& spec, const spec::ParallelSpec& parallel, Resolver& resolver) {
    add_all(spec, parallel_parts(parallel));
    if (parallel.mini_batch_size) spec.set("mini_batch_size", std::to_string(*parallel.mini_batch_size));
    if (!parallel.task) return {};
    LAVANT_TRY(Json task, parallel_task(*parallel.task, resolver));
    spec.set("task", std::move(task));
    return {};
}

Result<void> add_spark(Json& spec, const ComponentSpec& component, Resolver& resolver) {
    const spec::SparkSpec& spark = *component.spark;
    LAVANT_TRY_VOID(set_code(spec, {spark.code, spark.code_local, component.includes}, resolver));
    spec.set("entry", spark.entry_class.empty() ? Json::object({{"file", spark.entry_file}})
                                                : Json::object({{"class_name", spark.entry_class}}));
    add_all(spec, spark_files(spark));
    if (!spark.conf.entries.empty()) spec.set("conf", to_json(spark.conf));
    if (!spark.has_environment) return {};
    LAVANT_TRY(Json environment, environment_value(spark.environment, resolver));
    spec.set("environment", std::move(environment));
    return {};
}

Result<Json> spec_of(const ComponentSpec& component, ComponentUse use, Resolver& resolver) {
    const bool anonymous = use == ComponentUse::Anonymous;
    Json spec = Json::object();
    set_text(spec, "$schema", component.schema);
    spec.set("name", anonymous ? kAnonymousComponent : component.name);
    set_text(spec, "version", anonymous ? "1" : component.version);
    set_text(spec, "display_name", component.display_name);
    set_text(spec, "description", component.description);
    if (!component.tags.empty()) spec.set("tags", to_json(component.tags));
    spec.set("type", component.kind);
    set_ports(spec, "inputs", component.inputs);
    set_ports(spec, "outputs", component.outputs);
    if (component.kind == "command") LAVANT_TRY_VOID(add_command(spec, component, resolver));
    if (component.parallel) LAVANT_TRY_VOID(add_parallel(spec, *component.parallel, resolver));
    if (component.spark) LAVANT_TRY_VOID(add_spark(spec, component, resolver));
    if (!component.includes.empty()) spec.set("additional_includes", to_json(component.includes.written));
    if (component.resources) spec.set("resources", snake_resources(*component.resources));
    if (component.distribution) spec.set("distribution", snake_distribution(*component.distribution));
    if (component.kind == "pipeline") {
        LAVANT_TRY(Json steps, steps_to_arm(component.steps, resolver));
        spec.set("jobs", std::move(steps));
        spec.set("sourceJobId", nullptr);
        set_value(spec, "is_deterministic", component.is_deterministic);
    } else {
        spec.set("is_deterministic", component.is_deterministic.value_or(true));
    }
    spec.set("_source", component.is_inline ? "YAML.JOB" : "YAML.COMPONENT");
    return spec;
}

}  // namespace

void add_all(Json& object, const Json& members) {
    for (const Json::Member& member : members.members()) object.set(member.key, member.value);
}

Json snake_resources(const spec::ResourcesSpec& resources) {
    Json value = with_snake_keys(resources_of(resources));
    if (value["properties"].size() == 0) value.remove("properties");
    return value;
}

Json parallel_parts(const spec::ParallelSpec& parallel) {
    Json value = Json::object();
    set_text(value, "input_data", parallel.input_data);
    if (!parallel.partition_keys.empty())
        value.set("partition_keys", to_json(parallel.partition_keys).dump());
    set_value(value, "max_concurrency_per_instance", parallel.max_concurrency_per_instance);
    set_value(value, "error_threshold", parallel.error_threshold);
    set_value(value, "mini_batch_error_threshold", parallel.mini_batch_error_threshold);
    if (parallel.retry_timeout_seconds || parallel.max_retries) {
        Json retry = Json::object();
        set_value(retry, "timeout", parallel.retry_timeout_seconds);
        set_value(retry, "max_retries", parallel.max_retries);
        value.set("retry_settings", std::move(retry));
    }
    set_text(value, "logging_level", parallel.logging_level);
    if (!parallel.environment_variables.empty())
        value.set("environment_variables", to_json(parallel.environment_variables));
    return value;
}

Result<Json> parallel_task(const spec::ParallelTaskSpec& task, Resolver& resolver) {
    Json value = Json::object({{"type", task.type}});
    LAVANT_TRY_VOID(set_code(value, {task.code, task.code_local}, resolver));
    set_text(value, "entry_script", task.entry_script);
    set_text(value, "command", task.command);
    set_text(value, "program_arguments", task.program_arguments);
    set_text(value, "append_row_to", task.append_row_to);
    set_text(value, "model", task.model);
    LAVANT_TRY(Json environment, environment_value(task.environment, resolver));
    value.set("environment", std::move(environment));
    return value;
}

Json spark_files(const spec::SparkSpec& spark) {
    Json value = Json::object();
    if (!spark.py_files.empty()) value.set("py_files", to_json(spark.py_files));
    if (!spark.jars.empty()) value.set("jars", to_json(spark.jars));
    if (!spark.files.empty()) value.set("files", to_json(spark.files));
    if (!spark.archives.empty()) value.set("archives", to_json(spark.archives));
    set_text(value, "args", spark.args);
    return value;
}

Result<Json> environment_value(const spec::EnvironmentSpec& environment, Resolver& resolver) {
    LAVANT_TRY(const std::string id, resolver.environment(environment));
    if (!id.empty()) {
        if (id.starts_with("azureml:") || id == "host") return Json(id);
        return Json("azureml:" + id);
    }
    Json value = Json::object({{"name", kAnonymousEnvironment}});
    set_text(value, "image", environment.image);
    if (environment.conda) value.set("conda_file", to_json(*environment.conda));
    if (!environment.conda_text.empty()) {
        LAVANT_TRY(const spec::Document conda, parse_yaml(environment.conda_text, environment.conda_file));
        value.set("conda_file", to_json(conda));
    }
    if (!environment.build_path.empty()) {
        Json build = Json::object({{"path", environment.build_path}});
        set_text(build, "dockerfile_path", environment.dockerfile_path);
        value.set("build", std::move(build));
    }
    return value;
}

Result<Json> to_arm_component(const ComponentSpec& component, ComponentUse use, Resolver& resolver) {
    LAVANT_TRY(Json spec, spec_of(component, use, resolver));
    Json properties = Json::object({{"componentSpec", std::move(spec)}});
    set_text(properties, "description", component.description);
    properties.set("isAnonymous", use == ComponentUse::Anonymous);
    if (component.kind != "pipeline") properties.set("isArchived", false);
    properties.set("properties", to_json(component.properties));
    properties.set("tags", to_json(component.tags));
    return Json::object({{"properties", std::move(properties)}});
}

}  // namespace lavant::wire
