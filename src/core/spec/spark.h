#pragma once
// A Spark job as its author wrote it, checked.

#include <optional>
#include <vector>

#include "core/spec/component.h"

namespace lavant::spec {

struct SparkJobSpec : JobHead {
    SparkSpec spark;
    std::vector<InputSpec> inputs;
    std::vector<OutputSpec> outputs;
    std::optional<IdentitySpec> identity;
};

[[nodiscard]] Result<SparkJobSpec> parse_spark_job(const Document& document, const ComponentLoader& loader);

}  // namespace lavant::spec
