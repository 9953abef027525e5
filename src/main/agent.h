#pragma once
// `lavant agent` and the program `lavant-agent`, which is the same: started by a node provider, which also
// chooses its arguments.

#include <string>
#include <vector>

namespace lavant {

int run_agent(const std::vector<std::string>& arguments);

}  // namespace lavant
