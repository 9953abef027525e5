#pragma once
// The command line: parses, wires the HTTP client, calls the commands of src/cli.

#include <string>
#include <vector>

namespace lavant {

// Everything but `agent`, which main dispatches before (it must start fast).
int run_cli(const std::vector<std::string>& given);

}  // namespace lavant
