#pragma once
// Where an output may be kept: checked when the job is submitted, not when it has run for a day.

#include <optional>
#include <string>
#include <string_view>

namespace lavant::spec {

// What is wrong with the path below a datastore's paths/, as the rest of a sentence; nothing if it is fine.
std::optional<std::string> find_path_problem(std::string_view path);

// The same for azureml://…/datastores/D/paths/P; nothing for any other URI. An expression stands for one
// word.
std::optional<std::string> find_output_problem(std::string_view uri);

}  // namespace lavant::spec
