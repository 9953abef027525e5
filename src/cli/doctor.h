#pragma once
// `lavant doctor`: what this machine offers to jobs, what is missing, and how to turn it on.

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"

namespace lavant::cli {

// Failed if something keeps every job from running.
[[nodiscard]] Outcome<Exit> run_doctor(Context& context, const ServerChoice& flags, const Output& output);

}  // namespace lavant::cli
