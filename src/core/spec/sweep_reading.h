#pragma once
// The readers of a sweep's parts, for jobs, steps and automl. Internal to core/spec.

#include "core/spec/reading.h"
#include "core/spec/sweep.h"

namespace lavant::spec {

// A number as a document: text that spells one counts. Nothing if absent; another type is a problem.
std::optional<Document> read_number(Fields& fields, std::string_view key);
// Whole and at least `least`.
std::optional<std::int64_t> read_count(Fields& fields, std::string_view key, std::int64_t least,
                                       std::int64_t most);
// A distribution as written: {type: uniform, min_value: 0, max_value: 1}.
SearchSpec read_distribution_of(const Document::Entry& entry, const std::string& path, Problems& problems);
std::optional<EarlyTerminationSpec> read_early_termination(Fields& fields);
SamplingSpec read_sampling(Fields& fields);
// Everything but the trial.
SweepSpec read_sweep(Fields& fields, Reading& reading);

}  // namespace lavant::spec
