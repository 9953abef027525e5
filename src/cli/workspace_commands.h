#pragma once
// `lavant workspace create | validate | show | list | update | delete | config`

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> show_workspace(Session& session, const Console& console, const Output& output);

struct WorkspaceWords {
    std::string file;        // a workspace file; "" none
    std::string serverless;  // "on", "off"; "" as it is
    std::string display_name;
    std::string description;
};
struct WorkspaceChange {
    std::string file;
    std::string name;                          // that the file says; "" none
    std::vector<std::string> without_meaning;  // keys of the file
    wire::Json body;
};
// Before a server is looked for, so that a broken file starts none.
[[nodiscard]] Outcome<WorkspaceChange> plan_workspace_change(const WorkspaceWords& words);
[[nodiscard]] Outcome<Exit> update_workspace(Session& session, const Console& console,
                                             const WorkspaceChange& change, const Output& output);

// --- workspaces as such ---
struct WorkspaceMake {
    std::string name;  // "": that of the file
    std::string file;  // "": none
    std::string display_name;
    std::string description;
    std::vector<std::string> tags;  // KEY=VALUE
    bool dry_run = false;           // say what would be sent
};
[[nodiscard]] Outcome<Exit> create_workspace(Context& context, const ServerChoice& choice,
                                             const WorkspaceMake& make, const Output& output);
// Needs no server.
[[nodiscard]] Outcome<Exit> validate_workspace(Context& context, const std::string& file,
                                               const Output& output);
// Of the resource group if one was named, else of the whole subscription.
[[nodiscard]] Outcome<Exit> list_workspaces(Session& session, const Console& console, bool of_group, int max,
                                            const Output& output);
[[nodiscard]] Outcome<Exit> delete_workspace(Session& session, Context& context, const std::string& name,
                                             bool yes);

// Writes .azureml/config.json below `folder`, which MLClient.from_config() reads: which workspace is meant.
// Needs no server.
[[nodiscard]] Outcome<Exit> write_workspace_config(const Context& context, const ServerChoice& choice,
                                                   const std::string& folder);

}  // namespace lavant::cli
