#include "wire/job_to_arm.h"

#include "wire/kinds_to_arm.h"
#include "wire/python_yaml.h"
#include "wire/sections_to_arm.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

struct ToArm {
    Resolver& resolver;
    Result<Json> operator()(const spec::CommandJobSpec& job) const { return command_to_arm(job, resolver); }
    Result<Json> operator()(const spec::SweepJobSpec& job) const { return sweep_to_arm(job, resolver); }
    Result<Json> operator()(const spec::PipelineJobSpec& job) const { return pipeline_to_arm(job, resolver); }
    Result<Json> operator()(const spec::SparkJobSpec& job) const { return spark_to_arm(job, resolver); }
    Result<Json> operator()(const spec::AutoMlJobSpec& job) const { return automl_to_arm(job, resolver); }
    Result<Json> operator()(const spec::FineTuningJobSpec& job) const {
        return finetuning_to_arm(job, resolver);
    }
};

// As Azure's client writes it again, whatever the file looked like: its hash names the environment.
std::string conda_of(const spec::EnvironmentSpec& environment) {
    if (environment.conda) return python_yaml(*environment.conda);
    if (environment.conda_text.empty()) return {};
    const auto document = parse_yaml(environment.conda_text, environment.conda_file);
    return document ? python_yaml(*document) : environment.conda_text;
}

}  // namespace

Result<Json> to_arm_job(const spec::JobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json properties, std::visit(ToArm{resolver}, job));
    return Json::object({{"properties", std::move(properties)}});
}

std::string to_arm_environment(const spec::EnvironmentSpec& environment,
                               const std::string& build_context_uri) {
    Json value = Json::object();
    set_text(value, "description", environment.description);
    if (!environment.tags.empty()) value.set("tags", to_json(environment.tags));
    set_text(value, "image", environment.image);
    set_text(value, "condaFile", conda_of(environment));
    if (!environment.build_path.empty()) {
        Json build = Json::object({{"contextUri", build_context_uri}});
        set_text(build, "dockerfilePath", environment.dockerfile_path);
        value.set("build", std::move(build));
    }
    if (!environment.os_type.empty())
        value.set("osType", environment.os_type == "windows" ? "Windows" : "Linux");
    value.set("isAnonymous", environment.name.empty());
    return Json::object({{"properties", std::move(value)}}).dump();
}

}  // namespace lavant::wire
