#pragma once
// Lays out in an arena what a supervisor will do for a task.

#include "adapters/sandbox_linux/arena.h"
#include "adapters/sandbox_linux/plan.h"
#include "adapters/sandbox_linux/slots.h"
#include "adapters/sandbox_linux/system_view.h"
#include "ports/sandbox.h"

namespace lavant::sandbox_linux {

// What holds for all tasks of a sandbox.
struct PlanRules {
    const SystemView* view = nullptr;  // null: no namespaces
    bool overlay = false;
    bool attach_layers = false;
    bool in_user_namespace = false;
    std::int64_t memory_bytes = 0;
    std::int64_t processes_max = 0;
};

// The environment entry by which processes are found that have neither a cgroup nor a namespace.
std::string marker_of(const std::string& task_folder);
bool lies_in(const std::string& path, const std::string& folder);
std::string overlay_upper_of(const std::string& task_folder);
std::string overlay_work_of(const std::string& task_folder);

// `arena` is started anew; the plan is good until it is started again.
[[nodiscard]] Result<Plan> make_plan(const ports::ConfinedTask& task, const Slot& slot,
                                     const PlanRules& rules, Arena& arena);

}  // namespace lavant::sandbox_linux
