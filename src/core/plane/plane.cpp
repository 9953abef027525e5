#include "core/plane/plane.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/plane/carrier.h"
#include "core/plane/verdict.h"

namespace lavant::plane {
namespace {

// Calls `visit` with the key of each workspace that a user's event is about.
template <class One, class Visit>
void each_workspace(const One& event, Visit visit) {
    if constexpr (requires { event.workspace; }) {
        visit(event.workspace);
    } else if constexpr (requires { event.job.head; }) {
        visit(event.job.head.workspace);
    } else if constexpr (requires { event.asset.key; }) {
        visit(event.asset.key.workspace);
    } else if constexpr (requires { event.writes; }) {
        for (const AssetWrite& write : event.writes) visit(write.asset.key.workspace);
    }
}

template <class One>
constexpr bool kOnlyLooks = std::is_same_v<One, ExplainJob> || std::is_same_v<One, DeleteWorkspace>;

}  // namespace

Plane::Plane(Settings settings)
    : settings_(std::move(settings)),
      scheduler_({.capacity = settings_.capacity}, QuotaBook(settings_.quotas)),
      free_gpus_(settings_.gpu_names.begin(), settings_.gpu_names.end()) {}

Plane::Plane(Settings settings, const LiveRows& rows, Instant now) : Plane(std::move(settings)) {
    last_job_ = rows.last_job;
    last_node_ = rows.last_node;
    last_pool_ = rows.last_pool;
    last_outbox_ = rows.last_outbox;
    last_event_ = rows.last_event;
    born_ = now;
    for (const Quota& quota : rows.quotas) {
        quotas_[{quota.key, quota.level}] = quota;
        scheduler_.set_quota(quota);
    }
    for (const Lock& lock : rows.locks) locks_[{lock.scope, lock.name}] = lock;
    std::set<PoolId> with_nodes;
    for (const Node& row : rows.nodes) with_nodes.insert(row.pool);
    for (Pool row : rows.pools) {
        // Jobs that wait in a pool made on a larger machine would wait for ever.
        if (!with_nodes.contains(row.id) && !row.node_resources.fits_in(settings_.capacity)) {
            Resources& one = row.node_resources;
            one = {.cpu_millis = std::min(one.cpu_millis, settings_.capacity.cpu_millis),
                   .memory_bytes = std::min(one.memory_bytes, settings_.capacity.memory_bytes),
                   .gpus = std::min(one.gpus, settings_.capacity.gpus)};
            changed_pools_.insert(row.id);
        }
        pools_[row.id].row = row;
        if (!row.leaving) pool_keys_[index_of(row)] = row.id;
        scheduler_.put_pool(row);
    }
    apply_locks();
    for (const OutboxEntry& entry : rows.outbox) {
        outbox_[entry.id] = entry;
        count_node_effect(entry.effect, 1);
        if (const auto* drop = std::get_if<DropJobFiles>(&entry.effect))
            deleting_.insert(drop->workspace + '\n' + drop->name);
    }
    for (const Node& row : rows.nodes) {
        LiveNode& node = nodes_[row.id];
        node.row = row;
        node.stored = row;
        node.last_heard = now;
        node.last_effect = now;
        scheduler_.node_added(row.id, row.pool, row.cost);
        if (row.state == NodeState::Idle || row.state == NodeState::Busy) scheduler_.node_ready(row.id);
        for (const std::string_view gpu : split(row.gpus, ',')) free_gpus_.erase(std::string(gpu));
    }
    for (const JobHead& head : rows.jobs) {
        LiveJob& job = jobs_[head.id];
        job.head = head;
        remember_name(head);
        ++pools_.at(head.pool).jobs;
        if (head.port > 0) ports_[head.port] = head.instances * head.demand.processes;
        if (head.status == JobStatus::Queued) scheduler_.job_waits(ask_of(head));
    }
    load_tasks(rows);
    for (auto& [id, node] : nodes_) {
        if (node.row.state == NodeState::Draining) {
            scheduler_.node_leaves(id);
            // Nobody stops it yet: it was evicted, and its tasks may still have their grace.
            if (!has_effect_for(id)) node.evicted_by = now + grace_of(node) + settings_.lease_margin;
            node.evicted = node.evicted_by.has_value();
        }
        set_due(node, due_of(node));
    }
    for (const auto& [id, pool] : pools_) emptied_pools_.insert(id);
}

void Plane::load_tasks(const LiveRows& rows) {
    std::map<JobId, std::set<NodeId>> placed;
    for (const Task& row : rows.tasks) {
        tasks_[row.ref] = row;
        LiveJob& job = jobs_.at(row.ref.job);
        job.tasks.push_back(row.ref);
        job.may_have_staged |=
            row.end.has_outputs || row.phase == TaskPhase::Finalizing || row.phase == TaskPhase::Lost;
        const auto node = nodes_.find(row.node);
        if (row.phase != TaskPhase::Ended && row.phase != TaskPhase::Lost) {
            CHECK(node != nodes_.end(), "a task that has not ended has a node");
            node->second.tasks.insert(row.ref);
            placed[row.ref.job].insert(row.node);
        }
    }
    for (const auto& [id, nodes] : placed)
        scheduler_.job_runs(ask_of(jobs_.at(id).head), {nodes.begin(), nodes.end()},
                            tasks_.at(jobs_.at(id).tasks.front()).assigned_at);
    for (const OutboxEntry& entry : rows.outbox) {
        const auto* publish = std::get_if<PublishOutputs>(&entry.effect);
        if (publish != nullptr) jobs_.at(publish->job).goes_again = publish->again;
    }
}

void Plane::apply(const Event& event, Instant now, Outcome& out) {
    const auto apply_it = [&](const auto& one) {
        bool gone = false;
        each_workspace(one, [&](const std::string& key) { gone = gone || gone_.contains(key); });
        if constexpr (requires { one.ticket; }) {
            if (gone) {
                out.replies.push_back(
                    {one.ticket, fail(ErrorCode::NotFound, "the workspace was deleted in the meantime")});
                return;
            }
        }
        if constexpr (!kOnlyLooks<std::decay_t<decltype(one)>>)
            each_workspace(one, [&](const std::string& key) { enter_workspace(key); });
        apply_one(one, now, out);
    };
    std::visit(apply_it, event);
}

void Plane::remember_gone(const Plane& before, const std::vector<std::string>& doubtful) {
    gone_ = before.gone_;
    for (const std::string& key : doubtful) gone_.take_back(key);
}

std::optional<Instant> Plane::next_wake() const {
    std::optional<Instant> wake = born_;
    const auto take = [&](Instant at) { wake = std::min(wake.value_or(at), at); };
    if (!due_.empty()) take(due_.begin()->first);
    for (const PoolId id : blocked_) take(*pools_.at(id).blocked_until);
    for (const Retry& retry : retries_) take(retry.at);
    return wake;
}

void Plane::decide(Instant now, Outcome& out) {
    const std::optional<Instant> planned = next_wake();
    if (planned && now > *planned + settings_.late_wake)
        for (auto& [id, node] : nodes_) node.last_heard = now;  // We slept, they could not reach us.
    if (planned && now >= *planned) check_nodes(now, out);
    born_.reset();
    Carrier carrier(*this, now, out);
    scheduler_.decide(now, carrier);
    flush(out);
}

void Plane::apply_one(const WriteAssets& event, Instant, Outcome& out) {
    out.asset_replies.push_back({event.ticket, out.writes.assets.size(), event.writes.size()});
    for (const AssetWrite& write : event.writes) out.writes.assets.push_back(write);
}

// What keeps a workspace from being deleted; "" for nothing. What is written in the same batch would outlive
// it: the workspace goes first.
std::string Plane::find_holder(const std::string& workspace) const {
    for (const auto& [id, pool] : pools_) {
        if (pool.row.workspace != workspace || pool.row.leaving) continue;
        if (pool.jobs > 0) return std::to_string(pool.jobs) + " jobs that have not ended: cancel them first";
        if (!pool.row.is_serverless()) return "a compute: delete its computes first";
    }
    const bool ends = std::ranges::any_of(
        ended_jobs_, [&](const auto& ended) { return ended.second.workspace == workspace; });
    return ends || entered_.contains(workspace) ? "users at this very moment: try again" : "";
}

void Plane::apply_one(const DeleteWorkspace& event, Instant, Outcome& out) {
    if (const std::string holder = find_holder(event.workspace); !holder.empty()) {
        out.replies.push_back({event.ticket, fail(ErrorCode::Conflict, "the workspace has " + holder)});
        return;
    }
    gone_.add(event.workspace);
    out.writes.workspaces_removed.push_back(event.workspace);
    out.writes.assets.push_back(event.row);
    add_effect(DropContainers{event.workspace, event.containers}, out);
    out.replies.push_back({event.ticket, Answer{}});
}

void Plane::apply_one(const ExplainJob& event, Instant now, Outcome& out) {
    const LiveJob* job = live_job(event.workspace, event.name);
    if (job == nullptr) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::NotFound, "job '" + event.name + "' is not live")});
        return;
    }
    out.replies.push_back({event.ticket, Answer{.explanation = explain(*job, now)}});
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
    const bool may_wait =
        std::holds_alternative<NotifyOfJob>(effect) || std::holds_alternative<DropContainers>(effect);
    if (may_wait && !event.succeeded && may_pass(event.code) &&
        failures_[event.outbox] < limits::kEffectTries)
        return retry_effect(event.outbox, now);
    outbox_.erase(found);
    count_node_effect(effect, -1);
    failures_.erase(event.outbox);
    out.writes.outbox_removed.push_back(event.outbox);
    if (const auto* start = std::get_if<StartNode>(&effect)) return node_effect_done(*start, event, now, out);
    if (const auto* stop = std::get_if<StopNode>(&effect)) return node_effect_done(*stop, event, now, out);
    if (const auto* publish = std::get_if<PublishOutputs>(&effect)) {
        const auto job = jobs_.find(publish->job);
        CHECK(job != jobs_.end(), "a job stays live until its outputs are published");
        if (!event.succeeded) job->second.head.error = explain_unpublished(event.code, event.message);
        job->second.may_have_staged = !event.succeeded;
        const bool canceled = job->second.head.cancel_requested_at.has_value();
        if (publish->again && event.succeeded && !canceled) return requeue(job->second, now, out);
        conclude(job->second, now, out);
    }
}

void Plane::retry_effect(std::int64_t outbox, Instant now) {
    Duration delay = settings_.retry_delay;
    for (int past = failures_[outbox]++; past > 0 && delay < settings_.retry_delay_max; --past) delay *= 2;
    retries_.push_back({now + std::min(delay, settings_.retry_delay_max), outbox});
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
    count_node_effect(entry.effect, 1);
    out.writes.outbox_added.push_back(entry);
    out.effects.push_back(std::move(entry));
}

void Plane::count_node_effect(const Effect& effect, int change) {
    NodeId node;
    if (const auto* start = std::get_if<StartNode>(&effect)) node = start->node;
    if (const auto* stop = std::get_if<StopNode>(&effect)) node = stop->node;
    if (node && (node_effects_[node] += change) == 0) node_effects_.erase(node);
}

bool Plane::has_effect_for(NodeId node) const { return node_effects_.contains(node); }

void Plane::flush_jobs(Outcome& out) {
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
}

// Rows changed several times within a batch are written once, in their last state.
void Plane::flush(Outcome& out) {
    flush_jobs(out);
    for (const PoolId id : std::exchange(emptied_pools_, {})) remove_pool_if_unused(id, out);
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
    out.writes.nodes_removed.insert(out.writes.nodes_removed.end(), gone_nodes_.begin(), gone_nodes_.end());
    for (const PoolId id : changed_pools_) {
        Pool& row = pools_.at(id).row;
        ++row.version;
        out.writes.pools.push_back(row);
    }
    entered_.clear();
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
    return static_cast<bool>(find_name(workspace, name));
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
    for (const auto& [key, quota] : quotas_) rows.quotas.push_back(quota);
    for (const auto& [key, lock] : locks_) rows.locks.push_back(lock);
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
        if (const std::size_t queued = scheduler_.queue(id).size(); queued > 0)
            census.queued_by_reason[std::string(name_of(scheduler_.why_waiting(id)))] += queued;
    for (const auto& [id, node] : nodes_) ++census.nodes_by_state[std::string(name_of(node.row.state))];
    return census;
}

}  // namespace lavant::plane
