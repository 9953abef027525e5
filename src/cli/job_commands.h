#pragma once
// `lavant job show | list | cancel | explain`: what the server knows about jobs, for people and for scripts.

#include <string>
#include <string_view>

#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> show_job(Session& session, const Console& console, const std::string& name,
                                     const Output& output, bool web = false);

inline constexpr int kListMax = 100'000;

struct ListOptions {
    int max = 50;
    bool whole = false;      // as many as kListMax
    std::string status;      // "" any
    std::string experiment;  // "" any
    std::string tag;         // "" any, else "key" or "key=value"
    bool archived = false;   // only archived ones
    bool all = false;        // archived ones too
    std::string parent;      // only children of this job
};
[[nodiscard]] Outcome<Exit> list_jobs(Session& session, const Console& console, const ListOptions& options,
                                      const Output& output);

// Waits until the job has ended, unless told not to.
[[nodiscard]] Outcome<Exit> cancel_job(Session& session, const Console& console, const std::string& name,
                                       bool no_wait, const Output& output);

// What it waits for, or why it ended as it did.
[[nodiscard]] Outcome<Exit> explain_job(Session& session, const Console& console, const std::string& name,
                                        const Output& output);

// For people; `job` as az shows it.
std::string render_job(const wire::Json& job, const Console& console);

bool is_terminal(std::string_view status);
Exit exit_of_status(std::string_view status);
// One line, and for a failed job its error with the remedy.
struct JobEnd {
    std::string name;
    std::string status;
    wire::Json error;
};
void print_end(const JobEnd& end, const Console& console);

}  // namespace lavant::cli
