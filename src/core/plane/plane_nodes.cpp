// The life of a node: enrolment, links, leases, release, and the reconciler that leaves none behind.

#include <algorithm>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "core/plane/fit.h"
#include "core/plane/plane.h"

namespace lavant::plane {
namespace {

// Of an agent's boot "<the machine's>.<the process's>"; "" where an agent tells only the latter.
std::string_view machine_of(std::string_view boot) {
    const std::size_t dot = boot.find('.');
    return dot == std::string_view::npos ? "" : boot.substr(0, dot);
}

StartNode start_of(const Node& node, const Pool& pool) {
    return {node.id, pool.id, pool.size, node_limit_of(pool), node.gpus};
}

}  // namespace

Plane::LiveNode* Plane::linked_node(NodeId id, std::uint64_t link) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end() || found->second.link != link) return nullptr;
    return &found->second;
}

// Until the node's first Hello the token may be shown again: the answer may have been lost on its way.
void Plane::apply_one(const EnrolNode& event, Instant now, Outcome& out) {
    const auto found = nodes_.find(event.node);
    const NodeState state = found == nodes_.end() ? NodeState::Released : found->second.row.state;
    if (state != NodeState::Requested && state != NodeState::Starting) {
        out.replies.push_back({event.ticket, fail(ErrorCode::PermissionDenied,
                                                  "the enrolment token of " + to_string(event.node) +
                                                      " was used before or its node is not wanted")});
        return;
    }
    if (!found->second.row.enrolled) {  // A repetition gets no more time to start.
        found->second.row.enrolled = true;
        found->second.last_heard = now;
        changed_nodes_.insert(event.node);
    }
    out.replies.push_back({event.ticket, Answer{}});
}

void Plane::apply_one(const NodeLinked& event, Instant now, Outcome& out) {
    const auto found = nodes_.find(event.node);
    const bool leaves = found == nodes_.end() ||
                        (found->second.row.state == NodeState::Draining && !found->second.evicted_by);
    if (leaves) {
        out.sends.push_back({event.node, ReleaseNode{}});
        return;
    }
    LiveNode& node = found->second;
    if (event.link <= node.link)
        return;  // A repeated Hello tells of a past that later reports have overtaken.
    node.link = event.link;
    node.last_heard = now;
    node.host = event.hello.host;
    // A machine that was restarted has forgotten what it may have begun: the start is not repeated there.
    const bool restarted =
        !node.row.boot.empty() && machine_of(node.row.boot) != machine_of(event.hello.boot);
    if (node.row.boot != event.hello.boot || node.row.protections != event.hello.protections) {
        node.row.boot = event.hello.boot;
        node.row.protections = event.hello.protections;
        changed_nodes_.insert(event.node);
    }
    out.sends.push_back({event.node, Welcome{.lease_micros = settings_.lease.count(),
                                             .heartbeat_micros = settings_.heartbeat.count()}});
    if (node.row.state == NodeState::Requested || node.row.state == NodeState::Starting)
        set_state(node, NodeState::Idle, "", now, out);
    reconcile_inventory(node, event.hello, restarted, now, out);
}

// What the agent holds and what we think it holds are brought together.
void Plane::reconcile_inventory(LiveNode& node, const Hello& hello, bool restarted, Instant now,
                                Outcome& out) {
    std::set<TaskRef> held;
    for (const TaskReport& report : hello.tasks) {
        held.insert(report.task);
        apply_report(node, report, now, out);
    }
    const std::set<TaskRef> expected = node.tasks;
    for (const TaskRef& ref : expected) {
        const auto found = tasks_.find(ref);
        if (found == tasks_.end() || !node.tasks.contains(ref)) continue;  // Ended by what went before.
        Task& task = found->second;
        if (!held.contains(ref) && (restarted || task.phase != TaskPhase::Assigned)) {
            end_task(task, TaskPhase::Lost,
                     {.reason = EndReason::NodeLost, .message = "its agent no longer knows the task"}, now,
                     out);
            continue;
        }
        if (!held.contains(ref)) send_start(task, out);
        send_stop_if_doomed(task, out);
    }
}

void Plane::apply_one(const NodeUnlinked& event, Instant, Outcome&) {
    if (LiveNode* node = linked_node(event.node, event.link)) node->link = 0;
}

void Plane::apply_one(const NodeHeard& event, Instant now, Outcome& out) {
    LiveNode* node = linked_node(event.node, event.link);
    if (node == nullptr) return;
    node->last_heard = now;
    out.sends.push_back({event.node, Welcome{.lease_micros = settings_.lease.count(),
                                             .heartbeat_micros = settings_.heartbeat.count(),
                                             .heard = event.number}});
    // What the agent should have by now and shows no sign of is said again: saying it twice does no harm.
    for (const TaskRef& ref : node->tasks) {
        const Task& task = tasks_.at(ref);
        if (task.phase == TaskPhase::Assigned) send_start(task, out);
        send_stop_if_doomed(task, out);
    }
}

// Says (again) that a task is to stop, if its job is canceled or its attempt cannot succeed any more.
void Plane::send_stop_if_doomed(const Task& task, Outcome& out) const {
    const LiveJob& job = jobs_.at(task.ref.job);
    const bool canceled = job.head.cancel_requested_at.has_value();
    const Task* failed = failed_task(job);
    // Ranks elsewhere have the same grace as the one whose node goes.
    const bool preempted = failed != nullptr && failed->end.reason == EndReason::Preempted;
    const bool evicted = !canceled && (preempted || is_evicted(job));
    if (!canceled && failed == nullptr && !evicted) return;
    const char* why = canceled ? "canceled" : evicted ? "preempted" : "another task of the job failed";
    const Duration grace = evicted ? job.head.demand.grace : settings_.stop_grace;
    out.sends.push_back({task.node, StopTask{task.ref, why, grace.count(), evicted}});
}

void Plane::apply_one(const TaskReported& event, Instant now, Outcome& out) {
    LiveNode* node = linked_node(event.node, event.link);
    if (node == nullptr) return;  // An old link; the agent repeats itself in its next Hello.
    node->last_heard = now;
    apply_report(*node, event.report, now, out);
}

void Plane::apply_one(const NodesHeld& event, Instant now, Outcome& out) {
    std::map<NodeId, bool> held;
    for (const NodesHeld::Held& one : event.nodes) held[one.node] = one.agent_alive;
    for (const auto& [id, alive] : held)
        if (!nodes_.contains(id) && !has_effect_for(id)) add_effect(StopNode{id}, out);

    std::vector<NodeId> ids;
    for (const auto& [id, node] : nodes_) ids.push_back(id);
    for (const NodeId id : ids) {
        LiveNode& node = nodes_.at(id);
        // What is being worked on, or changed since the listing began, is not judged by it.
        if (has_effect_for(id) || node.last_effect >= event.listed_at) continue;
        const auto there = held.find(id);
        const bool draining = node.row.state == NodeState::Draining;
        if (there == held.end() && !draining) {
            drain_node(node, "its provider no longer has it", now, out);
        } else if (draining) {
            if (there == held.end()) node.evicted_by.reset();  // Nothing is left that could use its grace.
            if (!node.evicted_by) add_effect(StopNode{id}, out);
        } else if (!there->second) {
            add_effect(start_of(node.row, pools_.at(node.row.pool).row), out);
        }
    }
}

void Plane::node_effect_done(const StartNode& effect, const EffectDone& event, Instant now, Outcome& out) {
    const auto found = nodes_.find(effect.node);
    if (found == nodes_.end()) return;
    LiveNode& node = found->second;
    node.last_effect = now;
    if (event.succeeded) {
        if (node.row.state == NodeState::Requested) set_state(node, NodeState::Starting, "", now, out);
        return;
    }
    node_did_not_start(pools_.at(node.row.pool), event.message, now);
    if (node.row.state == NodeState::Requested || node.row.state == NodeState::Starting) {
        lose_node(node, "it could not be started: " + event.message, now, out);
    }
}

void Plane::node_effect_done(const StopNode& effect, const EffectDone& event, Instant now, Outcome& out) {
    const auto found = nodes_.find(effect.node);
    if (found == nodes_.end()) return;
    LiveNode& node = found->second;
    node.last_effect = now;
    if (!event.succeeded || node.row.state != NodeState::Draining) return;  // The reconciler tries again.
    if (!node.tasks.empty()) return lose_node(node, node.row.reason, now, out);
    set_state(node, node.evicted ? NodeState::Preempted : NodeState::Released, node.row.reason, now, out);
}

// The more starts fail in a row, the longer until the next one.
void Plane::node_did_not_start(LivePool& pool, const std::string& why, Instant now) {
    pool.blocked_by = why;
    if (pool.blocked_until) return;  // One hiccup may fail many starts at once.
    Duration delay = settings_.retry_delay;
    for (int past = pool.start_failures++; past > 0 && delay < settings_.retry_delay_max; --past) delay *= 2;
    pool.blocked_until = now + std::min(delay, settings_.retry_delay_max);
    blocked_.insert(pool.row.id);
    scheduler_.set_blocked(pool.row.id, true);
}

void Plane::set_state(LiveNode& node, NodeState state, std::string reason, Instant now, Outcome& out) {
    LivePool& pool = pools_.at(node.row.pool);
    const NodeId id = node.row.id;
    const NodeState before = node.row.state;
    node.row.state = state;
    node.row.reason = reason;
    node.row.idle_since.reset();
    changed_nodes_.insert(id);
    if (state == NodeState::Idle) {
        node.row.idle_since = now;
        scheduler_.node_ready(id);
        pool.start_failures = 0;
    }
    if (state == NodeState::Draining) scheduler_.node_leaves(id);
    const bool routine = (before == NodeState::Idle && state == NodeState::Busy) ||
                         (before == NodeState::Busy && state == NodeState::Idle);
    if (!routine) record(node.row, reason, now, out);  // A job's own events tell of the others.
    if (!is_gone(state)) return set_due(node, due_of(node));
    CHECK(node.tasks.empty(), "a node that is gone has no tasks");
    write_usage(node.row, now, out);
    scheduler_.node_gone(id);
    for (const std::string_view gpu : split(node.row.gpus, ','))  // The machine may have lost some.
        if (std::ranges::count(settings_.gpu_names, gpu) > 0) free_gpus_.emplace(gpu);
    changed_nodes_.erase(id);
    if (!node.stored) {  // Its number is not given out again.
        node.row.version = 1;
        out.writes.nodes.push_back(node.row);
    }
    gone_nodes_.push_back(id);
    emptied_pools_.insert(pool.row.id);
    set_due(node, std::nullopt);
    nodes_.erase(id);
}

// Nothing runs there any more: the lease is over on both sides, or its provider says so.
void Plane::lose_node(LiveNode& node, std::string reason, Instant now, Outcome& out) {
    const NodeId id = node.row.id;
    if (!has_effect_for(id)) add_effect(StopNode{id}, out);
    node.row.state = NodeState::Draining;  // What ends now does not make it idle.
    scheduler_.node_leaves(id);
    node.evicted_by.reset();
    const std::set<TaskRef> tasks = node.tasks;
    for (const TaskRef& ref : tasks)
        end_task(tasks_.at(ref), TaskPhase::Lost,
                 {.reason = node.evicted ? EndReason::Preempted : EndReason::NodeLost, .message = reason},
                 now, out);
    set_state(node, node.evicted ? NodeState::Preempted : NodeState::Lost, reason, now, out);
}

// The node must go. A task that is on it ends only when the provider says that nothing of it is left.
void Plane::drain_node(LiveNode& node, std::string reason, Instant now, Outcome& out) {
    const NodeId id = node.row.id;
    node.evicted_by.reset();
    set_state(node, NodeState::Draining, reason, now, out);
    out.sends.push_back({id, ReleaseNode{}});
    add_effect(StopNode{id}, out);
}

// The node must go, but what runs there has a grace to end in good order.
void Plane::evict_node(LiveNode& node, std::string reason, Instant now, Outcome& out) {
    if (node.tasks.empty()) return drain_node(node, std::move(reason), now, out);
    std::set<JobId> jobs;
    for (const TaskRef& ref : node.tasks) jobs.insert(ref.job);
    // The agent keeps to the grace; it gets a little longer to stage what is left.
    node.evicted_by = now + grace_of(node) + settings_.lease_margin;
    node.evicted = true;
    set_state(node, NodeState::Draining, std::move(reason), now, out);
    for (const JobId id : jobs)
        for (const TaskRef& ref : jobs_.at(id).tasks) {
            const Task& task = tasks_.at(ref);
            if (task.phase != TaskPhase::Ended && task.phase != TaskPhase::Lost)
                send_stop_if_doomed(task, out);
        }
}

Duration Plane::grace_of(const LiveNode& node) const {
    Duration grace{};
    for (const TaskRef& ref : node.tasks) grace = std::max(grace, jobs_.at(ref.job).head.demand.grace);
    return grace;
}

// The last task of an evicted node has ended: now it may be stopped.
void Plane::stop_when_empty(LiveNode& node, Outcome& out) {
    if (!node.evicted_by) return;
    node.evicted_by.reset();
    out.sends.push_back({node.row.id, ReleaseNode{}});
    if (!has_effect_for(node.row.id)) add_effect(StopNode{node.row.id}, out);
}

bool Plane::is_evicted(const LiveJob& job) const {
    return std::ranges::any_of(job.tasks, [&](const TaskRef& ref) {
        const auto node = nodes_.find(tasks_.at(ref).node);
        return node != nodes_.end() && node->second.evicted_by && node->second.tasks.contains(ref);
    });
}

// When a node is to be looked at next, if nothing happens before. Whoever hears from it does not change this:
// a look that comes too early costs less than keeping it up to date.
std::optional<Instant> Plane::due_of(const LiveNode& node) const {
    const Instant silent = node.last_heard + settings_.lease + settings_.lease_margin;
    const Pool& pool = pools_.at(node.row.pool).row;
    switch (node.row.state) {
        case NodeState::Requested:
        case NodeState::Starting:
            return node.last_heard + settings_.start_timeout;
        case NodeState::Idle:
            return std::min(silent, *node.row.idle_since + pool.idle_before_release);
        case NodeState::Busy:
            return silent;
        case NodeState::Draining:
            if (node.evicted_by) return node.evicted_by;
            return node.tasks.empty() ? std::nullopt : std::optional(silent);
        case NodeState::Released:
        case NodeState::Lost:
        case NodeState::Preempted:
            break;
    }
    return std::nullopt;
}

void Plane::set_due(LiveNode& node, std::optional<Instant> due) {
    if (node.due == due) return;
    if (node.due) due_.erase({*node.due, node.row.id});
    if (due) due_.insert({*due, node.row.id});
    node.due = due;
}

// Leases, start time-outs, idle times and effects that wait to be tried again.
void Plane::check_nodes(Instant now, Outcome& out) {
    std::vector<NodeId> ids;
    for (auto due = due_.begin(); due != due_.end() && due->first <= now; ++due) ids.push_back(due->second);
    std::ranges::sort(ids);
    for (const NodeId id : ids) {
        const auto found = nodes_.find(id);
        if (found != nodes_.end()) check_node(found->second, now, out);
    }
    std::erase_if(blocked_, [&](PoolId id) {
        LivePool& pool = pools_.at(id);
        if (*pool.blocked_until > now) return false;
        pool.blocked_until.reset();
        scheduler_.set_blocked(id, false);
        return true;
    });
    std::erase_if(retries_, [&](const Retry& retry) {
        if (retry.at > now) return false;
        const auto entry = outbox_.find(retry.outbox);
        if (entry != outbox_.end()) out.effects.push_back(entry->second);
        return true;
    });
}

void Plane::check_node(LiveNode& node, Instant now, Outcome& out) {
    constexpr Duration kLookAgain = std::chrono::seconds{1};
    const NodeId id = node.row.id;
    LivePool& pool = pools_.at(node.row.pool);
    const Instant silent = node.last_heard + settings_.lease + settings_.lease_margin;
    std::optional<Instant> due = due_of(node);
    if (!due || *due > now) return set_due(node, due);
    switch (node.row.state) {
        case NodeState::Requested:
        case NodeState::Starting:
            node_did_not_start(pool, "its agent did not report in time", now);
            return lose_node(node, "its agent did not report in time", now, out);
        case NodeState::Idle:
            if (silent <= now) return lose_node(node, "it was silent for longer than its lease", now, out);
            if (!scheduler_.wants_no_fewer(pool.row.id)) return drain_node(node, "idle", now, out);
            due = std::min(silent, now + std::max(pool.row.idle_before_release, kLookAgain));
            break;
        case NodeState::Busy:
            // Its agent has killed its tasks, if it lives; the provider makes sure. If that fails, a second
            // lease must do.
            node.last_heard = now;
            return drain_node(node, "it was silent for longer than its lease", now, out);
        case NodeState::Draining:
            if (node.evicted_by) {  // Its grace is over.
                node.evicted_by.reset();
                node.last_heard = now;
                if (!has_effect_for(id)) add_effect(StopNode{id}, out);
                due = due_of(node);
                break;
            }
            return lose_node(node, node.row.reason, now, out);
        case NodeState::Released:
        case NodeState::Lost:
        case NodeState::Preempted:
            due = std::nullopt;
            break;
    }
    set_due(node, due);
}

}  // namespace lavant::plane
