#pragma once
// The program that runs now.

#include "cli/build.h"

namespace lavant {

const cli::Build& own_build();
std::string own_program();  // its path

}  // namespace lavant
