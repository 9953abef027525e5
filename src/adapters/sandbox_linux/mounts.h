#pragma once
// Steps into a task's own mount namespace. Runs in the supervisor, after the fork.

#include "adapters/sandbox_linux/plan.h"
#include "adapters/sandbox_linux/sys.h"

namespace lavant::sandbox_linux {

Failure enter_mounts(Sys& sys, const MountPlan& plan, const char* working_folder);

// Like mkdir -p, for paths from the root; with `file` the last part becomes an empty file.
Failure make_mount_point(Sys& sys, const char* path, bool file);

}  // namespace lavant::sandbox_linux
