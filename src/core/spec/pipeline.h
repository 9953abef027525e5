#pragma once
// A pipeline job as its author wrote it, checked: steps, and how their inputs and outputs are bound to each
// other and to the pipeline's own.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/spec/component.h"

namespace lavant::spec {

struct PipelineSettingsSpec {
    std::string default_compute;    // without `azureml:`
    std::string default_datastore;  // likewise
    std::optional<bool> continue_on_step_failure;
    std::optional<bool> continue_run_on_failed_optional_input;
    std::optional<bool> force_rerun;
    std::vector<Document::Entry> others;  // what we do not know travels as it is
};

struct PipelineJobSpec : JobHead {
    std::vector<InputSpec> inputs;
    std::vector<OutputSpec> outputs;
    std::vector<StepSpec> steps;
    PipelineSettingsSpec settings;
    std::optional<IdentitySpec> identity;
    // Instead of steps, a pipeline component: a registered one, or one from a file.
    std::string component_reference;
    std::shared_ptr<const ComponentSpec> component;
};

[[nodiscard]] Result<PipelineJobSpec> parse_pipeline_job(const Document& document,
                                                         const ComponentLoader& loader);

}  // namespace lavant::spec
