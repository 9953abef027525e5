#pragma once
// The readers of a pipeline's steps, for jobs and components. Internal to core/spec.

#include "core/spec/component_reading.h"

namespace lavant::spec {

// What the steps of a pipeline can be bound to outside themselves.
struct PipelineScope {
    std::vector<PortSpec> inputs;
    std::vector<PortSpec> outputs;
};

// One step as it stands, before its neighbours are known.
struct StepDraft {
    StepSpec step;
    std::optional<ComponentSpec> own;  // what the step brings with itself; its ports come from its bindings
    const Document* written = nullptr;
    std::string path;
    std::string folder;
};
StepDraft read_step(const Document::Entry& entry, const std::string& path, Reading& reading);

// Settles types from one step to the next, and reports bindings that lead nowhere or in a circle.
std::vector<StepSpec> bind_steps(std::vector<StepDraft> drafts, const PipelineScope& scope, Reading& reading);

// `jobs`, all of it.
std::vector<StepSpec> read_steps(Fields& fields, const PipelineScope& scope, Reading& reading);
void read_pipeline_part(Fields& fields, Reading& reading, ComponentSpec& component);

// "${{parent.jobs.a.outputs.b}}" in its parts; nothing if the text is no single binding.
struct Binding {
    std::string from;  // inputs, outputs or jobs
    std::string step;  // of jobs
    std::string port;
};
std::optional<Binding> binding_of(std::string_view text);

}  // namespace lavant::spec
