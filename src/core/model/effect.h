#pragma once
// What the control loop asks of the world. Stored in the outbox with the decision that caused it, carried
// out at least once after the commit; carrying one out twice does no harm.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "core/model/resources.h"

namespace lavant {

struct StartNode {
    NodeId node;
    PoolId pool;
    std::string size;
    Resources resources;    // what it may use at most
    std::string gpus = {};  // names of its devices, by commas
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
    // Another attempt follows: this one's logs go to user_logs/attempt_<n>/. If it was lost, nobody knows how
    // far it came, and what it staged is dropped instead.
    bool again = false;
    bool lost = false;
    bool operator==(const PublishOutputs&) const = default;
};

// Removes what attempt `attempt` staged and nobody will publish.
struct DropStaged {
    JobId job;
    int attempt = 0;
    std::string workspace = "default";
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

// Tells the URL that a job asked for of a status it reached.
struct NotifyOfJob {
    JobId job;
    std::string workspace;
    std::string name;
    std::string url;
    std::string status;
    std::string detail;
    std::int64_t sequence = 0;  // of the event in the history
    std::int64_t at_micros = 0;
    bool operator==(const NotifyOfJob&) const = default;
};

// Removes what lay in the storage of a workspace that is gone.
struct DropContainers {
    std::string workspace;
    std::vector<std::string> containers;
    bool operator==(const DropContainers&) const = default;
};

using Effect =
    std::variant<StartNode, StopNode, PublishOutputs, DropStaged, DropJobFiles, NotifyOfJob, DropContainers>;

struct OutboxEntry {
    std::int64_t id = 0;
    Effect effect;
    bool operator==(const OutboxEntry&) const = default;
};

}  // namespace lavant
