#pragma once
// The person at the terminal, for questions.

#include "cli/context.h"

namespace lavant {

cli::Person person_at_terminal();

}  // namespace lavant
