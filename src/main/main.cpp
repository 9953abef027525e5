#include <cstring>
#include <string>
#include <vector>

#include "main/agent.h"
#include "main/cli.h"
#include "main/look_ups.h"

int main(int argc, char** argv) {
    lavant::use_own_look_ups();
    // The agent first and apart: it starts often and must start fast.
    if (argc > 1 && std::strcmp(argv[1], "agent") == 0)
        return lavant::run_agent(std::vector<std::string>(argv + 2, argv + argc));
    return lavant::run_cli(std::vector<std::string>(argv + 1, argv + argc));
}
