#pragma once
// A search over the parameters of one command: as a job of its own, or as a step of a pipeline.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/command_job.h"

namespace lavant::spec {

inline constexpr std::size_t kSearchParametersMost = 1'000;
inline constexpr std::size_t kChoiceValuesMost = 10'000;
inline constexpr std::int64_t kTrialsMost = 10'000;

// One parameter to vary. `space` is the mapping as written, checked, with every number a number: `type` and
// what belongs to it.
struct SearchSpec {
    std::string name;
    Document space;
};
// The keys that a distribution has beside `type`, in the order in which the wire lists their values; empty
// for choice (which has `values`) and for what is no distribution.
const std::vector<std::string>& distribution_arguments(std::string_view type);

struct SamplingSpec {
    std::string type;  // random, grid, bayesian
    std::string rule;  // of random: "" or random, sobol
    std::optional<std::int64_t> seed;
    std::optional<Document> logbase;  // a number, or the text e
    bool is_word = true;              // written as one word, without settings of its own
};

struct EarlyTerminationSpec {
    std::string type;  // bandit, median_stopping, truncation_selection
    std::optional<std::int64_t> evaluation_interval;
    std::optional<std::int64_t> delay_evaluation;
    std::optional<Document> slack_factor;
    std::optional<Document> slack_amount;
    std::optional<std::int64_t> truncation_percentage;
};

struct TrialLimitsSpec {
    std::optional<std::int64_t> max_total_trials;
    std::optional<std::int64_t> max_concurrent_trials;
    std::optional<std::int64_t> timeout_seconds;
    std::optional<std::int64_t> trial_timeout_seconds;
};

// What a sweep has wherever it stands.
struct SweepSpec {
    std::vector<SearchSpec> search_space;
    SamplingSpec sampling;
    std::string goal;  // minimize, maximize
    std::string primary_metric;
    TrialLimitsSpec limits;
    std::optional<EarlyTerminationSpec> early_termination;
    std::optional<QueueSpec> queue;
    std::optional<ResourcesSpec> resources;
};

struct SweepJobSpec : JobHead {
    CommandJobSpec trial;  // code, command, environment, variables, distribution, resources
    std::vector<InputSpec> inputs;
    std::vector<OutputSpec> outputs;
    SweepSpec sweep;
    std::optional<IdentitySpec> identity;
};

[[nodiscard]] Result<SweepJobSpec> parse_sweep_job(const Document& document, const ComponentLoader& loader);

}  // namespace lavant::spec
