#pragma once
// The files the local provider keeps of one node: nodes/<number>/{agent.pid,token,order,cgroup,agent.log}.
// The rest of the folder is the agent's.

#include <optional>
#include <string>

#include "base/result.h"
#include "host/cgroups.h"
#include "host/processes.h"
#include "ports/nodes.h"

namespace lavant::nodes_local {

class NodeFolder {
 public:
    NodeFolder(const std::string& base, NodeId node);
    const std::string& path() const { return path_; }
    std::string log_file() const { return path_ + "/agent.log"; }

    [[nodiscard]] Result<void> write_order(const ports::NodeOrder& order) const;
    [[nodiscard]] Result<void> write_agent(const host::ProcessMark& mark) const;
    std::optional<host::ProcessMark> agent() const;
    [[nodiscard]] Result<void> write_cgroup(const host::CgroupPlace& place) const;
    std::optional<host::CgroupPlace> cgroup() const;
    // Keeps agent.log below `bytes_max`: the old text moves to agent.log.1, the agent goes on writing.
    void limit_log(std::uint64_t bytes_max) const;

 private:
    std::string path_;
};

}  // namespace lavant::nodes_local
