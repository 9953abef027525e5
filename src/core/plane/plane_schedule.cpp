// Who runs where, and how many nodes there are. First come, first served within a pool (higher priority
// first); a job of several instances waits at the head until all its nodes are there, so it cannot starve.

#include <algorithm>

#include "base/check.h"
#include "core/plane/plane.h"

namespace lavant::plane {
namespace {

constexpr std::int64_t kCountedMost = 10'000;  // of those ahead: everybody waits while they are counted

std::string percent_of(std::int64_t part, std::int64_t whole) {
    return std::to_string(whole == 0 ? 0 : part * 100 / whole) + "%";
}

}  // namespace

void Plane::place(LivePool& pool, Instant now, Outcome& out) {
    while (!pool.queue.empty()) {
        const QueueKey head = *pool.queue.begin();
        if (starved_ && starved_->pool != pool.row.id && starved_->head < head) return;
        LiveJob& job = jobs_.at(head.job);
        if (std::ssize(pool.idle) < job.head.instances) return;
        place_job(pool, job, now, out);
    }
}

void Plane::place_job(LivePool& pool, LiveJob& job, Instant now, Outcome& out) {
    dequeue(job);
    std::string where;
    for (int index = 0; index < job.head.instances; ++index) {
        const NodeId id = *pool.idle.begin();
        LiveNode& node = nodes_.at(id);
        const TaskRef ref{job.head.id, job.head.attempt, index};
        tasks_[ref] = Task{.ref = ref, .version = 0, .node = id, .phase = TaskPhase::Assigned, .end = {}};
        changed_tasks_.insert(ref);
        job.tasks.push_back(ref);
        node.task = ref;
        set_state(node, NodeState::Busy, "", now, out);
        where += (index == 0 ? "on " : ", ") + to_string(id);
    }
    set_status(job, JobStatus::Preparing, where, now, out);
    for (const TaskRef& ref : job.tasks) send_start(tasks_.at(ref), out);
}

void Plane::send_start(const Task& task, Outcome& out) const {
    const LiveJob& job = jobs_.at(task.ref.job);
    const auto own = nodes_.find(task.node);
    if (own == nodes_.end() || own->second.link == 0) return;  // Said after its next Hello.
    StartTask start{.task = task.ref, .instances = job.head.instances, .link = own->second.link};
    for (const TaskRef& ref : job.tasks) {
        const auto node = nodes_.find(tasks_.at(ref).node);
        start.hosts.push_back(node == nodes_.end() ? "" : node->second.host);  // Gone: the attempt is doomed.
    }
    out.sends.push_back({task.node, std::move(start)});
}

std::int64_t Plane::nodes_wanted(const LivePool& pool) const {
    const std::int64_t nodes = std::ssize(pool.nodes);
    const std::int64_t free = std::ssize(pool.idle) + pool.starting;
    const std::int64_t wanted =
        std::max<std::int64_t>(pool.queued_instances - free, pool.row.nodes_min - nodes);
    return std::clamp<std::int64_t>(wanted, 0, std::max<std::int64_t>(0, pool.row.nodes_max - nodes));
}

// Pools ask for nodes in the order of the jobs at their heads. One that does not fit holds back those behind
// it, also in the use of nodes that are there: a stream of small jobs cannot keep a large one waiting for
// ever.
void Plane::grow(Instant now, Outcome& out) {
    std::vector<std::pair<QueueKey, PoolId>> wanting;
    for (const auto& [id, pool] : pools_) {
        if (nodes_wanted(pool) == 0 || pool.blocked_until) continue;
        const QueueKey head = pool.queue.empty() ? QueueKey{INT32_MAX, {}} : *pool.queue.begin();
        wanting.emplace_back(head, id);
    }
    std::ranges::sort(wanting);
    std::optional<Starved> starved;
    for (const auto& [head, id] : wanting) {
        LivePool& pool = pools_.at(id);
        for (std::int64_t count = nodes_wanted(pool); count > 0 && !starved; --count) {
            Resources after = promised_;
            after += pool.row.node_resources;
            if (after.fits_in(settings_.capacity)) {
                request_node(pool, now, out);
            } else if (pool.queue.empty()) {
                break;  // Wants its minimum back, which is worth nobody's place.
            } else {
                starved = Starved{head, id};
            }
        }
        if (starved) break;
    }
    // A pool whose head can run on the nodes it has only wants to go faster: it holds nobody back.
    if (starved) {
        const LivePool& pool = pools_.at(starved->pool);
        const bool runs = std::ssize(pool.nodes) >= jobs_.at(starved->head.job).head.instances;
        make_room(pool, now, out);
        if (runs) starved.reset();
    }
    if (starved_ == starved) return;
    starved_ = starved;
    for (const auto& [id, pool] : pools_)
        if (!pool.queue.empty()) place(pools_.at(id), now, out);
}

// Idle nodes that no older job waits for make room. Their place is free when the provider says that they are
// gone.
void Plane::make_room(const LivePool& wanting, Instant now, Outcome& out) {
    const bool leaving = std::ranges::any_of(
        nodes_, [](const auto& pair) { return pair.second.row.state == NodeState::Draining; });
    if (leaving) return;
    std::vector<NodeId> idle;
    for (const auto& [id, pool] : pools_) {
        const bool yields = pool.queue.empty() || *wanting.queue.begin() < *pool.queue.begin();
        if (id != wanting.row.id && yields) idle.insert(idle.end(), pool.idle.begin(), pool.idle.end());
    }
    Resources room = settings_.capacity;
    room -= promised_;
    for (const NodeId id : idle) {
        if (wanting.row.node_resources.fits_in(room)) return;
        LiveNode& node = nodes_.at(id);
        room += pools_.at(node.row.pool).row.node_resources;
        drain_node(node, "makes room for " + wanting.row.key, now, out);
    }
}

void Plane::request_node(LivePool& pool, Instant now, Outcome& out) {
    const NodeId id{++last_node_};
    LiveNode& node = nodes_[id];
    node.row = {.id = id, .pool = pool.row.id, .state = NodeState::Requested, .requested_at = now};
    node.last_heard = now;
    node.last_effect = now;
    pool.nodes.insert(id);
    ++pool.starting;
    promised_ += pool.row.node_resources;
    changed_nodes_.insert(id);
    record(node.row, pool.row.size, now, out);
    add_effect(StartNode{id, pool.row.id, pool.row.size, pool.row.node_resources}, out);
    const Instant due = now + settings_.start_timeout;
    next_wake_ = std::min(next_wake_.value_or(due), due);
}

std::string Plane::waiting_reason(const LivePool& pool) const {
    if (pool.blocked_until) return "node_start_failed";
    if (pool.starting > 0) return "node_starting";
    Resources after = promised_;
    after += pool.row.node_resources;
    if (std::ssize(pool.nodes) >= pool.row.nodes_max) return "pool_at_maximum";
    if (!after.fits_in(settings_.capacity)) return "machine_full";
    return "waits_for_a_node";
}

// A few of the jobs whose end would make room: those of one pool, or all.
std::string Plane::running_now(const LivePool* pool) const {
    constexpr std::size_t kNamed = 3;
    std::set<JobId> running;  // nodes are few, jobs may be many
    for (const auto& [id, node] : nodes_)
        if (node.task && (pool == nullptr || node.row.pool == pool->row.id)) running.insert(node.task->job);
    std::string names;
    std::size_t named = 0;
    for (const JobId id : running) {
        if (++named > kNamed) break;
        names += (names.empty() ? "" : ", ") + jobs_.at(id).head.name;
    }
    if (running.size() > kNamed) names += " and " + std::to_string(running.size() - kNamed) + " more";
    return names;
}

std::string Plane::explain_placed(const LiveJob& job, Instant now) const {
    const JobHead& head = job.head;
    std::string where;
    for (const TaskRef& ref : job.tasks)
        where += (ref.index == 0 ? " on " : ", ") + to_string(tasks_.at(ref).node);
    if (head.cancel_requested_at) return "is being stopped" + where;
    if (head.status == JobStatus::Running)
        return "runs" + where + (head.started_at ? " for " + in_words(now - *head.started_at) : "");
    if (head.status == JobStatus::Finalizing) return "its outputs are being kept";
    return "gets its code, inputs and environment ready" + where;
}

std::string Plane::explain(const LiveJob& job, Instant now) const {
    const JobHead& head = job.head;
    if (head.status != JobStatus::Queued) return explain_placed(job, now);
    const LivePool& pool = pools_.at(head.pool);
    std::int64_t jobs_ahead = 0;
    std::int64_t nodes_ahead = 0;
    for (const QueueKey& key : pool.queue) {
        if (key.job == head.id || jobs_ahead == kCountedMost) break;
        ++jobs_ahead;
        nodes_ahead += jobs_.at(key.job).head.instances;
    }
    Resources after = promised_;
    after += pool.row.node_resources;
    const bool full = !after.fits_in(settings_.capacity);
    const bool at_maximum = std::ssize(pool.nodes) >= pool.row.nodes_max;
    const bool has_node = nodes_ahead + head.instances <= std::ssize(pool.idle) + pool.starting;
    // The reason first: a terminal may show no more than that.
    std::string text = "waits (" + in_words(now - head.submitted_at) + " so far) for ";
    if (pool.blocked_until)
        text += "a node; the last one could not be started: " + pool.blocked_by;
    else if (has_node || (!full && !at_maximum))
        text += "a node to start";
    else if (full)
        text += "room: " + percent_of(promised_.cpu_millis, settings_.capacity.cpu_millis) +
                " of the CPUs and " + percent_of(promised_.memory_bytes, settings_.capacity.memory_bytes) +
                " of the memory are taken";
    else
        text += "a node of its pool, which is at its maximum";
    text += ". It needs " + std::to_string(head.instances) + (head.instances == 1 ? " node" : " nodes") +
            " of size " + pool.row.size + "; " + std::to_string(jobs_ahead) +
            (jobs_ahead == 1 ? " job is" : " jobs are") + " ahead of it. The pool has " +
            std::to_string(pool.nodes.size()) + (pool.nodes.size() == 1 ? " node: " : " nodes: ") +
            std::to_string(pool.idle.size()) + " idle, " + std::to_string(pool.starting) + " starting.";
    const std::string running = running_now(full ? nullptr : &pool);
    if (!has_node && (full || at_maximum) && !running.empty())
        text += (jobs_ahead == 0 ? " It starts when one that runs ends: "
                                 : " It starts after those ahead of it. Running now: ") +
                running + ".";
    return text;
}

}  // namespace lavant::plane
