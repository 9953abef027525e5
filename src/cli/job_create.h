#pragma once
// `lavant job create` and `lavant job validate`: from a job file to a job on the server.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

struct CreateOptions {
    std::string file;
    std::string name;                   // "": the file's, else one is made up
    std::vector<std::string> settings;  // "a.b=c"
    bool stream = false;
};
// Reads the file before a server is looked for: a wrong file starts nothing.
[[nodiscard]] Outcome<Exit> create_job(Context& context, const ServerChoice& choice,
                                       const CreateOptions& options, const Output& output);

struct ValidateOptions {
    std::string file;
    std::vector<std::string> settings;
    bool for_azure = false;  // list what Azure would refuse or ignore
};
// Needs no server.
[[nodiscard]] Outcome<Exit> validate_job(Context& context, const ValidateOptions& options,
                                         const Output& output);

// "amber_brook_k3v9x0q2mz"
std::string make_job_name(ports::Crypto& crypto);

// The folder of the Python environment that is active where the command line runs: VIRTUAL_ENV, CONDA_PREFIX,
// or the one that the first python3 on PATH belongs to. Empty if there is none.
std::string active_python_home(const Context& context);

}  // namespace lavant::cli
