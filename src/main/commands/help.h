#pragma once
// What a command's help says, and what the completion and the manual are made from.

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace lavant {

struct OptionHelp {
    std::string names;  // "-n, --name"
    std::string value;  // "NAME", empty for a flag
    std::string about;
    bool positional = false;
    bool required = false;
};

// The group of commands that take a command of the user's after `--`.
inline constexpr const char* kTakesCommand = "takes a command";

bool is_hidden(const CLI::App& command);
std::string path_of(const CLI::App& command);  // "lavant job show"
std::vector<OptionHelp> options_of(const CLI::App& command);
std::vector<const CLI::App*> commands_below(const CLI::App& command);  // not the hidden ones
// Every word that may stand where `--word` or a command stands.
std::vector<std::string> option_names(const CLI::App& command);
std::string example_of(const CLI::App& command);  // whole lines; in az's words below `az`
std::string usage_line(const CLI::App& command);
std::string render_help(const CLI::App& command, int width);

}  // namespace lavant
