#include "wire/job_to_arm.h"

#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

struct ToArm {
    Resolver& resolver;
    Result<Json> operator()(const spec::CommandJobSpec& job) const { return command_to_arm(job, resolver); }
    Result<Json> operator()(const spec::SweepJobSpec& job) const { return sweep_to_arm(job, resolver); }
};

}  // namespace

Result<Json> to_arm_job(const spec::JobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json properties, std::visit(ToArm{resolver}, job));
    return Json::object({{"properties", std::move(properties)}});
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
