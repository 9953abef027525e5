#pragma once
// The agent that nodes run: a static program of its own inside this one, put into the data folder at start.

#include <string>
#include <vector>

#include "main/data_folder.h"

namespace lavant {

// Executable and first arguments. Empty where this program itself must do: a build with sanitizers, or a data
// folder whose file system runs no programs. Call before threads start processes.
std::vector<std::string> install_agent(const DataFolder& folder);

}  // namespace lavant
