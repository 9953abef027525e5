#include "core/schedule/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lavant::schedule {
namespace {

constexpr std::int64_t kShares = 1000;  // of one node

// How many times `part` fits into `whole`.
std::int64_t times(const Resources& part, const Resources& whole) {
    std::int64_t count = kShares;
    if (part.cpu_millis > 0) count = std::min(count, whole.cpu_millis / part.cpu_millis);
    if (part.memory_bytes > 0) count = std::min(count, whole.memory_bytes / part.memory_bytes);
    if (part.gpus > 0) count = std::min<std::int64_t>(count, whole.gpus / part.gpus);
    return count;
}

}  // namespace

std::string_view name_of(Wait wait) {
    switch (wait) {
        case Wait::Nothing:
            return "nothing";
        case Wait::NodeStart:
            return "node_starting";
        case Wait::StartFailed:
            return "node_start_failed";
        case Wait::Maximum:
            return "pool_at_maximum";
        case Wait::Quota:
            return "quota";
        case Wait::Room:
            return "machine_full";
        case Wait::Lock:
            return "lock";
        case Wait::Gang:
            return "gang";
        case Wait::Turn:
            return "turn";
    }
    CHECK(false, "a reason outside its enum");
}

// --- what happens ---

Scheduler::LivePool& Scheduler::touch(PoolId id) {
    unsettled_.insert(id);
    return pools_.at(id);
}

void Scheduler::put_pool(const Pool& pool) {
    const auto found = pools_.find(pool.id);
    if (found != pools_.end()) count_quota(found->second, -1);
    LivePool& live = pools_[pool.id];
    live.row = pool;
    live.quota = quota_keys_of(pool);
    count_quota(live, 1);
    touch(pool.id);
    update(live);
}

void Scheduler::remove_pool(PoolId id) {
    LivePool& pool = pools_.at(id);
    CHECK(pool.nodes.empty() && pool.queue.empty(), "a pool that goes is empty");
    count_quota(pool, -1);
    if (pool.wanting) wanting_.erase({*pool.wanting, id});
    if (pool.due) due_.erase({*pool.due, id});
    if (starved_ && starved_->pool == id) starved_.reset();
    pools_.erase(id);
    unsettled_.erase(id);
}

void Scheduler::set_locked(PoolId id, bool locked) {
    LivePool& pool = touch(id);
    pool.locked = locked;
    update(pool);
}

void Scheduler::set_blocked(PoolId id, bool blocked) {
    LivePool& pool = touch(id);
    pool.blocked = blocked;
    update(pool);
}

void Scheduler::set_quota(const Quota& quota) { quotas_.set(quota); }

std::int64_t Scheduler::shares_of(const LivePool& pool, const Ask& ask) {
    if (!pool.row.terms.packed) return ask.instances * kShares;
    const std::int64_t together = std::max<std::int64_t>(1, times(ask.on_node, pool.row.terms.node_limit));
    return ask.instances * ((kShares + together - 1) / together);
}

void Scheduler::job_waits(const Ask& ask) {
    LivePool& pool = touch(ask.pool);
    Ask counted = ask;
    counted.shares = shares_of(pool, ask);
    pool.queue.add(counted);
    pool.queued_shares += counted.shares;
    update(pool);
}

void Scheduler::job_waits_no_more(PoolId id, Turn turn) {
    LivePool& pool = touch(id);
    pool.queued_shares -= pool.queue.remove(turn).shares;
    update(pool);
}

void Scheduler::job_placed(PoolId id, Turn turn, const std::vector<NodeId>& nodes, Instant now) {
    LivePool& pool = touch(id);
    const Ask ask = pool.queue.remove(turn);
    pool.queued_shares -= ask.shares;
    job_runs(ask, nodes, now);
}

void Scheduler::job_runs(const Ask& ask, const std::vector<NodeId>& nodes, Instant since) {
    LivePool& pool = touch(ask.pool);
    RunningJob& running = running_[ask.job];
    running = {
        .pool = ask.pool, .turn = turn_of(ask), .user = ask.user, .on_node = ask.on_node, .since = since};
    if (ask.bound > Duration{}) running.ends_by = since + ask.bound;
    running.nodes.insert(nodes.begin(), nodes.end());
    for (const NodeId id : running.nodes) {
        NodeInfo& node = nodes_.at(id);
        ++node.jobs;
        node.used += ask.on_node;
        pool.idle.erase(id);
        const Resources& limit = pool.row.terms.node_limit;
        if (node.used.cpu_millis >= limit.cpu_millis || node.used.memory_bytes >= limit.memory_bytes)
            pool.open.erase(id);
    }
    const int count = static_cast<int>(running.nodes.size());
    pool.queue.add_running(ask.user, count);
    if (running.ends_by) pool.ends.insert({*running.ends_by, count});
    if (pool.row.terms.tier == Tier::LowPriority) spot_running_.insert(running.turn);
    update(pool);
}

void Scheduler::job_leaves(JobId job, NodeId id) {
    const auto found = running_.find(job);
    if (found == running_.end() || !found->second.nodes.contains(id)) return;
    RunningJob& running = found->second;
    LivePool& pool = touch(running.pool);
    const int count = static_cast<int>(running.nodes.size());
    if (running.ends_by) {
        const auto end = pool.ends.find({*running.ends_by, count});
        if (end != pool.ends.end()) {  // Otherwise it is late.
            pool.ends.erase(end);
            if (count > 1) pool.ends.insert({*running.ends_by, count - 1});
        }
    }
    pool.queue.add_running(running.user, -1);
    running.nodes.erase(id);
    NodeInfo& node = nodes_.at(id);
    --node.jobs;
    node.used -= running.on_node;
    if (node.state == State::Ready) {
        if (node.jobs == 0) pool.idle.insert(id);
        if (pool.row.terms.packed) pool.open.insert(id);
    }
    if (running.nodes.empty()) {
        spot_running_.erase(running.turn);
        running_.erase(found);
    }
    update(pool);
}

void Scheduler::node_added(NodeId id, PoolId pool_id, const Resources& cost) {
    LivePool& pool = touch(pool_id);
    nodes_[id] = {.pool = pool_id, .cost = cost};
    count_quota(pool, -1);
    pool.nodes.insert(id);
    count_quota(pool, 1);
    ++pool.starting;
    promised_ += cost;
    update(pool);
}

void Scheduler::node_ready(NodeId id) {
    NodeInfo& node = nodes_.at(id);
    if (node.state != State::Starting) return;
    LivePool& pool = touch(node.pool);
    node.state = State::Ready;
    --pool.starting;
    pool.idle.insert(id);
    if (pool.row.terms.packed) pool.open.insert(id);
    update(pool);
}

void Scheduler::node_leaves(NodeId id) {
    NodeInfo& node = nodes_.at(id);
    if (node.state == State::Leaving) return;
    LivePool& pool = touch(node.pool);
    if (node.state == State::Starting) --pool.starting;
    pool.idle.erase(id);
    pool.open.erase(id);
    node.state = State::Leaving;
    ++pool.leaving;
    leaving_ += node.cost;
    update(pool);
}

void Scheduler::node_gone(NodeId id) {
    CHECK(nodes_.at(id).jobs == 0, "a node that is gone runs nothing");
    node_leaves(id);
    LivePool& pool = touch(nodes_.at(id).pool);
    --pool.leaving;
    leaving_ -= nodes_.at(id).cost;
    promised_ -= nodes_.at(id).cost;
    count_quota(pool, -1);
    pool.nodes.erase(id);
    count_quota(pool, 1);
    nodes_.erase(id);
    update(pool);
}

// --- quotas ---

void Scheduler::count_quota(const LivePool& pool, int sign) {
    const std::int64_t cores = cores_held(pool.row, static_cast<int>(pool.nodes.size())) * sign;
    for (const QuotaKey& key : pool.quota) cores_used_[key] += cores;
}

std::int64_t Scheduler::cores_used(const QuotaKey& key) const {
    const auto found = cores_used_.find(key);
    return found == cores_used_.end() ? 0 : found->second;
}

// What a cluster may grow to was counted when it was made.
bool Scheduler::quota_allows(const LivePool& pool, const QuotaUsage& more) const {
    if (!pool.row.is_serverless()) return true;
    return std::ranges::all_of(pool.quota, [&](const QuotaKey& key) {
        const auto added = more.find(key);
        const std::int64_t used = cores_used(key) + (added == more.end() ? 0 : added->second);
        return used + pool.row.terms.vcpus <= quotas_.limit(key);
    });
}

// --- what there is ---

Scheduler::PoolView Scheduler::view(PoolId id) const {
    const LivePool& pool = pools_.at(id);
    return {.nodes = static_cast<int>(pool.nodes.size()),
            .idle = static_cast<int>(pool.idle.size()),
            .starting = pool.starting,
            .leaving = pool.leaving,
            .queued = pool.queue.size(),
            .locked = pool.locked};
}

bool Scheduler::wants_no_fewer(PoolId id) const {
    const LivePool& pool = pools_.at(id);
    return pool.locked || !pool.queue.empty() || std::ssize(pool.nodes) - pool.leaving <= pool.row.nodes_min;
}

std::vector<NodeId> Scheduler::starting_nodes() const {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : nodes_)
        if (node.state == State::Starting) ids.push_back(id);
    return ids;
}

std::vector<NodeId> Scheduler::leaving_nodes() const {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : nodes_)
        if (node.state == State::Leaving) ids.push_back(id);
    return ids;
}

std::int64_t Scheduler::nodes_wanted(const LivePool& pool) const {
    const std::int64_t nodes = std::ssize(pool.nodes);
    const std::int64_t free = std::ssize(pool.idle) + pool.starting;
    std::int64_t queued = (pool.queued_shares + kShares - 1) / kShares;
    // A gang needs as many nodes as it has instances, however small its part of each.
    if (!pool.queue.empty()) queued = std::max<std::int64_t>(queued, pool.queue.oldest().instances);
    const std::int64_t wanted =
        std::max<std::int64_t>(queued - free, pool.row.nodes_min - (nodes - pool.leaving));
    return std::clamp<std::int64_t>(wanted, 0, std::max<std::int64_t>(0, pool.row.nodes_max - nodes));
}

bool Scheduler::has_room_for_one(const LivePool& pool) const {
    Resources after = promised_;
    after += pool.row.node_resources;
    return after.fits_in(settings_.capacity);
}

Wait Scheduler::why_waiting(PoolId id) const {
    const LivePool& pool = pools_.at(id);
    if (pool.queue.empty()) return Wait::Nothing;
    const int needs = pool.queue.oldest().instances;
    const int free = static_cast<int>(pool.idle.size()) + pool.starting;
    if (starved_ && starved_->pool != id && starved_->head < claim_of(pool, pool.queue.oldest()))
        return Wait::Turn;
    if (free >= needs) return pool.starting > 0 ? Wait::NodeStart : Wait::Turn;
    if (pool.locked) return Wait::Lock;
    if (pool.blocked) return Wait::StartFailed;
    if (std::ssize(pool.nodes) >= pool.row.nodes_max) return needs > 1 ? Wait::Gang : Wait::Maximum;
    if (!quota_allows(pool)) return Wait::Quota;
    if (!has_room_for_one(pool)) return Wait::Room;
    return Wait::NodeStart;
}

bool Scheduler::copy_ahead_of(PoolId target_pool, Turn target, std::size_t jobs_max, Scheduler& copy) const {
    copy = Scheduler(settings_, quotas_);
    for (const auto& [id, pool] : pools_) {
        copy.put_pool(pool.row);
        copy.set_locked(id, pool.locked);
        copy.set_blocked(id, pool.blocked);
    }
    for (const auto& [id, node] : nodes_) {
        copy.node_added(id, node.pool, node.cost);
        if (node.state != State::Starting) copy.node_ready(id);
    }
    for (const auto& [id, job] : running_)
        copy.job_runs({.job = id,
                       .pool = job.pool,
                       .rank = job.turn.rank,
                       .user = job.user,
                       .on_node = job.on_node,
                       .bound = job.ends_by ? *job.ends_by - job.since : Duration{}},
                      {job.nodes.begin(), job.nodes.end()}, job.since);
    for (const auto& [id, node] : nodes_)
        if (node.state == State::Leaving) copy.node_leaves(id);
    // The target's own pool first: the others must not use up what may be looked at.
    std::size_t count = 0;
    const auto copy_pool = [&](PoolId id, const LivePool& pool) {
        for (const Ask* ask : pool.queue.first(jobs_max)) {
            // Fair share may let a younger one of the same priority pass, and dedicated work goes first.
            const bool may_pass = (id == target_pool && ask->rank == target.rank) ||
                                  pool.row.terms.tier < pools_.at(target_pool).row.terms.tier;
            if (turn_of(*ask) > target && !may_pass) break;
            if (++count > jobs_max) return false;
            copy.job_waits(*ask);
        }
        return true;
    };
    if (!copy_pool(target_pool, pools_.at(target_pool))) return false;
    for (const auto& [id, pool] : pools_)
        if (id != target_pool && !copy_pool(id, pool)) return false;
    return copy.queue(target_pool).find(target) != nullptr;
}

}  // namespace lavant::schedule
