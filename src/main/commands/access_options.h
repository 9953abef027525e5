#pragma once
// Options that keys and service principals share.

#include <CLI/App.hpp>

#include "cli/key_commands.h"

namespace lavant {

void add_key_options(CLI::App& command, cli::KeyWords& words);

}  // namespace lavant
