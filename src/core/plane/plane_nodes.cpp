// The life of a node: enrolment, links, leases, release, and the reconciler that leaves none behind.

#include <algorithm>
#include <set>
#include <string_view>

#include "base/check.h"
#include "core/plane/plane.h"

namespace lavant::plane {
namespace {

// Of an agent's boot "<the machine's>.<the process's>"; "" where an agent tells only the latter.
std::string_view machine_of(std::string_view boot) {
    const std::size_t dot = boot.find('.');
    return dot == std::string_view::npos ? "" : boot.substr(0, dot);
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
    if (found == nodes_.end() || found->second.row.state == NodeState::Draining) {
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
    bool has_task = false;
    for (const TaskReport& report : hello.tasks) {
        has_task = has_task || (node.task && report.task == *node.task);
        apply_report(node, report, now, out);
    }
    if (!node.task) return;
    Task& task = tasks_.at(*node.task);
    if (!has_task && (restarted || task.phase != TaskPhase::Assigned)) {
        return end_task(task, TaskPhase::Lost,
                        {.reason = EndReason::NodeLost, .message = "its agent no longer knows the task"}, now,
                        out);
    }
    if (!has_task) send_start(task, out);
    send_stop_if_doomed(task, out);
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
    if (!node->task) return;
    const Task& task = tasks_.at(*node->task);
    if (task.phase == TaskPhase::Assigned) send_start(task, out);
    send_stop_if_doomed(task, out);
}

// Says (again) that a task is to stop, if its job is canceled or its attempt cannot succeed any more.
void Plane::send_stop_if_doomed(const Task& task, Outcome& out) const {
    const LiveJob& job = jobs_.at(task.ref.job);
    const bool canceled = job.head.cancel_requested_at.has_value();
    if (!canceled && failed_task(job) == nullptr) return;
    const char* why = canceled ? "canceled" : "another task of the job failed";
    out.sends.push_back({task.node, StopTask{task.ref, why, settings_.stop_grace.count()}});
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
            add_effect(StopNode{id}, out);
        } else if (!there->second) {
            const Pool& pool = pools_.at(node.row.pool).row;
            add_effect(StartNode{id, pool.id, pool.size, pool.node_resources}, out);
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
    LivePool& pool = pools_.at(node.row.pool);
    pool.blocked_until = now + settings_.retry_delay;
    pool.blocked_by = event.message;
    next_wake_ = std::min(next_wake_.value_or(*pool.blocked_until), *pool.blocked_until);
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
    if (node.task) return lose_node(node, node.row.reason, now, out);
    set_state(node, NodeState::Released, node.row.reason, now, out);
}

void Plane::set_state(LiveNode& node, NodeState state, std::string reason, Instant now, Outcome& out) {
    LivePool& pool = pools_.at(node.row.pool);
    const NodeId id = node.row.id;
    const NodeState before = node.row.state;
    if (before == NodeState::Requested || before == NodeState::Starting) --pool.starting;
    if (before == NodeState::Idle) pool.idle.erase(id);
    node.row.state = state;
    node.row.reason = reason;
    node.row.idle_since.reset();
    changed_nodes_.insert(id);
    unsettled_.insert(pool.row.id);
    if (state == NodeState::Requested || state == NodeState::Starting) ++pool.starting;
    if (state == NodeState::Idle) {
        pool.idle.insert(id);
        node.row.idle_since = now;
        const Instant due = now + pool.row.idle_before_release;
        next_wake_ = std::min(next_wake_.value_or(due), due);
    }
    const bool routine = (before == NodeState::Idle && state == NodeState::Busy) ||
                         (before == NodeState::Busy && state == NodeState::Idle);
    if (!routine) record(node.row, reason, now, out);  // A job's own events tell of the others.
    if (!is_gone(state)) return;
    promised_ -= pool.row.node_resources;
    pool.nodes.erase(id);
    changed_nodes_.erase(id);
    gone_nodes_[id] = node.row;
    nodes_.erase(id);
    for (const auto& [other, waiting] : pools_)
        if (!waiting.queue.empty()) unsettled_.insert(other);
}

// Nothing runs there any more: the lease is over on both sides, or its provider says so.
void Plane::lose_node(LiveNode& node, std::string reason, Instant now, Outcome& out) {
    const NodeId id = node.row.id;
    const std::optional<TaskRef> task = node.task;
    if (!has_effect_for(id)) add_effect(StopNode{id}, out);
    set_state(node, NodeState::Lost, reason, now, out);
    if (task)
        end_task(tasks_.at(*task), TaskPhase::Lost, {.reason = EndReason::NodeLost, .message = reason}, now,
                 out);
}

// The node must go. A task that is on it ends only when the provider says that nothing of it is left.
void Plane::drain_node(LiveNode& node, std::string reason, Instant now, Outcome& out) {
    const NodeId id = node.row.id;
    set_state(node, NodeState::Draining, reason, now, out);
    out.sends.push_back({id, ReleaseNode{}});
    add_effect(StopNode{id}, out);
}

// Leases, start time-outs, idle times and effects that wait to be tried again. Sets the next wake.
void Plane::check_nodes(Instant now, Outcome& out) {
    std::optional<Instant> next;
    auto due_at = [&](Instant at) {
        if (at > now) next = std::min(next.value_or(at), at);
        return at <= now;
    };
    std::vector<NodeId> ids;
    for (const auto& [id, node] : nodes_) ids.push_back(id);
    for (const NodeId id : ids) {
        LiveNode& node = nodes_.at(id);
        LivePool& pool = pools_.at(node.row.pool);
        switch (node.row.state) {
            case NodeState::Requested:
            case NodeState::Starting:
                if (due_at(node.last_heard + settings_.start_timeout))
                    lose_node(node, "its agent did not report in time", now, out);
                break;
            case NodeState::Idle:
                if (due_at(node.last_heard + settings_.lease + settings_.lease_margin)) {
                    lose_node(node, "it was silent for longer than its lease", now, out);
                } else if (due_at(*node.row.idle_since + pool.row.idle_before_release) &&
                           std::ssize(pool.nodes) > pool.row.nodes_min) {
                    if (pool.queue.empty()) {
                        drain_node(node, "idle", now, out);
                    } else {
                        (void)due_at(now + pool.row.idle_before_release);
                    }
                }
                break;
            case NodeState::Busy:
                // Its agent has killed its tasks, if it lives; the provider makes sure. If that fails, a
                // second lease must do.
                if (due_at(node.last_heard + settings_.lease + settings_.lease_margin)) {
                    node.last_heard = now;
                    drain_node(node, "it was silent for longer than its lease", now, out);
                    (void)due_at(now + settings_.lease + settings_.lease_margin);
                }
                break;
            case NodeState::Draining:
                if (node.task && due_at(node.last_heard + settings_.lease + settings_.lease_margin))
                    lose_node(node, node.row.reason, now, out);
                break;
            case NodeState::Released:
            case NodeState::Lost:
            case NodeState::Preempted:
                break;
        }
    }
    for (auto& [id, pool] : pools_) {
        if (!pool.blocked_until || !due_at(*pool.blocked_until)) continue;
        pool.blocked_until.reset();
        unsettled_.insert(id);
    }
    std::erase_if(retries_, [&](const Retry& retry) {
        if (!due_at(retry.at)) return false;
        const auto entry = outbox_.find(retry.outbox);
        if (entry != outbox_.end()) out.effects.push_back(entry->second);
        return true;
    });
    next_wake_ = next;
}

}  // namespace lavant::plane
