#include "adapters/sandbox_linux/make_plan.h"

#include <algorithm>

#include "adapters/sandbox_linux/direct_command.h"

namespace lavant::sandbox_linux {
namespace {

constexpr const char* kShell = "/bin/bash";

std::size_t bytes_for(const std::vector<std::string>& texts) {
    std::size_t bytes = 0;
    for (const std::string& text : texts) bytes += text.size() + 1 + sizeof(char*);
    return bytes;
}

// An upper bound of what the plan takes.
std::size_t bytes_for(const ports::ConfinedTask& task, const std::optional<DirectCommand>& direct) {
    std::size_t bytes = (8U << 10) + 2 * kPlanStackBytes;
    bytes += task.script.size() + bytes_for(task.environment);
    if (direct) bytes += bytes_for(direct->candidates) + bytes_for(direct->words);
    for (const ports::Bind& bind : task.binds)
        bytes += bind.path.size() + bind.source.size() + 2 + sizeof(BindStep);
    return bytes + 10 * (task.folder.size() + task.working_folder.size()) + task.code_folder.size();
}

// execve takes pointers to mutable characters but changes nothing.
char* mutable_text(const char* text) { return const_cast<char*>(text); }

char* const* copy_list(const std::vector<std::string>& texts, Arena& arena) {
    char** const list = arena.list<char*>(texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) list[i] = mutable_text(arena.text({texts[i]}));
    return list;
}

void plan_command(const ports::ConfinedTask& task, const std::optional<DirectCommand>& direct, Plan& plan,
                  Arena& arena) {
    plan.shell_arguments = copy_list({kShell, "-c", task.script}, arena);
    if (direct) {
        plan.programs = copy_list(direct->candidates, arena);
        plan.words = copy_list(direct->words, arena);
    }
    char** const environment = arena.list<char*>(task.environment.size() + 4);
    std::size_t count = 0;
    const auto add = [&](std::initializer_list<std::string_view> parts) {
        environment[count++] = mutable_text(arena.text(parts));
    };
    for (const std::string& entry : task.environment)
        if (!direct || !entry.starts_with("PWD=")) add({entry});
    if (direct) {  // As the shell would set them.
        add({"PWD=", task.working_folder});
        add({"SHLVL=0"});
    }
    if (plan.find_descendants) add({marker_of(task.folder)});
    plan.environment = environment;
}

struct MountNeeds {
    const ports::ConfinedTask& task;
    const Slot& slot;
    const PlanRules& rules;
};

void plan_mounts(const MountNeeds& needs, Plan& plan, Arena& arena) {
    const auto& [task, slot, rules] = needs;
    MountPlan& mounts = plan.mounts;
    mounts.view = rules.view->mounts.get();
    mounts.identity = slot.identity.get();
    mounts.private_folder = arena.text({parent_of(task.folder)});
    mounts.scratch_folder = arena.text({slot.scratch});
    mounts.overlay_in_user_namespace = rules.in_user_namespace;
    BindStep* const binds = arena.list<BindStep>(task.binds.size() + 1);
    if (rules.overlay && !task.code_folder.empty()) {
        std::string layers = task.folder;
        if (rules.attach_layers) {
            const std::string hidden = parent_of(task.folder);
            mounts.overlay_lower_at = arena.text({hidden, "/.lower"});
            mounts.overlay_layers = arena.text({task.folder});
            layers = hidden + "/.layers";
            mounts.overlay_layers_at = arena.text({layers});
        }
        mounts.overlay_lower = arena.text({task.code_folder});
        mounts.overlay_upper = arena.text({overlay_upper_of(layers)});
        mounts.overlay_work = arena.text({overlay_work_of(layers)});
    } else {
        binds[mounts.bind_count++] = {.path = plan.working_folder, .writable = true};
    }
    for (const ports::Bind& bind : task.binds) {
        const auto shows = [&path = bind.path](const std::string& folder) { return lies_in(path, folder); };
        if (!bind.writable && std::ranges::any_of(rules.view->shown, shows)) continue;
        binds[mounts.bind_count++] = {.path = arena.text({bind.path}),
                                      .source = bind.source.empty() ? nullptr : arena.text({bind.source}),
                                      .writable = bind.writable,
                                      .owned_by_task = !bind.writable && lies_in(bind.path, task.folder)};
    }
    std::sort(binds, binds + mounts.bind_count, [](const BindStep& a, const BindStep& b) {
        return std::string_view(a.path) < std::string_view(b.path);
    });
    mounts.binds = binds;
}

}  // namespace

std::string marker_of(const std::string& task_folder) { return "LAVANT_TASK_FOLDER=" + task_folder; }
std::string overlay_upper_of(const std::string& task_folder) { return task_folder + "/run.upper"; }
std::string overlay_work_of(const std::string& task_folder) { return task_folder + "/run.work"; }

bool lies_in(const std::string& path, const std::string& folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Result<Plan> make_plan(const ports::ConfinedTask& task, const Slot& slot, const PlanRules& rules,
                       Arena& arena) {
    for (const std::string* path : {&task.folder, &task.working_folder, &task.log_file})
        if (!path->starts_with('/'))
            return fail(ErrorCode::InvalidArgument,
                        "path '" + *path + "' of a task does not start at the root");
    constexpr std::size_t kPlanBytesMax = 256U << 20;
    const auto direct = find_direct_command(task.script, task.environment);
    const std::size_t bytes = bytes_for(task, direct) + slot.scratch.size();
    if (bytes > kPlanBytesMax || !arena.start(bytes))
        return fail(ErrorCode::ResourceExhausted, "the command and environment of a task are too large");
    const bool confined = rules.view != nullptr && task.confined;
    Plan plan{.working_folder = arena.text({task.working_folder})};
    plan.supervisor_stack = arena.room(kPlanStackBytes);
    plan.command_stack = arena.room(kPlanStackBytes);
    plan.find_descendants = !slot.leaf && !confined;
    plan_command(task, direct, plan, arena);
    if (confined) {
        plan_mounts({task, slot, rules}, plan, arena);
        plan.change_user = slot.owner.has_value();
        plan.user = slot.owner.value_or(0);
        plan.drop_capabilities = !plan.change_user;
    }
    if (!slot.leaf) plan.data_bytes_max = rules.memory_bytes;
    // Counted per user: only a user of the task's own, or a user namespace, makes it a limit of the task.
    if (!slot.leaf && confined) plan.processes_max = rules.processes_max;
    return plan;
}

}  // namespace lavant::sandbox_linux
