// After every change the incremental decision equals that of a plane made from scratch of the same rows.

#include <random>

#include "core/plane/plane_world_test.h"

namespace lavant::plane {
namespace {

// What was decided: who runs where, which nodes there are. One line each.
std::set<std::string> decided(const Plane& plane) {
    std::set<std::string> all;
    const LiveRows rows = plane.rows();
    for (const JobHead& head : rows.jobs)
        all.insert(head.name + " in pool " + std::to_string(head.pool.value) + " is " +
                   std::string(name_of(head.status)) + " " + std::to_string(head.attempt));
    for (const Task& task : rows.tasks)
        all.insert("job " + std::to_string(task.ref.job.value) + "." + std::to_string(task.ref.attempt) +
                   "." + std::to_string(task.ref.index) + " on " + to_string(task.node));
    for (const Node& node : rows.nodes)
        all.insert(to_string(node.id) + " of pool " + std::to_string(node.pool.value) + " is " +
                   std::string(name_of(node.state)) + " " + node.reason);
    return all;
}

std::string difference(const std::set<std::string>& one, const std::set<std::string>& other) {
    std::string text;
    for (const std::string& line : one)
        if (!other.contains(line)) text += "\n  " + line;
    return text;
}

class Storm {
 public:
    explicit Storm(std::uint32_t seed) : random_(seed), plane_(settings()) {}

    static Settings settings() {
        Settings settings{.capacity = {.cpu_millis = 12'000, .memory_bytes = 120, .gpus = 2},
                          .gpu_names = {"a", "b"}};
        // A plane that is made anew gives every node a full lease.
        settings.start_timeout = settings.lease = 1000h;
        return settings;
    }

    void step() {
        now_ += std::chrono::milliseconds(upto(20'000));
        const std::optional<Event> event = draw();
        if (!event) return;
        Outcome out;
        plane_.apply(*event, now_, out);
        if (const auto* gone = std::get_if<DeleteWorkspace>(&*event);
            gone && !out.writes.workspaces_removed.empty()) {
            gone_.insert(gone->workspace);
            plane_.apply(submit(gone->workspace), now_, out);  // planned before, and later in the batch
        }
        Plane scratch(settings(), plane_.rows(), now_);
        Outcome other;
        scratch.decide(now_, other);
        plane_.decide(now_, out);
        const auto incremental = decided(plane_);
        const auto from_scratch = decided(scratch);
        ASSERT_TRUE(incremental == from_scratch)
            << "after event " << event->index() << " incremental:" << difference(incremental, from_scratch)
            << "\nfrom scratch:" << difference(from_scratch, incremental);
        for (const OutboxEntry& entry : out.effects) effects_.push_back(entry);
        check();
    }

 private:
    int upto(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }

    // One in which nothing lives, if there is one that is not gone.
    std::string workspace_of(const LiveRows& rows) {
        for (int i = 0; i < kWorkspaces; ++i) {
            std::string key = "w" + std::to_string(i);
            const bool lived_in =
                std::ranges::any_of(rows.jobs, [&](const JobHead& head) { return head.workspace == key; });
            if (!lived_in && !gone_.contains(key)) return key;
        }
        return "w" + std::to_string(upto(kWorkspaces - 1));
    }

    Pool pool_of(int kind, const std::string& workspace) {
        Pool pool{.workspace = workspace, .key = "p" + std::to_string(kind), .size = "s"};
        pool.node_resources = {
            .cpu_millis = kind == 1 ? 3000 : 1000, .memory_bytes = 10, .gpus = kind == 2 ? 1 : 0};
        pool.nodes_max = kind == 3 ? 4 : 100;
        pool.idle_before_release = 1000h;  // looked at when it is due, not at every change
        pool.terms = {
            .location = "l", .family = "f", .vcpus = kind == 1 ? 3 : 1, .node_limit = pool.node_resources};
        if (kind == 3) pool.terms.tier = Tier::LowPriority;
        if (kind == 4) pool.terms.packed = true;
        if (kind == 4) pool.terms.node_limit = {.cpu_millis = 4000, .memory_bytes = 40, .gpus = 0};
        return pool;
    }

    Event submit() { return submit("w" + std::to_string(kWorkspaces - 1 - upto(1) * upto(kWorkspaces - 1))); }
    Event submit(const std::string& workspace) {
        Job job;
        job.head.workspace = workspace;
        job.head.name = "j" + std::to_string(++submitted_);
        job.head.instances = upto(5) == 0 ? 2 + upto(1) : 1;
        job.head.priority = upto(4) == 0 ? 1 : 0;
        job.head.demand.user = "u" + std::to_string(upto(2));
        job.head.demand.processes = upto(6) == 0 ? 2 : 1;
        job.head.demand.task = {.cpu_millis = 500 + 500 * upto(2), .memory_bytes = 5};
        if (upto(1) == 0) job.head.demand.bound = std::chrono::seconds(10 + upto(600));
        return SubmitJob{.job = std::move(job), .pool = pool_of(upto(4), workspace)};
    }

    std::optional<Event> draw() {
        const LiveRows rows = plane_.rows();
        switch (upto(9)) {
            case 0:
            case 1:
            case 2:
                return submit();
            case 3:
            case 4: {  // an effect is done
                if (effects_.empty()) return submit();
                const auto at = effects_.begin() + upto(static_cast<int>(effects_.size()) - 1);
                const std::int64_t id = at->id;
                effects_.erase(at);
                return EffectDone{id};
            }
            case 5:
            case 6: {  // a node that was asked for dials in
                for (const Node& node : rows.nodes)
                    if (node.state == NodeState::Starting || node.state == NodeState::Requested)
                        return NodeLinked{node.id, ++links_, {.node = node.id, .boot = "b"}};
                return std::nullopt;
            }
            case 7:
            case 8: {  // a task ends
                if (rows.tasks.empty()) return std::nullopt;
                const Task& task =
                    rows.tasks[static_cast<std::size_t>(upto(static_cast<int>(rows.tasks.size()) - 1))];
                if (task.phase == TaskPhase::Ended || task.phase == TaskPhase::Lost) return std::nullopt;
                plane_.apply(
                    NodeLinked{task.node,
                               ++links_,
                               {.node = task.node, .boot = "b", .tasks = reports_of(rows, task.node)}},
                    now_, *std::make_unique<Outcome>());
                return TaskReported{task.node, links_, {.task = task.ref, .phase = TaskPhase::Ended}};
            }
            default:
                break;
        }
        if (upto(1) == 0)
            return DeleteWorkspace{.workspace = workspace_of(rows), .row = {}, .containers = {}, .who = "a"};
        if (upto(3) == 0)
            return SetQuota{.quota = {{"l", "f", Tier::Dedicated}, QuotaLevel::Workspace, 4 + upto(12)}};
        return Tick{};
    }

    static std::vector<TaskReport> reports_of(const LiveRows& rows, NodeId node) {
        std::vector<TaskReport> reports;
        for (const Task& task : rows.tasks)
            if (task.node == node && task.phase < TaskPhase::Ended)
                reports.push_back({.task = task.ref, .phase = TaskPhase::Running});
        return reports;
    }

    // Devices belong to one node, tasks of different jobs on a node never share one, nobody is packed too
    // full, nothing lives in a workspace that is gone.
    void check() {
        const LiveRows rows = plane_.rows();
        for (const JobHead& head : rows.jobs) ASSERT_FALSE(gone_.contains(head.workspace)) << head.name;
        std::set<std::string> devices;
        std::map<NodeId, Resources> used;
        for (const Node& node : rows.nodes)
            if (!node.gpus.empty()) {
                ASSERT_TRUE(devices.insert(node.gpus).second) << node.gpus;
            }
        std::map<JobId, const JobHead*> heads;
        for (const JobHead& head : rows.jobs) heads[head.id] = &head;
        std::map<NodeId, std::set<JobId>> jobs;
        for (const Task& task : rows.tasks) {
            if (task.phase >= TaskPhase::Ended) continue;
            used[task.node] += heads.at(task.ref.job)->demand.task;
            jobs[task.node].insert(task.ref.job);
        }
        std::map<PoolId, Pool> pools;
        for (const Pool& pool : rows.pools) pools[pool.id] = pool;
        for (const Node& node : rows.nodes) {
            const Pool& pool = pools.at(node.pool);
            if (pool.terms.packed) {
                ASSERT_TRUE(used[node.id].fits_in(pool.terms.node_limit));
            } else {
                ASSERT_LE(jobs[node.id].size(), 1U);
            }
        }
    }

    static constexpr int kWorkspaces = 4;

    std::mt19937 random_;
    std::set<std::string> gone_;
    Plane plane_;
    Instant now_ = from_micros(1'000'000'000);
    std::uint64_t links_ = 0;
    int submitted_ = 0;
    std::vector<OutboxEntry> effects_;
};

TEST(PlaneProperty, DecidesAsIfFromScratch) {
    for (std::uint32_t seed = 1; seed <= 80; ++seed) {
        Storm storm(seed);
        for (int i = 0; i < 120; ++i) {
            storm.step();
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << i;
        }
    }
}

}  // namespace
}  // namespace lavant::plane
