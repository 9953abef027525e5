#pragma once
// The plane: every job, pool, node and task that has not ended, and all decisions about them.
//
// Pure and deterministic: the same events at the same instants give the same outcomes. No I/O, clock, thread
// or randomness. app/control_loop commits an outcome before anything of it leaves; if a commit fails, the
// plane is thrown away and made anew from the store. docs: ARCHITECTURE.md, "life of a job"; vocabulary:
// README.md beside this file.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/plane/events.h"

namespace lavant::plane {

struct Settings {
    Resources capacity;  // of all nodes together; what is promised never exceeds it
    Duration lease = std::chrono::seconds{600};
    Duration lease_margin = std::chrono::seconds{30};
    Duration heartbeat = std::chrono::seconds{10};
    Duration start_timeout = std::chrono::seconds{120};  // from request to Hello
    Duration stop_grace = std::chrono::seconds{10};      // from SIGTERM to SIGKILL
    Duration retry_delay = std::chrono::seconds{5};      // of effects and of nodes that did not start
    Duration retry_delay_max = std::chrono::minutes{5};  // of effects, whose delay doubles with every failure
    Duration late_wake = std::chrono::seconds{5};        // later than planned by this much: we were suspended
};

// Counts for /metrics and `lavant status`.
struct Census {
    std::size_t jobs_live = 0;
    std::map<std::string, std::size_t> queued_by_reason;
    std::map<std::string, std::size_t> nodes_by_state;
    std::size_t outbox = 0;
};

class Plane {
 public:
    explicit Plane(Settings settings) : settings_(std::move(settings)) {}
    // Every node gets a full lease from `now`.
    Plane(Settings settings, const LiveRows& rows, Instant now);

    void apply(const Event& event, Instant now, Outcome& out);
    // Places what can be placed, grows and shrinks pools, acts on what is due. Then puts every changed row
    // into `out`.
    void decide(Instant now, Outcome& out);
    std::optional<Instant> next_wake() const { return next_wake_; }

    bool is_live(const std::string& workspace, const std::string& name) const;
    const JobHead* find_job(JobId id) const;
    LiveRows rows() const;  // what the store must hold; sorted as the store sorts
    std::vector<OutboxEntry> outbox() const;
    Census census() const;

 private:
    struct LiveJob {
        JobHead head;
        std::vector<TaskRef> tasks;    // of the current attempt
        bool is_new = false;           // not yet in the store: the row is in `added_`
        bool may_have_staged = false;  // files of the current attempt that are not published
    };
    struct QueueKey {  // highest priority first, then oldest
        int rank = 0;
        JobId job;
        auto operator<=>(const QueueKey&) const = default;
    };
    struct LivePool {
        Pool row;
        std::set<QueueKey> queue;
        std::int64_t queued_instances = 0;
        std::set<NodeId> idle;
        std::set<NodeId> nodes;  // all that are not gone
        int starting = 0;
        std::optional<Instant> blocked_until;  // after a node did not start
        std::string blocked_by;
    };
    struct LiveNode {
        Node row;
        std::optional<Node> stored;  // as the store has it
        std::uint64_t link = 0;      // 0: none
        Instant last_heard{};
        Instant last_effect{};  // when its provider last did something for it
        std::string host;
        std::optional<TaskRef> task;
    };
    struct Starved {  // the pool whose head job waits for room, and that job's place
        QueueKey head;
        PoolId pool;
        bool operator==(const Starved&) const = default;
    };
    struct Retry {
        Instant at{};
        std::int64_t outbox = 0;
    };

    // plane.cpp
    void apply_one(const PutCompute& event, Instant now, Outcome& out);
    void apply_one(const DeleteCompute& event, Instant now, Outcome& out);
    void apply_one(const SetQuota& event, Instant now, Outcome& out);
    void apply_one(const PutLock& event, Instant now, Outcome& out);
    void apply_one(const DeleteLock& event, Instant now, Outcome& out);
    void apply_one(const EvictNode& event, Instant now, Outcome& out);
    void apply_one(const WriteAssets& event, Instant now, Outcome& out);
    void apply_one(const ExplainJob& event, Instant now, Outcome& out);
    void apply_one(const EffectDone& event, Instant now, Outcome& out);
    void apply_one(const Tick& event, Instant now, Outcome& out);
    void record(const LiveJob& job, std::string what, std::string detail, Instant now, Outcome& out);
    void record(const Node& node, std::string detail, Instant now, Outcome& out);
    void add_effect(Effect effect, Outcome& out);
    void retry_effect(std::int64_t outbox, Instant now);
    bool has_effect_for(NodeId node) const;
    void flush(Outcome& out);

    // plane_jobs.cpp: the life of a job
    void apply_one(const SubmitJob& event, Instant now, Outcome& out);
    void apply_one(const CancelJob& event, Instant now, Outcome& out);
    void apply_one(const EditJob& event, Instant now, Outcome& out);
    void apply_one(const DeleteJob& event, Instant now, Outcome& out);
    bool is_being_deleted(const std::string& workspace, const std::string& name) const;
    void begin_running(LiveJob& job, const LiveNode& node, Instant since, Outcome& out);
    void apply_report(LiveNode& node, const TaskReport& report, Instant now, Outcome& out);
    void end_task(Task& task, TaskPhase phase, const TaskEnd& end, Instant now, Outcome& out);
    void settle_attempt(LiveJob& job, Instant now, Outcome& out);
    void conclude(LiveJob& job, Instant now, Outcome& out);
    void requeue(LiveJob& job, const std::string& why, Instant now, Outcome& out);
    void set_status(LiveJob& job, JobStatus status, std::string detail, Instant now, Outcome& out);
    void enqueue(LiveJob& job);
    void dequeue(LiveJob& job);
    void forget_attempt(LiveJob& job, Outcome& out);
    const Task* failed_task(const LiveJob& job) const;
    LivePool& pool_for(const Pool& wanted);
    const JobHead* ended_in_this_batch(const std::string& workspace, const std::string& name) const;
    LiveJob* live_job(const std::string& workspace, const std::string& name);

    // plane_nodes.cpp: the life of a node
    void apply_one(const EnrolNode& event, Instant now, Outcome& out);
    void apply_one(const NodeLinked& event, Instant now, Outcome& out);
    void apply_one(const NodeUnlinked& event, Instant now, Outcome& out);
    void apply_one(const NodeHeard& event, Instant now, Outcome& out);
    void apply_one(const TaskReported& event, Instant now, Outcome& out);
    void apply_one(const NodesHeld& event, Instant now, Outcome& out);
    void reconcile_inventory(LiveNode& node, const Hello& hello, bool restarted, Instant now, Outcome& out);
    void node_effect_done(const StartNode& effect, const EffectDone& event, Instant now, Outcome& out);
    void node_effect_done(const StopNode& effect, const EffectDone& event, Instant now, Outcome& out);
    void set_state(LiveNode& node, NodeState state, std::string reason, Instant now, Outcome& out);
    void lose_node(LiveNode& node, std::string reason, Instant now, Outcome& out);
    void drain_node(LiveNode& node, std::string reason, Instant now, Outcome& out);
    void check_nodes(Instant now, Outcome& out);
    LiveNode* linked_node(NodeId id, std::uint64_t link);

    // plane_schedule.cpp: who runs where, and how many nodes there are
    void place(LivePool& pool, Instant now, Outcome& out);
    void place_job(LivePool& pool, LiveJob& job, Instant now, Outcome& out);
    void grow(Instant now, Outcome& out);
    void make_room(const LivePool& wanting, Instant now, Outcome& out);
    void request_node(LivePool& pool, Instant now, Outcome& out);
    std::int64_t nodes_wanted(const LivePool& pool) const;
    std::string waiting_reason(const LivePool& pool) const;
    std::string explain(const LiveJob& job, Instant now) const;
    std::string explain_placed(const LiveJob& job, Instant now) const;
    std::string running_now(const LivePool* pool) const;
    void send_start(const Task& task, Outcome& out) const;
    void send_stop_if_doomed(const Task& task, Outcome& out) const;

    Settings settings_;
    std::map<JobId, LiveJob> jobs_;
    std::unordered_map<std::string, JobId> names_;  // looked up, never iterated
    std::map<PoolId, LivePool> pools_;
    std::map<std::string, PoolId> pool_keys_;
    std::map<NodeId, LiveNode> nodes_;
    std::map<TaskRef, Task> tasks_;
    std::map<std::int64_t, OutboxEntry> outbox_;
    std::set<std::string> deleting_;  // names whose files are still there: see DropJobFiles
    std::vector<Retry> retries_;
    std::map<std::int64_t, int> failures_;  // of effects that are still in the outbox
    Resources promised_;
    std::optional<Starved> starved_;
    std::optional<Instant> next_wake_;
    std::int64_t last_job_ = 0;
    std::int64_t last_node_ = 0;
    std::int64_t last_pool_ = 0;
    std::int64_t last_outbox_ = 0;
    std::int64_t last_event_ = 0;

    // Changed since the last flush.
    std::map<JobId, Job> added_;
    std::set<JobId> changed_jobs_;
    std::set<TaskRef> changed_tasks_;
    std::set<NodeId> changed_nodes_;
    std::set<PoolId> changed_pools_;
    std::map<JobId, JobHead> ended_jobs_;  // no longer live, to be written once more
    std::map<TaskRef, Task> ended_tasks_;
    std::map<NodeId, Node> gone_nodes_;
    std::set<PoolId> unsettled_;  // pools that decide() must look at
};

}  // namespace lavant::plane
