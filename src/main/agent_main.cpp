// `lavant-agent`: the agent alone, as a static program that runs on any Linux (docs/decisions/0007).

#include <string>
#include <vector>

#include "main/agent.h"
#include "main/look_ups.h"

int main(int argc, char** argv) {
    lavant::use_own_look_ups();
    return lavant::run_agent(std::vector<std::string>(argv + 1, argv + argc));
}
