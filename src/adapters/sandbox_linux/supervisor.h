#pragma once
// The small process that stays with a task: sets up its confinement, starts the command, forwards signals,
// reaps, and writes how the command ended. It never executes another program, and outlives the
// agent.

#include "adapters/sandbox_linux/plan.h"

namespace lavant::sandbox_linux {

// Gives every signal its default action, also those that whoever started us has ignored.
void reset_signals();

// Makes the kernel prefer this process and its children to the agent when memory runs out.
void raise_own_oom_score();

// Runs in the child, with all signals blocked.
[[noreturn]] void supervise(const Plan& plan);

}  // namespace lavant::sandbox_linux
