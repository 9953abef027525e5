#pragma once
// A whole Lavant in one thread under virtual time: the production control loop, plane and agent machine;
// simulated network, provider, processes, disks and clients. One seed decides everything.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "adapters/memory/memory_store.h"
#include "agent/machine.h"
#include "app/control_loop.h"

namespace lavant::simulation {

struct Nemeses {
    bool kill_server = false;  // also between commit and reply
    bool kill_agents = false;
    bool lose_nodes = false;   // the whole machine goes, or is rebooted
    bool bad_network = false;  // drops, duplicates, delays, reorders
    bool partitions = false;
    bool bad_commits = false;   // refused, or done and reported as failed
    bool bad_provider = false;  // slow, failing, forgetful
    bool clock_jumps = false;
    bool suspends = false;
    int count() const;
};
Nemeses draw_nemeses(std::mt19937_64& random);
std::string describe(const Nemeses& nemeses);

struct Report {
    std::vector<std::string> failures;
    std::uint64_t hash = 0;  // of everything that happened
    std::size_t jobs = 0;
    std::size_t steps = 0;
};

class World;

// A virtual process group: runs without its agent, dies with its node.
struct Process {
    StartTask start;
    bool prepared = false;
    bool launched = false;
    bool dead = false;
    Instant launched_at{};
    Duration runs_for{};
    int exit_code = 0;
    ports::TaskExit exit;
    std::uint64_t log_bytes = 0;
    std::uint64_t run = 0;  // numbers launches, so that an old timer does not end a new process
};

// A node: a provider's machine with an agent process on it.
struct SimNode {
    NodeId id;
    bool machine_up = true;
    std::unique_ptr<agent::Machine> agent;  // null: the agent process is dead
    std::uint64_t incarnation = 0;
    std::uint64_t machine_boot = 1;
    bool has_credential = false;
    std::uint64_t link = 0;  // 0: none
    bool connecting = false;
    bool partitioned = false;
    bool out_of_reach = false;  // of its provider
    bool suspended = false;
    Duration clock_ahead{};
    std::optional<Instant> heard_at;  // kept in the spool
    std::map<TaskRef, Process> spool;
    std::vector<std::function<void()>> held_back;  // what would have happened while suspended
    std::optional<Instant> tick_at;
};

class World final : public ports::AgentLinks,
                    public ports::EffectRunner,
                    public ports::Clock,
                    public ports::Store {
 public:
    World(std::uint64_t seed, bool verbose);
    Report run();

    // --- ports::Clock, AgentLinks, EffectRunner ---
    Instant now() override { return now_; }
    void send(NodeId node, ToAgent message) override;
    void drop_links() override;
    void run(const OutboxEntry& entry) override;
    // --- ports::Store: memory with faults ---
    Result<LiveRows> load_live() override;
    Result<std::vector<bool>> commit(const WriteBatch& batch) override;
    Result<std::optional<Job>> find_job(const std::string& workspace, const std::string& name) override {
        return store_.find_job(workspace, name);
    }
    Result<std::string> load_launch(JobId job) override;
    Result<bool> tidy(std::int64_t events_kept) override { return store_.tidy(events_kept); }

 private:
    struct Planned {
        Instant at{};
        std::uint64_t order = 0;
        std::function<void()> what;
        bool operator<(const Planned& other) const {  // the earliest on top
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    struct Asked {
        std::string name;
        int instances = 1;
        bool acknowledged = false;
        bool cancel_acknowledged = false;
        bool deleted = false;  // and not submitted again
    };

    // world.cpp
    void after(Duration delay, std::function<void()> what);
    std::int64_t upto(std::int64_t max);
    bool chance(int percent);
    Duration between(Duration least, Duration most);
    void note(const std::string& line);
    void fail(const std::string& what);

    // server.cpp
    void start_server();
    void kill_server();
    bool server_is_up() const { return loop_ != nullptr && !dying_; }
    void post(plane::Event event, app::Callback callback = {});
    void plan_step();
    void step_server();
    void carry_out(OutboxEntry entry, std::uint64_t generation);
    void list_nodes();
    std::optional<std::string> start_node(NodeId id);
    void stop_node(NodeId id);
    bool is_out_of_reach(NodeId id) const;

    // node.cpp
    void start_agent(SimNode& node);
    void kill_agent(SimNode& node);
    void connect(SimNode& node);
    void disconnect(SimNode& node, std::uint64_t link);
    void feed(SimNode& node, const agent::Event& event);
    void act(SimNode& node, const agent::Action& action);
    void on_node(NodeId id, std::uint64_t incarnation, std::function<void(SimNode&)> what);
    void prepare(SimNode& node, const StartTask& start);
    void launch(SimNode& node, TaskRef task);
    void grow_log(NodeId id, TaskRef task, std::uint64_t run);
    void end_process(SimNode& node, TaskRef task, ports::TaskExit exit);
    void to_server(SimNode& node, const FromAgent& message);
    void deliver_to_server(NodeId id, std::uint64_t link, const FromAgent& message);
    void deliver_to_agent(NodeId id, std::uint64_t link, const ToAgent& message);
    std::vector<Duration> travel_times();
    void plan_tick(SimNode& node);

    // workload.cpp
    void plan_workload();
    void submit(std::size_t index);
    void cancel(std::size_t index);
    void remove(std::size_t index, bool submit_again);
    void drop_files(const DropJobFiles& drop, std::int64_t outbox);
    void plan_nemeses();
    void strike();

    // computes.cpp: clusters, quotas, locks, evictions
    void plan_computes();
    void put_cluster(bool is_new, int nodes_min, int nodes_max);
    void delete_cluster();
    void set_quota(Tier tier, std::int64_t cores);
    void lock_for(Duration length);
    void evict();
    Pool pool_of(std::size_t index) const;
    void put_away(const PublishOutputs& publish);
    void check_computes(const LiveRows& live);
    void check_node_event(const HistoryEvent& event);

    // checks.cpp
    void check_running(JobId job);
    void check_step();
    void check_end();
    std::uint64_t reported_log_bytes(TaskRef ref);
    // Jobs of every third number have outputs; those of every ninth name a place that is taken.
    static bool can_never_publish(JobId job) { return job.value % 9 == 0; }

    std::mt19937_64 random_;
    bool verbose_;
    Nemeses nemeses_;
    bool nemeses_on_ = true;
    Instant now_ = from_micros(1'700'000'000'000'000);
    Instant born_ = now_;
    std::priority_queue<Planned> planned_;
    std::uint64_t order_ = 0;
    Report report_;

    adapters::MemoryStore store_;
    std::unique_ptr<app::ControlLoop> loop_;
    bool dying_ = false;    // the server is dead after a commit; what it says is lost
    bool started_ = false;  // the server of this generation has read its tables
    std::uint64_t server_generation_ = 0;
    bool step_planned_ = false;
    std::optional<Instant> wake_planned_;
    std::uint64_t links_ = 0;

    std::map<NodeId, std::unique_ptr<SimNode>> nodes_;
    std::map<TaskRef, std::uint64_t> log_durable_;          // on the server's disk
    std::map<JobId, std::map<int, std::uint64_t>> staged_;  // job, attempt
    std::map<JobId, std::set<int>> published_;
    std::map<std::string, JobId> files_;  // by the job's name: whose outputs lie there
    std::set<std::int64_t> dropped_;      // by the runner of this server
    std::map<JobId, int> terminal_;
    std::map<std::string, JobStatus> final_status_;
    std::map<TaskRef, std::uint64_t> produced_;  // log bytes of processes that ended
    std::vector<Asked> asked_;
    std::int64_t events_seen_ = 0;
    int cluster_min_ = 0;  // as last acknowledged
    int cluster_max_ = 0;
    bool cluster_wanted_ = true;
    std::map<PoolId, std::size_t> nodes_seen_;  // of each pool, at the last look
    std::map<PoolId, std::int64_t> version_seen_;
    std::set<std::string> evicted_;             // nodes that were drilled
};

}  // namespace lavant::simulation
