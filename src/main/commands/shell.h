#pragma once
// What shells and the manual need to know of the commands, made from the tree itself.

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace lavant {

// What may stand for the last of `words` (which may be empty). `wants_job`: a job's name may, too; a
// compute's likewise.
struct Candidates {
    std::vector<std::string> words;
    bool wants_job = false;
    bool wants_compute = false;
    std::string wants_names = {};  // of a workspace's resources: the segment of their path; "" none
};
Candidates complete(const CLI::App& root, const std::vector<std::string>& words);

std::string completion_script(const std::string& shell);  // "bash", "zsh" or "fish"; "" for others
std::string manual(const CLI::App& root);                 // roff

}  // namespace lavant
