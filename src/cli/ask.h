#pragma once
// Yes or no, before something that cannot be undone.

#include <string>

#include "cli/console.h"

namespace lavant::cli {

// Refused without a terminal: a script says --yes.
[[nodiscard]] Outcome<bool> ask(const Console& console, const std::string& question);

}  // namespace lavant::cli
