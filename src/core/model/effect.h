#pragma once
// What the control loop asks of the world. Stored in the outbox with the decision that caused it, carried
// out at least once after the commit; carrying one out twice does no harm.

#include <cstdint>
#include <string>
#include <variant>

#include "base/id.h"
#include "core/model/resources.h"

namespace lavant {

struct StartNode {
    NodeId node;
    PoolId pool;
    std::string size;
    Resources resources;
    bool operator==(const StartNode&) const = default;
};
struct StopNode {
    NodeId node;
    bool operator==(const StopNode&) const = default;
};
// Renames what attempt `attempt` staged to its final place.
struct PublishOutputs {
    JobId job;
    std::string workspace;
    std::string name;
    int attempt = 0;
    bool operator==(const PublishOutputs&) const = default;
};

// Removes what attempt `attempt` staged and nobody will publish.
struct DropStaged {
    JobId job;
    int attempt = 0;
    bool operator==(const DropStaged&) const = default;
};

// Removes the files of a job whose rows are gone. Until it is done nobody else gets the name, so that nothing
// of a new job can be taken for the old one's.
struct DropJobFiles {
    JobId job;
    std::string workspace;
    std::string name;
    bool operator==(const DropJobFiles&) const = default;
};

using Effect = std::variant<StartNode, StopNode, PublishOutputs, DropStaged, DropJobFiles>;

struct OutboxEntry {
    std::int64_t id = 0;
    Effect effect;
    bool operator==(const OutboxEntry&) const = default;
};

}  // namespace lavant
