// `lavant-agent`: the agent alone, as a static program that runs on any Linux (docs/decisions/0007).

#include <nss.h>

#include <string>
#include <vector>

#include "main/agent.h"

int main(int argc, char** argv) {
    // A static program has the C library's own look-up of names in it and cannot load another: the modules
    // that nsswitch.conf may ask for belong to another C library.
    ::__nss_configure_lookup("hosts", "files dns");
    return lavant::run_agent(std::vector<std::string>(argv + 1, argv + argc));
}
