#pragma once
// `lavant compute create | update | attach | validate`: from a compute file, or flags that say the same, to a
// compute on the server.

#include <map>
#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

struct ComputeOptions {
    std::string file;                          // "": none, "-": standard input
    std::map<std::string, std::string> words;  // what flags said, by the key of a compute file; "": nothing
    std::vector<std::string> tags;             // KEY=VALUE
    std::vector<std::string> identities;       // of identity.user_assigned_identities
    std::vector<std::string> settings;         // --set
    bool gave_password = false;                // on the command line; the password itself is not kept
    bool dry_run = false;                      // say what would be sent
    bool may_exist = false;                    // as az does: of a name that is taken, that one is changed
};

[[nodiscard]] Outcome<Exit> create_compute(Context& context, const ServerChoice& choice,
                                           const ComputeOptions& options, const Output& output);
// A file says all of it; flags and settings say what is to be different.
[[nodiscard]] Outcome<Exit> update_compute(Context& context, const ServerChoice& choice,
                                           const ComputeOptions& options, const Output& output);
[[nodiscard]] Outcome<Exit> attach_compute(Context& context, const ServerChoice& choice,
                                           const ComputeOptions& options, const Output& output);

// Needs no server. `for_azure`: what Azure's own tools would refuse, too.
[[nodiscard]] Outcome<Exit> validate_compute(Context& context, const ComputeOptions& options, bool for_azure,
                                             const Output& output);

}  // namespace lavant::cli
