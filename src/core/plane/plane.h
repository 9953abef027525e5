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
#include "core/plane/gone_workspaces.h"
#include "core/quota/quota_book.h"
#include "core/schedule/scheduler.h"

namespace lavant::plane {

struct Settings {
    Resources capacity;                       // of all nodes together; what is promised never exceeds it
    std::vector<std::string> gpu_names = {};  // of the machine's devices, capacity.gpus of them
    QuotaDefaults quotas = {};
    Duration lease = std::chrono::seconds{600};
    Duration lease_margin = std::chrono::seconds{30};
    Duration heartbeat = std::chrono::seconds{10};
    Duration start_timeout = std::chrono::seconds{120};  // from request to Hello
    Duration stop_grace = std::chrono::seconds{10};      // from SIGTERM to SIGKILL
    Duration retry_delay = std::chrono::seconds{5};      // of effects and of nodes that did not start
    Duration retry_delay_max = std::chrono::minutes{5};  // of both; the delay doubles with every failure
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
    explicit Plane(Settings settings);
    // Every node gets a full lease from `now`.
    Plane(Settings settings, const LiveRows& rows, Instant now);

    void apply(const Event& event, Instant now, Outcome& out);
    // Places what can be placed, grows and shrinks pools, acts on what is due. Then puts every changed row
    // into `out`.
    void decide(Instant now, Outcome& out);
    std::optional<Instant> next_wake() const;
    // What a plane made anew must still know of the one before it: which workspaces are gone, less those of a
    // batch that was perhaps not stored.
    void remember_gone(const Plane& before, const std::vector<std::string>& doubtful);

    bool is_live(const std::string& workspace, const std::string& name) const;
    const JobHead* find_job(JobId id) const;
    LiveRows rows() const;  // what the store must hold; sorted as the store sorts
    std::vector<OutboxEntry> outbox() const;
    Census census() const;

 private:
    struct LiveJob {
        JobHead head;
        std::vector<TaskRef> tasks;           // of the current attempt
        bool is_new = false;                  // not yet in the store: the row is in `added_`
        bool may_have_staged = false;         // files of the current attempt that are not published
        std::optional<TaskRef> first_failed;  // of the current attempt: the others may fail because of it
        bool goes_again = false;              // its files are put away, then it waits for another attempt
    };
    struct LivePool {
        Pool row;
        std::int64_t jobs = 0;                 // live ones
        std::optional<Instant> blocked_until;  // after a node did not start
        std::string blocked_by;
        int start_failures = 0;                // in a row
        std::optional<Duration> usual_length;  // of its jobs, the latest counting most
    };
    struct LiveNode {
        Node row;
        std::optional<Node> stored;  // as the store has it
        std::uint64_t link = 0;      // 0: none
        Instant last_heard{};
        Instant last_effect{};  // when its provider last did something for it
        std::string host;
        std::set<TaskRef> tasks;
        std::optional<Instant> evicted_by;  // its tasks have until then to end
        bool evicted = false;               // it went that way
        std::optional<Instant> due;         // its place in due_
    };
    class Carrier;  // carries out what the scheduler decides
    struct Retry {
        Instant at{};
        std::int64_t outbox = 0;
    };

    // plane.cpp
    void load_tasks(const LiveRows& rows);
    void enter_workspace(const std::string& workspace) { entered_.insert(workspace); }
    std::string find_holder(const std::string& workspace) const;
    void apply_one(const PutCompute& event, Instant now, Outcome& out);
    void apply_one(const DeleteCompute& event, Instant now, Outcome& out);
    void apply_one(const SetQuota& event, Instant now, Outcome& out);
    void apply_one(const PutLock& event, Instant now, Outcome& out);
    void apply_one(const DeleteLock& event, Instant now, Outcome& out);
    void apply_one(const EvictNode& event, Instant now, Outcome& out);
    void apply_one(const WriteAssets& event, Instant now, Outcome& out);
    void apply_one(const DeleteWorkspace& event, Instant now, Outcome& out);
    void apply_one(const ExplainJob& event, Instant now, Outcome& out);
    void apply_one(const EffectDone& event, Instant now, Outcome& out);
    void apply_one(const Tick& event, Instant now, Outcome& out);
    void record(const LiveJob& job, std::string what, std::string detail, Instant now, Outcome& out);
    void record(const Node& node, std::string detail, Instant now, Outcome& out);
    void add_effect(Effect effect, Outcome& out);
    void retry_effect(std::int64_t outbox, Instant now);
    bool has_effect_for(NodeId node) const;
    void count_node_effect(const Effect& effect, int change);
    void flush(Outcome& out);
    void flush_jobs(Outcome& out);

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
    void requeue(LiveJob& job, Instant now, Outcome& out);
    void store_unsupported(const SubmitJob& event, Instant now, Outcome& out);
    void announce(const LiveJob& job, std::string what, std::string detail, Instant now, Outcome& out);
    static void add_lineage(const SubmitJob& event, JobId job, Outcome& out);
    void set_status(LiveJob& job, JobStatus status, std::string detail, Instant now, Outcome& out);
    schedule::Ask ask_of(const JobHead& head);
    void forget_attempt(LiveJob& job, Outcome& out);
    const Task* failed_task(const LiveJob& job) const;
    bool runs_out_of_tries(const LiveJob& job, const Task& failed) const;
    const Pool* find_pool(const Pool& wanted) const;
    PoolId pool_for(const Pool& wanted);
    static std::string index_of(const Pool& pool);
    void remember_name(const JobHead& head);
    void forget_name(const JobHead& head);
    JobId find_name(const std::string& workspace, const std::string& name) const;
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
    void evict_node(LiveNode& node, std::string reason, Instant now, Outcome& out);
    void stop_when_empty(LiveNode& node, Outcome& out);
    Duration grace_of(const LiveNode& node) const;
    void node_did_not_start(LivePool& pool, const std::string& why, Instant now);
    void check_nodes(Instant now, Outcome& out);
    void check_node(LiveNode& node, Instant now, Outcome& out);
    std::optional<Instant> due_of(const LiveNode& node) const;
    void set_due(LiveNode& node, std::optional<Instant> due);
    LiveNode* linked_node(NodeId id, std::uint64_t link);

    // plane_computes.cpp: clusters, quotas, locks
    const Lock* lock_over(const Pool& pool) const;
    void apply_locks();
    void remove_pool_if_unused(PoolId pool, Outcome& out);
    std::string holders_of(const QuotaKey& key) const;
    [[nodiscard]] Result<std::string> check_quota(const Pool& pool, const JobHead& head) const;
    [[nodiscard]] Result<void> check_compute(const PutCompute& event, const Pool& wanted) const;
    void record_lock(const Lock& lock, std::string what, const std::string& who, Instant now, Outcome& out);
    void record_compute(const Pool& pool, std::string what, std::string detail, Instant now, Outcome& out);
    [[nodiscard]] Result<void> check_compute_quota(const Pool& pool, const Pool* before) const;

    // plane_schedule.cpp: what the scheduler decides is carried out
    void place_job(LiveJob& job, const std::vector<NodeId>& nodes, Instant now, Outcome& out);
    void request_node(PoolId pool, Instant now, Outcome& out);
    std::string take_gpus(int count);
    std::string free_gpus_of(const LiveNode& node, int count) const;
    int take_ports(int count);
    void send_start(const Task& task, Outcome& out) const;
    void send_stop_if_doomed(const Task& task, Outcome& out) const;
    bool is_evicted(const LiveJob& job) const;
    void write_usage(const Task& task, const LiveJob& job, Instant now, Outcome& out) const;
    void write_usage(const Node& node, Instant now, Outcome& out) const;

    // plane_explain.cpp
    Explanation explain(const LiveJob& job, Instant now) const;
    std::string explain_placed(const LiveJob& job, Instant now) const;
    std::string reason_in_words(const LivePool& pool, schedule::Wait wait, Explanation& why) const;
    std::string running_now(const LivePool* pool) const;

    Settings settings_;
    schedule::Scheduler scheduler_;
    std::map<JobId, LiveJob> jobs_;
    std::unordered_multimap<std::size_t, JobId> names_;            // by hash; looked up, never iterated
    std::unordered_map<std::string, schedule::UserNumber> users_;  // likewise
    std::map<PoolId, LivePool> pools_;
    std::map<std::string, PoolId> pool_keys_;
    std::map<NodeId, LiveNode> nodes_;
    std::map<TaskRef, Task> tasks_;
    std::map<std::int64_t, OutboxEntry> outbox_;
    std::set<std::string> deleting_;  // names whose files are still there: see DropJobFiles
    std::vector<Retry> retries_;
    std::map<std::int64_t, int> failures_;  // of effects that are still in the outbox
    std::map<NodeId, int> node_effects_;    // how many of the outbox are about a node
    std::map<std::pair<QuotaKey, QuotaLevel>, Quota> quotas_;
    std::map<std::pair<std::string, std::string>, Lock> locks_;  // by scope and name
    std::set<std::string> free_gpus_;
    std::map<int, int> ports_;                  // taken ones: the first, how many
    std::set<std::pair<Instant, NodeId>> due_;  // when a node is to be looked at
    std::set<PoolId> blocked_;                  // those with blocked_until
    std::optional<Instant> born_;               // until the first decision
    GoneWorkspaces gone_;
    std::int64_t last_job_ = 0;
    std::int64_t last_node_ = 0;
    std::int64_t last_pool_ = 0;
    std::int64_t last_outbox_ = 0;
    std::int64_t last_event_ = 0;

    // Changed since the last flush.
    std::set<std::string> entered_;  // workspaces in which something was written
    std::map<JobId, Job> added_;
    std::set<JobId> changed_jobs_;
    std::set<TaskRef> changed_tasks_;
    std::set<NodeId> changed_nodes_;
    std::set<PoolId> changed_pools_;
    std::map<JobId, JobHead> ended_jobs_;  // no longer live, to be written once more
    std::map<TaskRef, Task> ended_tasks_;
    std::vector<NodeId> gone_nodes_;
    std::set<PoolId> emptied_pools_;  // whose rows may go
};

}  // namespace lavant::plane
