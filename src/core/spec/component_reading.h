#pragma once
// The readers of components and steps. Internal to core/spec.

#include "core/spec/component.h"
#include "core/spec/reading.h"

namespace lavant::spec {

// --- ports ---
std::vector<PortSpec> read_input_ports(Fields& fields, Reading& reading);
std::vector<PortSpec> read_output_ports(Fields& fields, Reading& reading);
// "" if `text` is a fine value for the input, else what is wrong with it.
std::string check_value(const PortSpec& input, const std::string& text);

// --- components ---
ComponentSpec read_component(const Document& document, const std::string& path, Reading& reading);
// What stands under `key`: a mapping, or the path of a file. Nothing if it is neither, which is a problem, or
// if it names a registered component, which the caller has looked for before.
std::optional<ComponentSpec> load_component(Fields& fields, std::string_view key, Reading& reading);
// Every expression in a component's text names one of its own inputs or outputs.
void check_own_expressions(const ComponentSpec& component, Fields& fields, std::string_view key,
                           const std::string& text);

// --- kinds ---
ParallelSpec read_parallel(Fields& fields, Reading& reading);
SparkSpec read_spark(Fields& fields, Reading& reading);
// `resources` of a spark job or step.
void read_spark_resources(Fields& fields, SparkSpec& spark);

}  // namespace lavant::spec
