// What core/schedule decides, carried out: tasks on nodes, new nodes, and what both cost.

#include <algorithm>

#include "base/text.h"
#include "core/plane/fit.h"
#include "core/plane/plane.h"

namespace lavant::plane {
namespace {

// Below what systems give out by themselves, above what services use.
constexpr int kFirstPort = 20'000;
constexpr int kLastPort = 31'999;
constexpr std::int64_t kMicrosPerHour = 3'600'000'000;

// Half a price more or less does not matter; an overflow does.
std::int64_t price_of(std::int64_t node_micros, std::int64_t price_per_hour) {
    return static_cast<std::int64_t>(static_cast<double>(node_micros) / kMicrosPerHour *
                                     static_cast<double>(price_per_hour));
}

}  // namespace

void Plane::place_job(LiveJob& job, const std::vector<NodeId>& nodes, Instant now, Outcome& out) {
    JobHead& head = job.head;
    scheduler_.job_placed(head.pool, {-head.priority, head.id}, nodes, now);
    const int processes = head.demand.processes;
    const int ranks = head.instances * processes;
    if (ranks > 1) head.port = take_ports(ranks);
    head.queue_warning.clear();
    const bool packed = pools_.at(head.pool).row.terms.packed;
    std::string where;
    for (int index = 0; index < ranks; ++index) {
        const NodeId id = nodes[static_cast<std::size_t>(index / processes)];
        LiveNode& node = nodes_.at(id);
        const TaskRef ref{head.id, head.attempt, index};
        Task task{.ref = ref, .version = 0, .node = id, .phase = TaskPhase::Assigned, .end = {}};
        task.assigned_at = now;
        // Ranks of a job see all that it has on their node, and choose by their local rank.
        if (index % processes != 0)
            task.gpus = tasks_.at(job.tasks.back()).gpus;
        else
            task.gpus = packed ? free_gpus_of(node, head.demand.task.gpus * processes) : node.row.gpus;
        tasks_[ref] = std::move(task);
        changed_tasks_.insert(ref);
        job.tasks.push_back(ref);
        node.tasks.insert(ref);
        if (node.row.state != NodeState::Busy) set_state(node, NodeState::Busy, "", now, out);
        if (index % processes == 0) where += (index == 0 ? "on " : ", ") + to_string(id);
    }
    set_status(job, JobStatus::Preparing, where, now, out);
    for (const TaskRef& ref : job.tasks) send_start(tasks_.at(ref), out);
}

void Plane::send_start(const Task& task, Outcome& out) const {
    const LiveJob& job = jobs_.at(task.ref.job);
    const JobHead& head = job.head;
    const auto own = nodes_.find(task.node);
    if (own == nodes_.end() || own->second.link == 0) return;  // Said after its next Hello.
    StartTask start{.task = task.ref, .instances = head.instances, .link = own->second.link};
    start.processes = head.demand.processes;
    start.port = head.port;
    start.gpus = task.gpus;
    start.resume = head.attempt > 1;
    for (const TaskRef& ref : job.tasks) {
        if (ref.index % head.demand.processes != 0) continue;
        const auto node = nodes_.find(tasks_.at(ref).node);
        start.hosts.push_back(node == nodes_.end() ? "" : node->second.host);  // Gone: the attempt is doomed.
    }
    out.sends.push_back({task.node, std::move(start)});
}

void Plane::request_node(PoolId pool_id, Instant now, Outcome& out) {
    const Pool& pool = pools_.at(pool_id).row;
    const NodeId id{++last_node_};
    LiveNode& node = nodes_[id];
    node.row = {.id = id, .pool = pool_id, .state = NodeState::Requested, .requested_at = now};
    node.row.gpus = take_gpus(pool.node_resources.gpus);
    node.row.cost = pool.node_resources;
    node.last_heard = now;
    node.last_effect = now;
    scheduler_.node_added(id, pool_id, node.row.cost);
    changed_nodes_.insert(id);
    record(node.row, pool.size, now, out);
    add_effect(StartNode{id, pool_id, pool.size, node_limit_of(pool), node.row.gpus}, out);
    set_due(node, due_of(node));
}

// Devices have names, and belong to one node at a time.
std::string Plane::take_gpus(int count) {
    std::string names;
    for (; count > 0 && !free_gpus_.empty(); --count) {
        names += (names.empty() ? "" : ",") + *free_gpus_.begin();
        free_gpus_.erase(free_gpus_.begin());
    }
    return names;
}

std::string Plane::free_gpus_of(const LiveNode& node, int count) const {
    std::set<std::string_view> taken;
    for (const TaskRef& ref : node.tasks)
        for (const std::string_view gpu : split(tasks_.at(ref).gpus, ',')) taken.insert(gpu);
    std::string names;
    for (const std::string_view gpu : split(node.row.gpus, ',')) {
        if (count == 0) break;
        if (gpu.empty() || taken.contains(gpu)) continue;
        names += (names.empty() ? "" : ",") + std::string(gpu);
        --count;
    }
    return names;
}

// Nodes share the machine's loopback: ranks that meet there need ports of their own. 0: all are taken.
int Plane::take_ports(int count) {
    int first = kFirstPort;
    for (const auto& [taken, how_many] : ports_) {
        if (first + count <= taken) break;
        first = taken + how_many;
    }
    if (first + count - 1 > kLastPort) return 0;
    ports_[first] = count;
    return first;
}

void Plane::write_usage(const Task& task, const LiveJob& job, Instant now, Outcome& out) const {
    const Pool& pool = pools_.at(job.head.pool).row;
    const Demand& demand = job.head.demand;
    std::int64_t micros = std::max<std::int64_t>(0, (now - task.assigned_at).count());
    // A rank has its part of the node.
    if (pool.terms.packed && pool.terms.node_limit.cpu_millis > 0)
        micros = micros * std::min(demand.task.cpu_millis, pool.terms.node_limit.cpu_millis) /
                 pool.terms.node_limit.cpu_millis;
    else
        micros /= demand.processes;
    out.writes.usage.push_back({.kind = UsageKind::Task,
                                .ended_at = now,
                                .workspace = job.head.workspace,
                                .user = demand.user,
                                .job = job.head.name,
                                .compute = pool.is_serverless() ? "serverless" : pool.terms.compute,
                                .size = pool.size,
                                .tier = std::string(name_of(pool.terms.tier)),
                                .node = task.node,
                                .node_micros = micros,
                                .price_micros = price_of(micros, pool.terms.price)});
}

void Plane::write_usage(const Node& node, Instant now, Outcome& out) const {
    const Pool& pool = pools_.at(node.pool).row;
    const std::int64_t micros = std::max<std::int64_t>(0, (now - node.requested_at).count());
    out.writes.usage.push_back({.kind = UsageKind::Node,
                                .ended_at = now,
                                .workspace = pool.workspace,
                                .user = "",
                                .job = "",
                                .compute = pool.is_serverless() ? "serverless" : pool.terms.compute,
                                .size = pool.size,
                                .tier = std::string(name_of(pool.terms.tier)),
                                .node = node.id,
                                .node_micros = micros,
                                .price_micros = price_of(micros, pool.terms.price)});
}

}  // namespace lavant::plane
