#pragma once
// `lavant down --purge`: the end of a data folder and of everything that runs for it.

#include "cli/connect.h"
#include "cli/context.h"
#include "main/data_folder.h"

namespace lavant {

// Ends every node of a folder whose server is gone, with all that runs on it.
[[nodiscard]] Result<void> kill_nodes(const DataFolder& folder);

// Stops the server, kills its nodes with their tasks, removes what Lavant made in the folder, and then the
// folder. What Lavant does not know stays and is told of.
[[nodiscard]] cli::Outcome<void> remove_everything(cli::Context& context, const DataFolder& folder);
// The same as a command: asks first unless `yes`, and says what it did.
[[nodiscard]] cli::Outcome<cli::Exit> purge(cli::Context& context, const cli::ServerChoice& choice, bool yes);

}  // namespace lavant
