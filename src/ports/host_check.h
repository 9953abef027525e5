#pragma once
// One thing that `lavant doctor` looked at on this machine.

#include <string>

namespace lavant::ports {

struct HostCheck {
    enum class Mark { Ok, Off, Bad };  // Off: jobs run without it. Bad: no job can run.

    std::string name;
    Mark mark = Mark::Ok;
    std::string found;   // what is there
    std::string effect;  // what that changes for jobs; "" where nothing is lost
    std::string remedy;  // the command that turns it on; "" where there is nothing to do
};

}  // namespace lavant::ports
