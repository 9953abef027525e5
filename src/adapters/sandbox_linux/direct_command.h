#pragma once
// Commands that need no shell. Starting bash costs more than all the rest of a no-op task, and a command such
// as "python train.py --epochs 3" means the same without it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lavant::sandbox_linux {

struct DirectCommand {
    std::vector<std::string> words;  // the first is the program as written
    std::vector<std::string>
        candidates;  // where it may be, in order; if none can be executed, the shell says why
};

// Nothing where the shell might make something else of it: quotes, expansions, redirections, builtins,
// functions or start-up files from the environment, several commands.
std::optional<DirectCommand> find_direct_command(std::string_view script,
                                                 const std::vector<std::string>& environment);

}  // namespace lavant::sandbox_linux
