// `lavant datastore …`

#include <CLI/CLI.hpp>

#include "main/commands/families.h"

namespace lavant {

void add_datastore_family(CommandLine& line) {
    CLI::App& parent = CommandLine::add_family(line.root(), "datastore", "where files lie",
                                               "lavant datastore ls workspaceblobstore");
    add_datastore_files(line, parent);
}

}  // namespace lavant
