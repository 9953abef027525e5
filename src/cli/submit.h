#pragma once
// `lavant submit -- python train.py --lr 0.1`: a job without a job file.

#include <string>
#include <vector>

#include "cli/job_create.h"

namespace lavant::cli {

struct QuickJob : SubmitOptions {
    std::vector<std::string> words;  // the command
    std::string code = ".";          // "none": no files travel
    std::string environment = "host";
    std::string compute;
    std::string size;
    std::string display_name;
    std::string experiment;
    int instances = 1;
    int timeout_s = 0;                   // 0: none
    std::vector<std::string> variables;  // KEY=VALUE
    std::vector<std::string> tags;       // KEY=VALUE
};

// The job file that says the same, for a file in `folder`: relative paths start from there.
[[nodiscard]] Outcome<std::string> to_job_text(const QuickJob& job, const std::string& folder);

[[nodiscard]] Outcome<Exit> submit_command(Context& context, const ServerChoice& choice, const QuickJob& job,
                                           const Output& output);

}  // namespace lavant::cli
