#pragma once
// `lavant env`: the variables that lead azure-ai-ml, mlflow and this command line to a server, as lines for a
// shell or a file.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"

namespace lavant::cli {

enum class EnvFormat { Sh, Fish, Dotenv, Powershell };

// One line (or, where a value has line ends and the format bears them, several) that sets a variable.
// InvalidArgument if the format cannot say this value.
[[nodiscard]] Result<std::string> line_that_sets(EnvFormat format, std::string_view name,
                                                 std::string_view value);
// "" for a dotenv file, which cannot take anything away.
std::string line_that_unsets(EnvFormat format, std::string_view name);

// What leads other programs to the server. An empty value: the variable must not be set. Also writes the
// bundle of certificates that REQUESTS_CA_BUNDLE names.
using Variables = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Outcome<Variables> variables_for(Context& context, const ServerChoice& flags);

[[nodiscard]] Outcome<Exit> print_environment(Context& context, const ServerChoice& flags, EnvFormat format);
// The lines that undo it; needs no server.
[[nodiscard]] Outcome<Exit> print_environment_undone(Context& context, EnvFormat format);

}  // namespace lavant::cli
