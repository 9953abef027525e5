#include "core/spec/sweep.h"

#include <algorithm>

#include "base/text.h"
#include "core/spec/expression.h"
#include "core/spec/sweep_reading.h"

namespace lavant::spec {
namespace {

constexpr std::int64_t kTenYears = 315'360'000;
constexpr std::int64_t kTrialTimeoutLeastS = 60;

std::vector<SearchSpec> read_search_space(Fields& fields) {
    std::vector<SearchSpec> space;
    const Document* map = fields.find("search_space");
    if (map == nullptr) {
        if (fields.map().is_map() && !fields.has("search_space"))
            fields.problem("search_space", "is missing; name at least one parameter to vary");
        return space;
    }
    if (!map->is_map() || map->entries.empty() || map->entries.size() > kSearchParametersMost) {
        fields.problem("search_space", "must be a mapping of 1 to " + std::to_string(kSearchParametersMost) +
                                           " parameters to their distributions");
        return space;
    }
    for (const Document::Entry& entry : map->entries) {
        const std::string path = fields.path_of("search_space") + "." + entry.key;
        if (!is_valid_name(entry.key))
            fields.problems().add(
                path, entry.key_at,
                "is not a usable name; use letters, digits, '_' and '-', and begin with a letter");
        space.push_back(read_distribution_of(entry, path, fields.problems()));
    }
    return space;
}

void read_objective(Fields& fields, SweepSpec& sweep) {
    const Document* map = fields.find("objective");
    if (map == nullptr) {
        if (fields.map().is_map() && !fields.has("objective"))
            fields.problem("objective", "is missing; write {goal: minimize, primary_metric: NAME}");
        return;
    }
    Fields parts(*map, fields.path_of("objective"), fields.problems());
    sweep.goal = parts.choice("goal", {"minimize", "maximize"});
    sweep.primary_metric = parts.string("primary_metric");
    if (map->is_map() && !parts.has("goal"))
        parts.problem("goal", "is missing; it must be minimize or maximize");
    if (map->is_map() && !parts.has("primary_metric"))
        parts.problem("primary_metric", "is missing; name the metric that the trials log");
    parts.finish();
}

void read_trial_limits(Fields& fields, TrialLimitsSpec& limits) {
    const Document* map = fields.find("limits");
    if (map == nullptr) {
        if (fields.map().is_map() && !fields.has("limits"))
            fields.problem("limits", "is missing; write {max_total_trials: 20}");
        return;
    }
    Fields parts(*map, fields.path_of("limits"), fields.problems());
    limits.max_total_trials = read_count(parts, "max_total_trials", 1, kTrialsMost);
    limits.max_concurrent_trials = read_count(parts, "max_concurrent_trials", 1, kTrialsMost);
    limits.timeout_seconds = read_count(parts, "timeout", 1, kTenYears);
    limits.trial_timeout_seconds = read_count(parts, "trial_timeout", 1, kTenYears);
    // As the SDK does: Azure makes 60 days of less than a minute.
    if (limits.trial_timeout_seconds)
        limits.trial_timeout_seconds = std::max(*limits.trial_timeout_seconds, kTrialTimeoutLeastS);
    if (limits.max_total_trials && limits.max_concurrent_trials &&
        *limits.max_concurrent_trials > *limits.max_total_trials)
        parts.problem("max_concurrent_trials", "must not be above max_total_trials");
    parts.finish();
}

// Bayesian sampling learns from every trial, so it stops none early; a grid needs lists of values.
void check_together(Fields& fields, const SweepSpec& sweep) {
    if (sweep.sampling.type == "bayesian" && sweep.early_termination)
        fields.problem("early_termination",
                       "cannot stand beside bayesian sampling, which learns from whole trials");
    if (sweep.sampling.type != "grid") return;
    for (const SearchSpec& search : sweep.search_space) {
        const Document* type = search.space.find("type");
        if (type == nullptr || type->text == "choice") continue;
        fields.problems().add(fields.path_of("search_space") + "." + search.name + ".type", type->at,
                              "must be choice; a grid has no other distribution");
    }
}

CommandJobSpec read_trial(Fields& fields, Reading& reading) {
    CommandJobSpec trial;
    const Document* map = fields.find("trial");
    if (map == nullptr) {
        if (fields.map().is_map() && !fields.has("trial"))
            fields.problem("trial", "is missing; say what to run: {command: …, environment: …}");
        return trial;
    }
    Fields parts(*map, fields.path_of("trial"), reading.problems);
    if (!map->is_map()) return trial;
    read_code(parts, reading, trial.code, trial.code_local);
    trial.command = parts.string("command");
    if (!parts.has("command")) parts.problem("command", "is missing; say what to run");
    trial.environment = read_environment(parts, reading);
    if (!parts.has("environment"))
        parts.problem("environment", "is missing; write azureml:NAME@latest, {image: IMAGE} or host");
    trial.environment_variables = read_variables(parts);
    trial.resources = read_resources(parts, reading);
    trial.distribution = read_distribution(parts);
    trial.queue = read_queue(parts, reading);
    parts.ignore({"type"});
    parts.finish();
    return trial;
}

void check_trial_command(const SweepJobSpec& job, Position at, Problems& problems) {
    if (const auto open = find_unclosed(job.trial.command))
        problems.add("trial.command", at, "'" + *open + "' is never closed");
    for (const Reference& reference : find_references(job.trial.command)) {
        std::vector<std::string> names;
        if (reference.scope == "inputs") {
            for (const InputSpec& input : job.inputs) names.push_back(input.name);
        } else if (reference.scope == "outputs") {
            for (const OutputSpec& output : job.outputs) names.push_back(output.name);
        } else if (reference.scope == "search_space") {
            for (const SearchSpec& search : job.sweep.search_space) names.push_back(search.name);
        } else if (reference.name.empty() &&
                   (reference.scope == "name" || reference.scope == "default_datastore")) {
            continue;
        } else {
            problems.add("trial.command", at,
                         reference.written() + " is not an expression of a sweep" +
                             suggestion(reference.scope, {"inputs", "outputs", "search_space", "name"}));
            continue;
        }
        if (std::ranges::find(names, reference.name) != names.end()) continue;
        if (reference.in_optional && reference.scope == "inputs") continue;
        problems.add("trial.command", at,
                     reference.written() + " names nothing of this job" +
                         (names.empty() ? "; it has none" : suggestion(reference.name, names)));
    }
}

}  // namespace

SweepSpec read_sweep(Fields& fields, Reading& reading) {
    SweepSpec sweep;
    sweep.search_space = read_search_space(fields);
    sweep.sampling = read_sampling(fields);
    if (fields.map().is_map() && !fields.has("sampling_algorithm"))
        fields.problem("sampling_algorithm", "is missing; it must be random, grid or bayesian");
    read_objective(fields, sweep);
    read_trial_limits(fields, sweep.limits);
    sweep.early_termination = read_early_termination(fields);
    sweep.queue = read_queue(fields, reading);
    sweep.resources = read_resources(fields, reading);
    check_together(fields, sweep);
    return sweep;
}

Result<SweepJobSpec> parse_sweep_job(const Document& document, const ComponentLoader& loader) {
    SweepJobSpec job;
    Problems problems;
    Reading reading{loader, loader.folder, problems, job.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, job, "sweep");
    job.inputs = read_inputs(fields, reading);
    job.outputs = read_outputs(fields, reading);
    job.trial = read_trial(fields, reading);
    job.sweep = read_sweep(fields, reading);
    job.identity = read_identity(fields);
    const Document* trial = document.is_map() ? document.find("trial") : nullptr;
    const Document* command = trial != nullptr ? trial->find("command") : nullptr;
    check_trial_command(job, command != nullptr ? command->at : document.at, problems);
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return job;
}

}  // namespace lavant::spec
