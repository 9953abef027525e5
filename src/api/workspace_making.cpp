#include "api/workspace_making.h"

#include <optional>
#include <utility>

namespace lavant::api {
namespace {

// What is there now, if it is whole: somebody may have been quicker.
std::optional<Workspace> find_whole(Context& context, const WorkspaceName& name) {
    auto found = context.workspaces.find(name);
    if (!found || !*found || (*found)->deleted) return std::nullopt;
    return std::move(**found);
}

}  // namespace

void make_workspace(Context& context, const WorkspaceName& name, const std::string& location,
                    const std::string& who, Workspaces::Made then) {
    if (!context.workspaces.begin_making(name, std::move(then))) return;
    context.workspaces.forget(name);
    if (const auto there = find_whole(context, name)) return context.workspaces.made(name, *there);
    auto plan = context.workspaces.plan(name, location, who);
    if (!plan) return context.workspaces.made(name, tl::make_unexpected(plan.error()));
    plane::WriteAssets event;
    event.writes = std::move(plan->writes);
    const bool taken = context.ports.post(
        std::move(event), [&context, name, made = plan->workspace](const Result<plane::Answer>& answer) {
            if (!answer) return context.workspaces.made(name, tl::make_unexpected(answer.error()));
            const bool written = !answer->assets_written.empty() && answer->assets_written.front();
            if (written) return context.workspaces.made(name, made);
            context.workspaces.made(
                name,
                fail(ErrorCode::Conflict, "workspace '" + name.name + "' was changed meanwhile; try again"));
        });
    if (!taken) context.workspaces.made(name, tl::make_unexpected(inbox_is_full()));
}

}  // namespace lavant::api
