#pragma once
// Nodes, the pools they belong to, and the tasks on them.
//
//   node:  Requested -> Starting -> Idle <-> Busy -> Draining -> Released;  any -> Lost, Preempted
//   task:  Assigned -> Preparing -> Running -> Finalizing -> Ended;  any -> Lost (its node went)

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/model/job.h"
#include "core/model/quota.h"
#include "core/model/resources.h"

namespace lavant {

enum class NodeState { Requested, Starting, Idle, Busy, Draining, Released, Lost, Preempted };
std::string_view name_of(NodeState state);
inline bool is_gone(NodeState state) {
    return state == NodeState::Released || state == NodeState::Lost || state == NodeState::Preempted;
}

// What a pool is made with and keeps for as long as it lives.
struct PoolTerms {
    std::string compute;   // the cluster's or instance's name; "" for serverless
    std::string arm_id;    // lower case: where locks are looked for
    std::string subnet;    // likewise; "" none
    std::string location;  // of its nodes
    std::string family;    // of its size
    Tier tier = Tier::Dedicated;
    int vcpus = 0;           // of one node, as quotas count them
    Resources node_limit;    // what a node may use at most; at least Pool::node_resources
    bool packed = false;     // a node runs as many tasks as fit; otherwise those of one job
    std::int64_t price = 0;  // of a node, in millionths of a dollar an hour
    bool operator==(const PoolTerms&) const = default;
};

// The set of nodes behind one cluster, one instance, or one serverless key.
struct Pool {
    PoolId id;
    std::int64_t version = 0;
    std::string workspace;
    std::string key;  // "serverless/Standard_DS3_v2/dedicated", or "compute/NAME"
    std::string size;
    Resources node_resources;  // what one node costs the provider
    int nodes_min = 0;
    int nodes_max = 0;
    Duration idle_before_release{};
    PoolTerms terms;
    bool leaving = false;  // deleted: gone with the last of its nodes
    bool operator==(const Pool&) const = default;
    bool is_serverless() const { return terms.compute.empty(); }
};

struct Node {
    NodeId id;
    std::int64_t version = 0;
    PoolId pool;
    NodeState state = NodeState::Requested;
    bool enrolled = false;    // its token was shown; once it has said Hello, that is not possible again
    std::string boot;         // the agent's incarnation, empty before the first Hello
    std::string protections;  // what confines its tasks, in words
    Instant requested_at{};
    std::optional<Instant> idle_since;
    std::string reason;     // why it is in this state, in words
    std::string gpus = {};  // names of the devices that are its own, by commas
    Resources cost = {};    // what it was promised of the machine when it was asked for
    bool operator==(const Node&) const = default;
};

// One process group of an attempt on one node: one rank. A job with two processes on each of two nodes has
// the indices 0, 1 on its first node, 2, 3 on its second.
struct TaskRef {
    JobId job;
    int attempt = 0;
    int index = 0;
    auto operator<=>(const TaskRef&) const = default;
};

enum class TaskPhase { Assigned, Preparing, Running, Finalizing, Ended, Lost };
std::string_view name_of(TaskPhase phase);

enum class EndReason {
    Exited,    // exit_code tells
    Signaled,  // signal tells
    OutOfMemory,
    Timeout,
    Stopped,        // the server asked
    PrepareFailed,  // code, data or environment could not be had; error_code tells which
    LeaseExpired,   // the agent heard nothing from the server for too long
    NodeLost,
    Preempted,
};
std::string_view name_of(EndReason reason);

struct TaskEnd {
    EndReason reason = EndReason::Exited;
    int exit_code = 0;
    int signal = 0;
    std::string error_code;  // of JobError, for PrepareFailed
    std::string message;
    std::string traceback_line;
    bool has_outputs = false;  // files are staged and wait to be published
    std::string log;           // all of it, where it was short and nothing of it had been sent before
    Usage usage;
    bool operator==(const TaskEnd&) const = default;
    bool succeeded() const { return reason == EndReason::Exited && exit_code == 0; }
};

struct Task {
    TaskRef ref;
    std::int64_t version = 0;
    NodeId node;
    TaskPhase phase = TaskPhase::Assigned;
    TaskEnd end;  // meaningful when Ended or Lost
    Instant assigned_at{};
    std::string gpus = {};  // names of the node's devices that it may use, by commas
    bool operator==(const Task&) const = default;
};

}  // namespace lavant
