#pragma once
// A stored compute as ARM answers it: with what only the server knows.

#include <string>
#include <vector>

#include "base/time.h"
#include "wire/json.h"

namespace lavant::wire {

// Nodes by Azure's words for what they do.
struct NodeCounts {
    int idle = 0;
    int running = 0;
    int preparing = 0;
    int unusable = 0;
    int leaving = 0;
    int preempted = 0;

    int current() const { return idle + running + leaving + unusable; }
    int target() const { return idle + running + preparing; }
};

struct ComputeFacts {
    std::string id;  // ARM
    std::string name;
    std::string created_by;
    Instant created_at{};
    Instant modified_at{};
    NodeCounts nodes;
    std::string not_growing;            // why a cluster has fewer nodes than it wants, in words; mostly empty
    std::vector<std::string> warnings;  // besides those that are stored
};

// `document` as wire/arm_compute.h stores it; "lavant" in it has the warnings that are kept with it.
Json to_arm_answer(const Json& document, const ComputeFacts& facts);

}  // namespace lavant::wire
