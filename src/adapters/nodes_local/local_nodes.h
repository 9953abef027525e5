#pragma once
// ports::NodeProvider on this machine: a node is a detached agent process in a cgroup with the
// size's limits. Nodes outlive the server; everything known of them lies in their folders.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/nodes_local/node_folder.h"
#include "host/machine.h"
#include "ports/nodes.h"

namespace lavant::nodes_local {

struct LocalNodesSettings {
    std::string folder;                      // of all nodes: <data>/nodes
    std::vector<std::string> agent_command;  // empty: `agent` of the program that runs now
    std::string server_url;
    std::string ca_file;
    std::vector<std::string> agent_arguments;  // added to every agent's
    std::uint64_t log_bytes_max = 4U << 20;
    Duration stop_grace = std::chrono::seconds(2);
    bool allow_cgroups = true;
    std::optional<std::vector<std::string>> gpus = {};  // instead of those that are found
};

class LocalNodes final : public ports::NodeProvider {
 public:
    explicit LocalNodes(LocalNodesSettings settings);

    // Runs: <agent_command> --node N --folder F --server URL --ca FILE; the enrol token is in F/token.
    [[nodiscard]] Result<void> start_node(const ports::NodeOrder& order) override;
    [[nodiscard]] Result<void> stop_node(NodeId node) override;
    [[nodiscard]] Result<std::vector<Held>> list_nodes() override;
    Resources capacity() override;
    const std::vector<std::string>& gpu_names() const { return machine_.gpus; }
    // What limits of a size this machine does not let us set: "memory, cpu (no permission …)"; empty: none.
    std::string missing_limits();

 private:
    class Busy;
    [[nodiscard]] Result<host::Cgroup> make_cgroup(const NodeFolder& folder, const StartNode& what);
    [[nodiscard]] Result<void> stop_agent(const NodeFolder& folder, NodeId node);
    [[nodiscard]] Result<void> kill_without_cgroup(const NodeFolder& folder);
    std::vector<std::string> arguments_for(const NodeFolder& folder, NodeId node) const;

    const LocalNodesSettings settings_;
    const host::Machine machine_;
    host::CgroupPlace place_;
    std::string cgroup_prefix_;

    std::mutex mutex_;  // guards what follows
    std::condition_variable idle_;
    std::set<NodeId> busy_;  // one verb at a time for each node
    std::string missing_limits_;
};

}  // namespace lavant::nodes_local
