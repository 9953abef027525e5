#pragma once
// `lavant job create` and `lavant job validate`: from a job file to a job on the server.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

// What every way of making a job can be told besides the job itself.
struct SubmitOptions {
    std::string name;     // "": the file's, else one is made up
    std::string save_as;  // write the job's definition there
    bool stream = false;
    bool web = false;
    bool git_diff = true;  // keep the diff of a dirty tree
};

struct CreateOptions : SubmitOptions {
    std::string file;                   // "-": standard input
    std::vector<std::string> settings;  // "a.b=c"
    bool dry_run = false;               // say what would be sent
};
// Reads the file before a server is looked for: a wrong file starts nothing.
[[nodiscard]] Outcome<Exit> create_job(Context& context, const ServerChoice& choice,
                                       const CreateOptions& options, const Output& output);

// The same for a job file that is no file: `lavant submit` makes one from its arguments.
struct JobText {
    std::string text;
    std::string label;   // what messages call it
    std::string folder;  // what its relative paths start from
    std::vector<std::string> settings;
};
[[nodiscard]] Outcome<Exit> create_job_from(Context& context, const ServerChoice& choice, const JobText& job,
                                            const SubmitOptions& options, const Output& output);

// The same job once more, under a new name.
struct RerunOptions : SubmitOptions {
    std::string of;
    std::vector<std::string> settings;
};
[[nodiscard]] Outcome<Exit> rerun_job(Session& session, Context& context, const RerunOptions& options,
                                      const Output& output);

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
