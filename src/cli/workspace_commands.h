#pragma once
// `lavant workspace show | update`

#include <string>
#include <vector>

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

}  // namespace lavant::cli
