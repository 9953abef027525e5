#pragma once
// How nodes come and go, and how the server talks to their agents.

#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/effect.h"
#include "core/model/messages.h"

namespace lavant::ports {

struct NodeOrder {
    StartNode what;
    std::string enrol_token;  // for this node only, until its first Hello
};

// Acquires and releases nodes. Blocking; called from the effect runner's threads. Every verb may be repeated.
class NodeProvider {
 public:
    virtual ~NodeProvider() = default;
    // Returns when the agent process was started; the agent dials in by itself. A node that runs already:
    // success. A node whose agent died: its agent is started again on the same spool (tasks are adopted).
    [[nodiscard]] virtual Result<void> start_node(const NodeOrder& order) = 0;
    // Returns when the node and everything on it is gone for certain. An unknown node: success.
    [[nodiscard]] virtual Result<void> stop_node(NodeId node) = 0;
    // Every node this provider holds, wanted or not, and whether its agent lives.
    struct Held {
        NodeId node;
        bool agent_alive = false;
        bool operator==(const Held&) const = default;
    };
    [[nodiscard]] virtual Result<std::vector<Held>> list_nodes() = 0;
    virtual Resources capacity() = 0;  // of all nodes together
};

// Sends to agents. Any thread; a node without a link loses the message (the agent's next Hello repairs it).
class AgentLinks {
 public:
    virtual ~AgentLinks() = default;
    virtual void send(NodeId node, ToAgent message) = 0;
    // Ends every link: the server's memory was made anew, and each agent's next Hello brings it up to date.
    virtual void drop_links() = 0;
};

}  // namespace lavant::ports
