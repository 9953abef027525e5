#pragma once
// Everything that can happen to the plane, and what it answers. A closed set: see plane.h.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/model/messages.h"
#include "core/model/record.h"

namespace lavant::plane {

// Who waits for an answer; 0 nobody. The control loop maps it to a callback.
using Ticket = std::uint64_t;

// --- from users, by way of the API ---

struct SubmitJob {
    Ticket ticket = 0;
    Job job;    // head.workspace, name, instances, priority, retry; meta; body. The rest is the plane's.
    Pool pool;  // found by (workspace, key), made if absent
    std::vector<LineageEdge> lineage = {};  // what it reads; the job's id is the plane's
    // Why there is no engine for such a job: it is stored and has Failed at once. "" for others.
    std::string unsupported = {};
    std::optional<Job> stored;  // filled by the control loop: a job of that name that has ended
};
struct CancelJob {
    Ticket ticket = 0;
    std::string workspace;
    std::string name;
    std::string who;
    std::optional<Job> stored;  // likewise
};
struct EditJob {  // display name, description, tags, archived, properties
    Ticket ticket = 0;
    std::string workspace;
    std::string name;
    JobMeta meta;
    std::optional<std::string> properties;  // JobBody's anew, if they change
    std::optional<Job> stored;              // filled by the control loop, whether live or ended
};
struct DeleteJob {  // one that has ended: its rows at once, its files afterwards
    Ticket ticket = 0;
    std::string workspace;
    std::string name;
    std::string who;
    std::optional<Job> stored;  // likewise
};
// Makes a compute, or changes one. `asset` is what a user wrote, of kind "computes"; `pool` is what the
// scheduler has of it: one without nodes for attached machines, whose nodes are not ours.
struct PutCompute {
    Ticket ticket = 0;
    Asset asset;
    std::optional<Pool> pool;  // its version is the one that the change was made from; 0: whatever is there
    bool is_new = false;       // the name must be free; otherwise it must be there
    std::string who;
};
struct DeleteCompute {
    Ticket ticket = 0;
    std::string workspace;
    std::string name;
    std::string who;
};
struct SetQuota {
    Ticket ticket = 0;
    Quota quota;
    std::string who;
};
struct PutLock {
    Ticket ticket = 0;
    Lock lock;
    std::string who;
};
struct DeleteLock {
    Ticket ticket = 0;
    std::string scope;
    std::string name;
    std::string who;
};
// Takes a node away as a provider does that wants a spot node back. `node` 0: the first that runs something.
struct EvictNode {
    Ticket ticket = 0;
    std::string workspace;
    std::string compute;  // a cluster's name, or "serverless"
    NodeId node;
    std::string who;
};
struct WriteAssets {
    Ticket ticket = 0;
    std::vector<AssetWrite> writes;
};
// Everything of a workspace that has no live job and no compute.
struct DeleteWorkspace {
    Ticket ticket = 0;
    std::string workspace;
    AssetWrite row;  // what stays of it
    std::vector<std::string> containers;
    std::string who;
};
struct ExplainJob {
    Ticket ticket = 0;
    std::string workspace;
    std::string name;
};

// --- from agents, by way of their links ---

struct EnrolNode {  // the token was presented
    Ticket ticket = 0;
    NodeId node;
};
struct NodeLinked {
    NodeId node;
    std::uint64_t link = 0;  // numbers the connection: reports of an older one are ignored
    Hello hello;
};
struct NodeUnlinked {
    NodeId node;
    std::uint64_t link = 0;
};
struct NodeHeard {
    NodeId node;
    std::uint64_t link = 0;
    std::int64_t number = 0;  // of the heartbeat, echoed in the answer
};
struct TaskReported {
    NodeId node;
    std::uint64_t link = 0;
    TaskReport report;
};

// --- from the effect runner ---

struct EffectDone {
    std::int64_t outbox = 0;
    bool succeeded = true;
    std::string message;
    ErrorCode code = ErrorCode::Unavailable;  // of a failure: whether it is worth another try
};
struct NodesHeld {  // what the provider holds: the reconciler compares
    struct Held {
        NodeId node;
        bool agent_alive = false;
    };
    std::vector<Held> nodes;
    Instant listed_at{};  // when the listing began: nodes that changed later are not judged by it
};

// Time passed; sent by the control loop itself.
struct Tick {};

using Event =
    std::variant<SubmitJob, CancelJob, EditJob, DeleteJob, PutCompute, DeleteCompute, SetQuota, PutLock,
                 DeleteLock, EvictNode, WriteAssets, DeleteWorkspace, ExplainJob, EnrolNode, NodeLinked,
                 NodeUnlinked, NodeHeard, TaskReported, EffectDone, NodesHeld, Tick>;

// --- answers ---

// Why a job is where it is, in numbers and in words.
struct Explanation {
    // "quota", "nodes", "gang", "lock", "room", "node_start", "node_start_failed", "turn"; "" if it runs
    std::string reason;
    std::string text;
    std::int64_t jobs_ahead = 0;
    int nodes_needed = 0;
    int nodes_idle = 0;  // of its pool, as the next three
    int nodes_starting = 0;
    int nodes_busy = 0;
    int nodes_max = 0;
    std::int64_t cores_used = 0;       // of the quota that counts
    std::int64_t cores_limit = 0;      // 0: none counts
    std::string quota;                 // which: "standardDSv2Family in local, dedicated"
    std::string lock;                  // its name and scope
    std::optional<Instant> starts_at;  // from running the scheduler forward; not before, if `at_least`
    bool at_least = false;
};

struct Answer {
    std::optional<Job> job;             // SubmitJob, CancelJob, EditJob, DeleteJob
    bool existed = false;               // SubmitJob: the name was taken; `job` is what is there
    std::vector<bool> assets_written;   // WriteAssets
    Explanation explanation;            // ExplainJob
    std::vector<std::string> warnings;  // PutCompute
    NodeId node;                        // EvictNode
};
struct Reply {
    Ticket ticket = 0;
    Result<Answer> answer;
};
struct Send {
    NodeId node;
    ToAgent message;  // of a StartTask, the control loop fills `launch` and `job_token`
};

// Which of the batch's asset writes a ticket waits for.
struct AssetReply {
    Ticket ticket = 0;
    std::size_t first = 0;
    std::size_t count = 0;
};

// What a batch leads to: written in one transaction, and only then sent, answered and carried out.
struct Outcome {
    WriteBatch writes;
    std::vector<JobHead> completed;  // those whose outputs become assets in the same transaction
    std::vector<Reply> replies;
    std::vector<AssetReply> asset_replies;
    std::vector<Send> sends;
    std::vector<OutboxEntry> effects;
};

}  // namespace lavant::plane
