#pragma once
// Who runs where, and how many nodes there are. A value of its own, smaller than the plane: the plane tells
// it what happens and carries out what it decides; the forecast runs a copy of it forward in time; a
// benchmark fills it with a million jobs. It changes only by what it is told, so that both owners go the same
// way: decide() calls an action, and the owner answers with the notification that belongs to it.
//
// A decision after one change looks at the pools that changed, and at those that want nodes until the machine
// is full. docs: README.md beside core/plane.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/node.h"
#include "core/quota/quota_book.h"
#include "core/schedule/fair_queue.h"
#include "core/schedule/profile.h"

namespace lavant::schedule {

struct Settings {
    Resources capacity;  // of all nodes together; what is promised never exceeds it
    Duration overtaken_max = std::chrono::hours{1};
    Duration start_estimate = std::chrono::seconds{1};     // from a node's request to its first task
    Duration preemption_grace = std::chrono::seconds{30};  // as the forecast takes it
    std::size_t backfill_depth = 100;  // waiting jobs that are looked at behind a blocked one
};

// What the owner does. Each is followed by the notification named with it, before the call returns.
class Actions {
 public:
    virtual ~Actions() = default;
    virtual void place(const Ask& ask, const std::vector<NodeId>& nodes) = 0;  // job_placed
    virtual void request(PoolId pool) = 0;                                     // node_added
    virtual void release(NodeId node, const std::string& why) = 0;             // node_leaves
    virtual void preempt(NodeId node, const std::string& why) = 0;             // node_leaves
};

// Why the first job of a pool does not run.
enum class Wait { Nothing, NodeStart, StartFailed, Maximum, Quota, Room, Lock, Gang, Turn };

std::string_view name_of(Wait wait);

class Scheduler {
 public:
    Scheduler(Settings settings, QuotaBook quotas)
        : settings_(std::move(settings)), quotas_(std::move(quotas)) {}

    // --- what happens ---
    void put_pool(const Pool& pool);
    void remove_pool(PoolId pool);  // without nodes and jobs
    void set_locked(PoolId pool, bool locked);
    void set_blocked(PoolId pool, bool blocked);  // its nodes do not start: none is asked for
    void set_quota(const Quota& quota);
    void job_waits(const Ask& ask);
    void job_waits_no_more(PoolId pool, Turn turn);
    void job_placed(PoolId pool, Turn turn, const std::vector<NodeId>& nodes, Instant now);
    // For a job that was placed before the scheduler was made.
    void job_runs(const Ask& ask, const std::vector<NodeId>& nodes, Instant since);
    void job_leaves(JobId job, NodeId node);  // none of its tasks is there any more
    void node_added(NodeId node, PoolId pool, const Resources& cost);
    void node_ready(NodeId node);
    void node_leaves(NodeId node);
    void node_gone(NodeId node);

    void decide(Instant now, Actions& actions);

    // --- what there is ---
    struct PoolView {
        int nodes = 0;  // all that are not gone
        int idle = 0;
        int starting = 0;
        int leaving = 0;
        std::size_t queued = 0;
        bool locked = false;
    };
    PoolView view(PoolId pool) const;
    const FairQueue& queue(PoolId pool) const { return pools_.at(pool).queue; }
    const Resources& node_cost(PoolId pool) const { return pools_.at(pool).row.node_resources; }
    Wait why_waiting(PoolId pool) const;
    const Resources& promised() const { return promised_; }
    const QuotaBook& quotas() const { return quotas_; }
    std::int64_t cores_used(const QuotaKey& key) const;
    bool wants_no_fewer(PoolId pool) const;  // an idle node of it stays
    const Settings& settings() const { return settings_; }

    // A copy with the jobs that may start before `target` and no others, at most `jobs_max` of them; false
    // if there are more.
    bool copy_ahead_of(PoolId pool, Turn target, std::size_t jobs_max, Scheduler& copy) const;
    struct RunningJob {
        PoolId pool;
        Turn turn;
        UserNumber user = 0;
        Resources on_node;
        Instant since{};
        std::optional<Instant> ends_by;
        std::set<NodeId> nodes = {};
    };
    const std::map<JobId, RunningJob>& running() const { return running_; }
    std::vector<NodeId> starting_nodes() const;
    std::vector<NodeId> leaving_nodes() const;

 private:
    enum class State { Starting, Ready, Leaving };
    struct NodeInfo {
        PoolId pool;
        State state = State::Starting;
        Resources cost;  // of its pool when it was asked for
        int jobs = 0;
        Resources used;  // where its pool packs
    };
    // Who comes first where the machine is full: dedicated work, then by turn.
    struct Claim {
        Tier tier = Tier::Dedicated;
        Turn turn;
        auto operator<=>(const Claim&) const = default;
    };
    struct LivePool {
        Pool row;
        std::vector<QuotaKey> quota;  // what its cores count against
        FairQueue queue;
        std::int64_t queued_shares = 0;  // thousandths of nodes that the waiting jobs want
        std::set<NodeId> nodes;          // all that are not gone
        std::set<NodeId> idle;
        std::set<NodeId> open;                        // ready, and not full: where its pool packs
        std::multiset<std::pair<Instant, int>> ends;  // of jobs that run and whose end is known: when, nodes
        int starting = 0;
        int leaving = 0;
        bool locked = false;
        bool blocked = false;
        std::optional<Claim> wanting;  // its place in wanting_
        std::optional<Instant> due;    // its place in due_
    };
    struct Starved {  // the pool whose head waits for room, and that job's place
        Claim head;
        PoolId pool;
        bool operator==(const Starved&) const = default;
    };

    // Who gets nodes if all get what they want in their turn, until the machine is full.
    struct Growth {
        std::vector<std::pair<PoolId, int>> requests;
        std::vector<PoolId> short_of_quota;
        std::optional<PoolId> short_of_room;
        std::optional<Starved> starved;
    };

    static std::int64_t shares_of(const LivePool& pool, const Ask& ask);
    LivePool& touch(PoolId pool);
    void update(LivePool& pool);  // its places in wanting_ and due_
    void pass_time(Instant now);
    Growth plan_growth() const;
    std::int64_t nodes_wanted(const LivePool& pool) const;
    std::int64_t nodes_missing_for_head(const LivePool& pool) const;
    void count_quota(const LivePool& pool, int sign);
    bool quota_allows(const LivePool& pool, const QuotaUsage& more = {}) const;
    bool has_room_for_one(const LivePool& pool) const;

    std::optional<std::vector<NodeId>> find_nodes(const LivePool& pool, const Ask& ask) const;
    bool place(LivePool& pool, const Ask& ask, Actions& actions);
    void place_waiting(LivePool& pool, Instant now, Actions& actions);
    void backfill(LivePool& pool, const Ask& head, Instant now, Actions& actions);
    void shrink(LivePool& pool, Actions& actions);
    void grow(const Growth& growth, Actions& actions);
    static Claim claim_of(const LivePool& pool, const Ask& ask);
    std::vector<NodeId> could_make_room(const LivePool& wanting) const;
    void make_room(const LivePool& wanting, Actions& actions);
    void make_quota_room(const LivePool& wanting, Actions& actions);
    bool may_yield(const LivePool& pool) const;
    bool yields_to(const LivePool& pool, const LivePool& wanting) const;
    bool can_ever_begin(const LivePool& pool) const;

    Settings settings_;
    QuotaBook quotas_;
    QuotaUsage cores_used_;
    std::map<PoolId, LivePool> pools_;
    std::map<NodeId, NodeInfo> nodes_;
    std::map<JobId, RunningJob> running_;
    std::set<Turn> spot_running_;  // whom dedicated work may preempt; the last first
    std::set<std::pair<Claim, PoolId>> wanting_;
    std::set<std::pair<Instant, PoolId>> due_;  // when time alone changes what a pool may do
    Resources promised_;
    Resources leaving_;  // of nodes that are on their way out
    std::optional<Starved> starved_;
    std::set<PoolId> unsettled_;
};

}  // namespace lavant::schedule
