#pragma once
// Yes or no, before something that cannot be undone.

#include <string>

#include "cli/context.h"

namespace lavant::cli {

// Refused without a terminal: a script says --yes.
[[nodiscard]] Outcome<bool> ask(const Context& context, const std::string& question);

}  // namespace lavant::cli
