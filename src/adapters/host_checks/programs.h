#pragma once
// Runs a few programs side by side and waits for all of them, but not for long.

#include <chrono>
#include <string>
#include <vector>

namespace lavant::host_checks {

struct ProgramAsk {
    std::string path;  // absolute; "": not run
    std::vector<std::string> arguments;
};
struct ProgramAnswer {
    bool ran = false;
    bool in_time = true;
    int exit_code = -1;
    std::string output;  // its beginning, trimmed
    bool fine() const { return ran && in_time && exit_code == 0; }
};

// The first executable file of that name in the folders of PATH; "" if there is none.
std::string find_program(const std::string& name, const std::string& path_variable);

// In the order of `asks`. What has not ended after `limit` is killed with its children.
std::vector<ProgramAnswer> run_programs(const std::vector<ProgramAsk>& asks, std::chrono::milliseconds limit);

}  // namespace lavant::host_checks
