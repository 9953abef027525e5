#pragma once
// Job names for a shell's completion.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"

namespace lavant::cli {

// Names that begin with `begun`, newest first, and @last. Starts no server and reports no error: a key press
// must not wait.
std::vector<std::string> known_job_names(Context& context, const ServerChoice& choice,
                                         const std::string& begun);

}  // namespace lavant::cli
