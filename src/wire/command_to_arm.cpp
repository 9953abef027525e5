#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {

Result<Json> command_to_arm(const spec::CommandJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "Command", resolver));
    body.set("command", job.command);
    if (!job.code.empty()) {
        LAVANT_TRY(std::string code, resolver.code({job.code, job.code_local}));
        set_text(body, "codeId", code);
    }
    LAVANT_TRY(Json inputs, inputs_of(job.inputs, resolver));
    LAVANT_TRY(std::string environment, resolver.environment(job.environment));
    body.set("environmentId", std::move(environment));
    body.set("environmentVariables", to_json(job.environment_variables));
    body.set("inputs", std::move(inputs));
    body.set("outputs", outputs_of(job.outputs));
    if (job.distribution) body.set("distribution", distribution_of(*job.distribution));
    if (job.resources) body.set("resources", resources_of(*job.resources));
    if (job.timeout_seconds)
        body.set("limits", Json::object({{"jobLimitsType", "Command"},
                                         {"timeout", iso_seconds(*job.timeout_seconds)}}));
    if (job.queue) body.set("queueSettings", queue_of(*job.queue));
    if (job.identity) body.set("identity", identity_of(*job.identity));
    if (!job.services.empty()) body.set("services", services_of(job.services));
    return body;
}

}  // namespace lavant::wire
