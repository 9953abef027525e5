#include "wire/sweep_to_arm.h"

#include <map>

#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

using spec::Document;

Json choice_value(const Document& value) {
    if (!value.is_map()) return to_json(value);
    Json map = Json::object();
    for (const Document::Entry& entry : value.entries)
        map.set(entry.key, entry.value.is_map() ? distribution_list(entry.value) : to_json(entry.value));
    return map;
}

Json sampling_of(const spec::SamplingSpec& sampling) {
    static const std::map<std::string, std::string> names = {
        {"random", "Random"}, {"grid", "Grid"}, {"bayesian", "Bayesian"}};
    Json value = Json::object({{"samplingAlgorithmType", names.at(sampling.type)}});
    set_text(value, "rule", sampling.rule);
    set_value(value, "seed", sampling.seed);
    set_value(value, "logbase", sampling.logbase);
    return value;
}

Json limits_of(const spec::TrialLimitsSpec& limits) {
    Json value = Json::object({{"jobLimitsType", "Sweep"}});
    set_value(value, "maxTotalTrials", limits.max_total_trials);
    set_value(value, "maxConcurrentTrials", limits.max_concurrent_trials);
    if (limits.timeout_seconds) value.set("timeout", iso_seconds(*limits.timeout_seconds));
    if (limits.trial_timeout_seconds) value.set("trialTimeout", iso_seconds(*limits.trial_timeout_seconds));
    return value;
}

Result<Json> trial_of(const spec::CommandJobSpec& trial, Resolver& resolver) {
    Json value = Json::object();
    if (!trial.code.empty()) {
        LAVANT_TRY(std::string code, resolver.code({trial.code, trial.code_local}));
        set_text(value, "codeId", code);
    }
    LAVANT_TRY(std::string environment, resolver.environment(trial.environment));
    value.set("environmentId", std::move(environment));
    value.set("command", trial.command);
    value.set("environmentVariables", to_json(trial.environment_variables));
    if (trial.distribution) value.set("distribution", distribution_of(*trial.distribution));
    if (trial.resources) value.set("resources", resources_of(*trial.resources));
    return value;
}

}  // namespace

Json distribution_list(const Document& space) {
    const std::string type = space.find("type")->text;
    Json arguments = Json::array();
    if (type == "choice") {
        Json values = Json::array();
        for (const Document& value : space.find("values")->items) values.append(choice_value(value));
        arguments.append(std::move(values));
    }
    for (const std::string& key : spec::distribution_arguments(type))
        arguments.append(to_json(*space.find(key)));
    return Json::array({type, std::move(arguments)});
}

Json early_termination_of(const spec::EarlyTerminationSpec& stop) {
    static const std::map<std::string, std::string> names = {{"bandit", "Bandit"},
                                                             {"median_stopping", "MedianStopping"},
                                                             {"truncation_selection", "TruncationSelection"}};
    Json value = Json::object({{"policyType", names.at(stop.type)}});
    value.set("delayEvaluation", stop.delay_evaluation.value_or(0));
    value.set("evaluationInterval", stop.evaluation_interval.value_or(0));
    if (stop.type == "bandit") {
        value.set("slackAmount", stop.slack_amount ? to_json(*stop.slack_amount) : Json(0));
        value.set("slackFactor", stop.slack_factor ? to_json(*stop.slack_factor) : Json(0));
    }
    set_value(value, "truncationPercentage", stop.truncation_percentage);
    return value;
}

Result<Json> sweep_to_arm(const spec::SweepJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "Sweep", resolver));
    LAVANT_TRY(Json trial, trial_of(job.trial, resolver));
    body.set("trial", std::move(trial));
    LAVANT_TRY(Json inputs, inputs_of(job.inputs, resolver));
    body.set("inputs", std::move(inputs));
    body.set("outputs", outputs_of(job.outputs));
    Json space = Json::object();
    for (const spec::SearchSpec& search : job.sweep.search_space)
        space.set(search.name, distribution_list(search.space));
    body.set("searchSpace", std::move(space));
    body.set("samplingAlgorithm", sampling_of(job.sweep.sampling));
    body.set("objective",
             Json::object({{"goal", job.sweep.goal}, {"primaryMetric", job.sweep.primary_metric}}));
    body.set("limits", limits_of(job.sweep.limits));
    if (job.sweep.early_termination)
        body.set("earlyTermination", early_termination_of(*job.sweep.early_termination));
    if (job.identity) body.set("identity", identity_of(*job.identity));
    if (job.sweep.queue) body.set("queueSettings", queue_of(*job.sweep.queue));
    const auto& resources = job.sweep.resources ? job.sweep.resources : job.trial.resources;
    if (resources) body.set("resources", resources_of(*resources));
    return body;
}

}  // namespace lavant::wire
