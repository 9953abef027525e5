#pragma once
// What a task begins with that carries on the work of an earlier attempt: the named outputs and ./outputs as
// that attempt left them. What the task leaves as it was is not kept a second time: another rank, or another
// job that shares the place, may have written it anew meanwhile.
//
//   <task folder>/resumed/outputs/  what is to be ./outputs, until the sandbox has moved it there
//   <task folder>/resumed/files     what was fetched, and how it looked then

#include <string>
#include <vector>

#include "agent/task_files.h"
#include "agent/transfers.h"

namespace lavant::agent {

std::vector<Fetch> plan_resume(const lavant::Launch& launch, const TaskPaths& paths);
std::string resumed_outputs(const TaskPaths& paths);  // "" if there was nothing in ./outputs

// After the fetches, before the command.
[[nodiscard]] Result<void> remember_resumed(const lavant::Launch& launch, const TaskPaths& paths);
// After the command, also by another agent process.
void leave_out_unchanged(Uploads& uploads, const TaskPaths& paths);

}  // namespace lavant::agent
