#pragma once
// The command line: parses, wires the HTTP client, calls the commands of src/cli.

namespace lavant {

// Everything but `agent`, which main dispatches before (it must start fast).
int run_cli(int argc, char** argv);

}  // namespace lavant
