#pragma once
// A checked component to the ARM body that registers it: `componentSpec` has the file's own spelling.

#include "core/spec/component.h"
#include "wire/json.h"
#include "wire/resolver.h"

namespace lavant::wire {

// {"properties": {"componentSpec": …, "isAnonymous": …}}. An anonymous one is what a step brings with itself,
// in its own text or by the path of a file.
enum class ComponentUse { Named, Anonymous };
[[nodiscard]] Result<Json> to_arm_component(const spec::ComponentSpec& component, ComponentUse use,
                                            Resolver& resolver);

// The steps of a pipeline, by name.
[[nodiscard]] Result<Json> steps_to_arm(const std::vector<spec::StepSpec>& steps, Resolver& resolver);

// --- parts that components and steps share ---
Json parallel_parts(const spec::ParallelSpec& parallel);  // all but the task
[[nodiscard]] Result<Json> parallel_task(const spec::ParallelTaskSpec& task, Resolver& resolver);
Json spark_files(const spec::SparkSpec& spark);  // py_files, jars, files, archives, args
// "azureml:NAME:VERSION", a registry's URI, or a definition that is not registered.
[[nodiscard]] Result<Json> environment_value(const spec::EnvironmentSpec& environment, Resolver& resolver);
Json snake_resources(const spec::ResourcesSpec& resources);
void add_all(Json& object, const Json& members);

}  // namespace lavant::wire
