#include "core/plane/plane.h"

#include <algorithm>

#include "base/check.h"
#include "core/plane/verdict.h"

namespace lavant::plane {

Plane::Plane(Settings settings, const LiveRows& rows, Instant now) : settings_(std::move(settings)) {
    last_job_ = rows.last_job;
    last_node_ = rows.last_node;
    last_pool_ = rows.last_pool;
    last_outbox_ = rows.last_outbox;
    last_event_ = rows.last_event;
    for (const Pool& row : rows.pools) {
        pools_[row.id].row = row;
        pool_keys_[row.workspace + '\n' + row.key] = row.id;
        unsettled_.insert(row.id);
    }
    for (const Node& row : rows.nodes) {
        LiveNode& node = nodes_[row.id];
        node.row = row;
        node.stored = row;
        node.last_heard = now;
        node.last_effect = now;
        LivePool& pool = pools_.at(row.pool);
        pool.nodes.insert(row.id);
        if (row.state == NodeState::Idle) pool.idle.insert(row.id);
        if (row.state == NodeState::Requested || row.state == NodeState::Starting) ++pool.starting;
        promised_ += pool.row.node_resources;
    }
    // Jobs that wait in a pool made on a larger machine would wait for ever.
    for (auto& [id, pool] : pools_) {
        if (!pool.nodes.empty() || pool.row.node_resources.fits_in(settings_.capacity)) continue;
        Resources& one = pool.row.node_resources;
        one = {.cpu_millis = std::min(one.cpu_millis, settings_.capacity.cpu_millis),
               .memory_bytes = std::min(one.memory_bytes, settings_.capacity.memory_bytes),
               .gpus = std::min(one.gpus, settings_.capacity.gpus)};
        changed_pools_.insert(id);
    }
    for (const JobHead& head : rows.jobs) {
        LiveJob& job = jobs_[head.id];
        job.head = head;
        names_[head.workspace + '\n' + head.name] = head.id;
        if (head.status == JobStatus::Queued) enqueue(job);
    }
    for (const Task& row : rows.tasks) {
        tasks_[row.ref] = row;
        LiveJob& job = jobs_.at(row.ref.job);
        job.tasks.push_back(row.ref);
        job.may_have_staged |= row.end.has_outputs || row.phase == TaskPhase::Finalizing;
        const auto node = nodes_.find(row.node);
        if (row.phase != TaskPhase::Ended && row.phase != TaskPhase::Lost) {
            CHECK(node != nodes_.end(), "a task that has not ended has a node");
            node->second.task = row.ref;
        }
    }
    for (const OutboxEntry& entry : rows.outbox) {
        outbox_[entry.id] = entry;
        if (const auto* drop = std::get_if<DropJobFiles>(&entry.effect))
            deleting_.insert(drop->workspace + '\n' + drop->name);
    }
    next_wake_ = now;
}

void Plane::apply(const Event& event, Instant now, Outcome& out) {
    std::visit([&](const auto& one) { apply_one(one, now, out); }, event);
}

void Plane::decide(Instant now, Outcome& out) {
    if (next_wake_ && now > *next_wake_ + settings_.late_wake)
        for (auto& [id, node] : nodes_) node.last_heard = now;  // We slept, they could not reach us.
    if (!next_wake_ || now >= *next_wake_) check_nodes(now, out);
    for (const PoolId id : std::exchange(unsettled_, {})) place(pools_.at(id), now, out);
    grow(now, out);
    flush(out);
}

void Plane::apply_one(const WriteAssets& event, Instant, Outcome& out) {
    out.asset_replies.push_back({event.ticket, out.writes.assets.size(), event.writes.size()});
    for (const AssetWrite& write : event.writes) out.writes.assets.push_back(write);
}

void Plane::apply_one(const ExplainJob& event, Instant now, Outcome& out) {
    const LiveJob* job = live_job(event.workspace, event.name);
    if (job == nullptr) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::NotFound, "job '" + event.name + "' is not live")});
        return;
    }
    out.replies.push_back({event.ticket, Answer{.explanation = {.text = explain(*job, now)}}});
}

void Plane::apply_one(const EffectDone& event, Instant now, Outcome& out) {
    const auto found = outbox_.find(event.outbox);
    if (found == outbox_.end()) return;  // Done before, by the run that we forgot.
    const Effect effect = found->second.effect;
    const bool again = !event.succeeded && std::holds_alternative<PublishOutputs>(effect);
    if (again && may_pass(event.code)) return retry_effect(event.outbox, now);
    const auto* drop = std::get_if<DropJobFiles>(&effect);
    // However long it takes: the name stays taken for as long as old files lie under it.
    if (drop != nullptr && !event.succeeded) return retry_effect(event.outbox, now);
    if (drop != nullptr) deleting_.erase(drop->workspace + '\n' + drop->name);
    outbox_.erase(found);
    failures_.erase(event.outbox);
    out.writes.outbox_removed.push_back(event.outbox);
    if (const auto* start = std::get_if<StartNode>(&effect)) return node_effect_done(*start, event, now, out);
    if (const auto* stop = std::get_if<StopNode>(&effect)) return node_effect_done(*stop, event, now, out);
    if (const auto* publish = std::get_if<PublishOutputs>(&effect)) {
        const auto job = jobs_.find(publish->job);
        CHECK(job != jobs_.end(), "a job stays live until its outputs are published");
        if (!event.succeeded) job->second.head.error = explain_unpublished(event.code, event.message);
        job->second.may_have_staged = !event.succeeded;
        conclude(job->second, now, out);
    }
}

void Plane::retry_effect(std::int64_t outbox, Instant now) {
    Duration delay = settings_.retry_delay;
    for (int past = failures_[outbox]++; past > 0 && delay < settings_.retry_delay_max; --past) delay *= 2;
    retries_.push_back({now + std::min(delay, settings_.retry_delay_max), outbox});
    next_wake_ = std::min(next_wake_.value_or(retries_.back().at), retries_.back().at);
}

void Plane::apply_one(const Tick&, Instant, Outcome&) {}

void Plane::record(const LiveJob& job, std::string what, std::string detail, Instant now, Outcome& out) {
    out.writes.events.push_back({.sequence = ++last_event_,
                                 .at = now,
                                 .workspace = job.head.workspace,
                                 .kind = "job",
                                 .subject = job.head.name,
                                 .job = job.head.id,
                                 .what = std::move(what),
                                 .detail = std::move(detail)});
}

void Plane::record(const Node& node, std::string detail, Instant now, Outcome& out) {
    out.writes.events.push_back({.sequence = ++last_event_,
                                 .at = now,
                                 .workspace = pools_.at(node.pool).row.workspace,
                                 .kind = "node",
                                 .subject = to_string(node.id),
                                 .job = {},
                                 .what = std::string(name_of(node.state)),
                                 .detail = std::move(detail)});
}

void Plane::add_effect(Effect effect, Outcome& out) {
    OutboxEntry entry{++last_outbox_, std::move(effect)};
    outbox_[entry.id] = entry;
    out.writes.outbox_added.push_back(entry);
    out.effects.push_back(std::move(entry));
}

bool Plane::has_effect_for(NodeId node) const {
    return std::ranges::any_of(outbox_, [&](const auto& pair) {
        const auto* start = std::get_if<StartNode>(&pair.second.effect);
        const auto* stop = std::get_if<StopNode>(&pair.second.effect);
        return (start != nullptr && start->node == node) || (stop != nullptr && stop->node == node);
    });
}

// Rows changed several times within a batch are written once, in their last state.
void Plane::flush(Outcome& out) {
    for (auto& [id, job] : added_) {
        const auto live = jobs_.find(id);
        const auto ended = ended_jobs_.find(id);
        CHECK(live != jobs_.end() || ended != ended_jobs_.end(), "a new job is live or has just ended");
        JobHead& head = live != jobs_.end() ? live->second.head : ended->second;
        head.version = 1;
        job.head = head;
        out.writes.jobs_added.push_back(std::move(job));
        if (live != jobs_.end()) live->second.is_new = false;
        if (ended != ended_jobs_.end()) ended_jobs_.erase(ended);
        changed_jobs_.erase(id);
    }
    for (const JobId id : changed_jobs_) {
        const auto live = jobs_.find(id);
        if (live == jobs_.end()) continue;
        ++live->second.head.version;
        out.writes.jobs_changed.push_back(live->second.head);
    }
    for (auto& [id, head] : ended_jobs_) {
        ++head.version;
        out.writes.jobs_changed.push_back(std::move(head));
    }
    for (const TaskRef& ref : changed_tasks_) {
        const auto live = tasks_.find(ref);
        if (live == tasks_.end()) continue;
        ++live->second.version;
        out.writes.tasks.push_back(live->second);
    }
    for (auto& [ref, task] : ended_tasks_) {
        ++task.version;
        out.writes.tasks.push_back(std::move(task));
    }
    for (const NodeId id : changed_nodes_) {
        const auto live = nodes_.find(id);
        // One that was freed and taken again in the same batch is as it was.
        if (live == nodes_.end() || live->second.stored == live->second.row) continue;
        ++live->second.row.version;
        live->second.stored = live->second.row;
        out.writes.nodes.push_back(live->second.row);
    }
    for (auto& [id, node] : gone_nodes_) {
        ++node.version;
        out.writes.nodes.push_back(std::move(node));
    }
    for (const PoolId id : changed_pools_) {
        Pool& row = pools_.at(id).row;
        ++row.version;
        out.writes.pools.push_back(row);
    }
    added_.clear();
    changed_jobs_.clear();
    ended_jobs_.clear();
    changed_tasks_.clear();
    ended_tasks_.clear();
    changed_nodes_.clear();
    gone_nodes_.clear();
    changed_pools_.clear();
}

bool Plane::is_live(const std::string& workspace, const std::string& name) const {
    return names_.contains(workspace + '\n' + name);
}

const JobHead* Plane::find_job(JobId id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second.head;
}

LiveRows Plane::rows() const {
    LiveRows rows;
    for (const auto& [id, job] : jobs_) {
        rows.jobs.push_back(job.head);
        for (const TaskRef& ref : job.tasks) rows.tasks.push_back(tasks_.at(ref));
    }
    for (const auto& [id, node] : nodes_) rows.nodes.push_back(node.row);
    for (const auto& [id, pool] : pools_) rows.pools.push_back(pool.row);
    rows.outbox = outbox();
    rows.last_job = last_job_;
    rows.last_node = last_node_;
    rows.last_pool = last_pool_;
    rows.last_outbox = last_outbox_;
    rows.last_event = last_event_;
    return rows;
}

std::vector<OutboxEntry> Plane::outbox() const {
    std::vector<OutboxEntry> entries;
    for (const auto& [id, entry] : outbox_) entries.push_back(entry);
    return entries;
}

Census Plane::census() const {
    Census census{.jobs_live = jobs_.size(), .outbox = outbox_.size()};
    for (const auto& [id, pool] : pools_)
        if (!pool.queue.empty()) census.queued_by_reason[waiting_reason(pool)] += pool.queue.size();
    for (const auto& [id, node] : nodes_) ++census.nodes_by_state[std::string(name_of(node.row.state))];
    return census;
}

}  // namespace lavant::plane
