#pragma once
// `lavant datastore create | validate | show | list | update | delete`

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/file_options.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

// With --path and no type it is a folder of the server's machine.
[[nodiscard]] Outcome<Exit> create_datastore(Context& context, const ServerChoice& choice,
                                             const FileOptions& options, const Output& output);
// Needs no server.
[[nodiscard]] Outcome<Exit> validate_datastore(Context& context, const FileOptions& options,
                                               const Output& output);

[[nodiscard]] Outcome<Exit> show_datastore(Session& session, const Console& console, const std::string& name,
                                           const Output& output);
[[nodiscard]] Outcome<Exit> list_datastores(Session& session, const Console& console, int max,
                                            const Output& output);
// Description and tags; for the rest the file is read again: `create -f`.
[[nodiscard]] Outcome<Exit> update_datastore(Session& session, const Console& console,
                                             const std::string& name,
                                             const std::vector<std::string>& settings, const Output& output);
// The record; the files stay where they are.
[[nodiscard]] Outcome<Exit> delete_datastore(Session& session, Context& context, const std::string& name,
                                             bool yes);

}  // namespace lavant::cli
