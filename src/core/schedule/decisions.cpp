// Decisions: who is placed, which pools grow, who makes room.

#include <algorithm>
#include <utility>

#include "core/schedule/scheduler.h"

namespace lavant::schedule {
namespace {

constexpr Turn kLast{INT32_MAX, {}};  // of a pool that only wants its minimum

}  // namespace

void Scheduler::update(LivePool& pool) {
    std::optional<Claim> claim;
    if (!pool.locked && !pool.blocked && nodes_wanted(pool) > 0)
        claim = pool.queue.empty() ? Claim{Tier::LowPriority, kLast} : claim_of(pool, pool.queue.oldest());
    if (claim != pool.wanting) {
        if (pool.wanting) wanting_.erase({*pool.wanting, pool.row.id});
        if (claim) wanting_.insert({*claim, pool.row.id});
        pool.wanting = claim;
    }
    std::optional<Instant> due;
    if (!pool.queue.empty()) due = pool.queue.oldest().since + settings_.overtaken_max;
    if (!pool.ends.empty()) due = std::min(due.value_or(Instant::max()), pool.ends.begin()->first);
    if (due != pool.due) {
        if (pool.due) due_.erase({*pool.due, pool.row.id});
        if (due) due_.insert({*due, pool.row.id});
        pool.due = due;
    }
}

// A job may have become too old to be overtaken, or runs longer than it should have: its end is not known any
// more.
void Scheduler::pass_time(Instant now) {
    while (!due_.empty() && due_.begin()->first <= now) {
        const PoolId id = due_.begin()->second;
        due_.erase(due_.begin());
        LivePool& pool = touch(id);
        pool.due.reset();
        const auto late = pool.ends.upper_bound({now, INT32_MAX});
        pool.ends.erase(pool.ends.begin(), late);
        if (!pool.ends.empty()) {
            pool.due = pool.ends.begin()->first;
            due_.insert({*pool.due, id});
        }
    }
}

void Scheduler::decide(Instant now, Actions& actions) {
    pass_time(now);
    while (true) {
        const Growth growth = plan_growth();
        if (starved_ != growth.starved) {
            starved_ = growth.starved;
            for (const auto& [id, pool] : pools_)
                if (!pool.queue.empty()) unsettled_.insert(id);
        }
        if (unsettled_.empty()) {
            grow(growth, actions);
            if (unsettled_.empty()) return;
            continue;
        }
        std::set<PoolId> looked_at;
        std::swap(looked_at, unsettled_);
        for (const PoolId id : looked_at) {
            shrink(pools_.at(id), actions);
            place_waiting(pools_.at(id), now, actions);
        }
        unsettled_.clear();  // Each pool was looked at until it had nothing to do.
    }
}

Scheduler::Claim Scheduler::claim_of(const LivePool& pool, const Ask& ask) {
    return {pool.row.terms.tier, turn_of(ask)};
}

std::optional<std::vector<NodeId>> Scheduler::find_nodes(const LivePool& pool, const Ask& ask) const {
    const auto needs = static_cast<std::size_t>(ask.instances);
    if (!pool.row.terms.packed) {
        if (pool.idle.size() < needs) return std::nullopt;
        return std::vector<NodeId>(pool.idle.begin(), std::next(pool.idle.begin(), ask.instances));
    }
    std::vector<NodeId> nodes;
    for (const NodeId id : pool.open) {
        Resources after = nodes_.at(id).used;
        after += ask.on_node;
        if (after.fits_in(pool.row.terms.node_limit)) nodes.push_back(id);
        if (nodes.size() == needs) return nodes;
    }
    return std::nullopt;
}

bool Scheduler::place(LivePool& pool, const Ask& ask, Actions& actions) {
    const auto nodes = find_nodes(pool, ask);
    if (nodes) actions.place(Ask(ask), *nodes);
    return nodes.has_value();
}

void Scheduler::place_waiting(LivePool& pool, Instant now, Actions& actions) {
    while (!pool.queue.empty()) {
        // While somebody older waits for room on the machine, only those who are older still go first.
        // Nodes that could not make room for them anyway may be used.
        const bool held = starved_ && starved_->pool != pool.row.id && may_yield(pool);
        const Ask& head = held ? pool.queue.oldest() : pool.queue.next(now, settings_.overtaken_max);
        if (held && starved_->head < claim_of(pool, head)) return;
        if (place(pool, head, actions)) continue;
        if (!held) backfill(pool, Ask(head), now, actions);
        return;
    }
}

// Behind a job that has to wait, others may use the nodes that it cannot use yet, if by everybody's time-outs
// none that came before them starts later for it: a job that has none may run for ever.
void Scheduler::backfill(LivePool& pool, const Ask& head, Instant now, Actions& actions) {
    if (pool.idle.empty() || pool.queue.size() < 2 || pool.row.terms.packed) return;
    Profile profile(now, static_cast<int>(pool.idle.size()));
    if (pool.starting > 0) profile.add_from(now + settings_.start_estimate, pool.starting);
    std::size_t looked_at = 0;
    for (const auto& [at, nodes] : pool.ends) {
        if (++looked_at > 10 * settings_.backfill_depth) break;
        profile.add_from(at, nodes);
    }
    const auto starts = profile.earliest(head.instances, head.bound);
    if (!starts) return;
    profile.reserve(*starts, head.instances, head.bound);
    std::vector<Ask> behind;
    for (const Ask* ask : pool.queue.first(settings_.backfill_depth))
        if (ask->job != head.job) behind.push_back(*ask);
    for (const Ask& ask : behind) {
        if (pool.idle.empty()) return;
        const auto at = profile.earliest(ask.instances, ask.bound);
        if (!at) continue;
        profile.reserve(*at, ask.instances, ask.bound);
        if (*at == now) place(pool, ask, actions);
    }
}

// Its maximum was lowered, or it is being deleted. Nodes of another share of the machine than its nodes have
// now are replaced when they are idle: beside them a gang might never fit.
void Scheduler::shrink(LivePool& pool, Actions& actions) {
    while (!pool.locked && !pool.idle.empty() && std::ssize(pool.nodes) - pool.leaving > pool.row.nodes_max)
        actions.release(*pool.idle.rbegin(),
                        pool.row.leaving ? "its cluster is deleted" : "above the maximum");
    const std::set<NodeId> idle = pool.locked ? std::set<NodeId>() : pool.idle;
    for (const NodeId id : idle)
        if (nodes_.at(id).cost != pool.row.node_resources)
            actions.release(id, "its part of the machine has changed");
}

// Pools ask for nodes in the order of the jobs at their heads. One that does not fit on the machine holds
// back those behind it, also in the use of nodes that are there: a stream of small jobs cannot keep a large
// one waiting for ever.
Scheduler::Growth Scheduler::plan_growth() const {
    Growth growth;
    Resources promised = promised_;
    QuotaUsage cores;
    for (const auto& [claim, id] : wanting_) {
        const LivePool& pool = pools_.at(id);
        int count = 0;
        bool full = false;
        // Nodes for a gang that the rest of the machine leaves no room for would only stand idle.
        if (!pool.queue.empty() && !can_ever_begin(pool)) continue;
        for (std::int64_t wanted = nodes_wanted(pool); wanted > 0; --wanted) {
            if (!quota_allows(pool, cores)) {
                growth.short_of_quota.push_back(id);
                break;
            }
            Resources after = promised;
            after += pool.row.node_resources;
            if (!after.fits_in(settings_.capacity)) {
                // A minimum that is missing is worth nobody's place.
                if (!pool.queue.empty() && !growth.short_of_room) growth.short_of_room = id;
                full = true;
                break;
            }
            promised = after;
            if (pool.row.is_serverless())
                for (const QuotaKey& key : pool.quota) cores[key] += pool.row.terms.vcpus;
            ++count;
        }
        if (count > 0) growth.requests.emplace_back(id, count);
        // A pool whose head can run on the nodes it has only wants to go faster: it holds nobody back.
        const std::int64_t staying = std::ssize(pool.nodes) - pool.leaving;
        if (full && !pool.queue.empty() && staying < pool.queue.oldest().instances) {
            growth.starved = Starved{claim, id};
            break;
        }
    }
    return growth;
}

void Scheduler::grow(const Growth& growth, Actions& actions) {
    for (const auto& [id, count] : growth.requests)
        for (int i = 0; i < count; ++i) actions.request(id);
    for (const PoolId id : growth.short_of_quota) make_quota_room(pools_.at(id), actions);
    if (growth.short_of_room) make_room(pools_.at(*growth.short_of_room), actions);
}

bool Scheduler::may_yield(const LivePool& pool) const {
    return !pool.locked && std::ssize(pool.nodes) - pool.leaving > pool.row.nodes_min;
}

// Whether the machine would have room for the pool's head if everybody who can made room.
bool Scheduler::can_ever_begin(const LivePool& wanting) const {
    Resources needed;
    const int instances = wanting.queue.oldest().instances;
    if (instances == 1) return true;
    for (int i = 0; i < instances; ++i) needed += wanting.row.node_resources;
    for (const auto& [id, pool] : pools_) {
        if (id == wanting.row.id) continue;
        const auto nodes = static_cast<int>(pool.nodes.size());
        for (int i = pool.locked ? nodes : std::min(nodes, pool.row.nodes_min); i > 0; --i)
            needed += pool.row.node_resources;
    }
    return needed.fits_in(settings_.capacity);
}

bool Scheduler::yields_to(const LivePool& pool, const LivePool& wanting) const {
    if (pool.row.id == wanting.row.id || !may_yield(pool)) return false;
    return pool.queue.empty() ||
           claim_of(wanting, wanting.queue.oldest()) < claim_of(pool, pool.queue.oldest());
}

std::int64_t Scheduler::nodes_missing_for_head(const LivePool& pool) const {
    const std::int64_t free = std::ssize(pool.idle) + pool.starting;
    return std::max<std::int64_t>(1, pool.queue.oldest().instances - free);
}

// In this order: idle nodes that nobody with a better claim waits for; for dedicated work that cannot run
// otherwise, then those of low priority, of the youngest jobs first.
std::vector<NodeId> Scheduler::could_make_room(const LivePool& wanting) const {
    std::vector<NodeId> nodes;
    for (const auto& [id, pool] : pools_) {
        if (!yields_to(pool, wanting)) continue;
        const std::int64_t spare = std::ssize(pool.nodes) - pool.leaving - pool.row.nodes_min;
        const std::int64_t count = std::min<std::int64_t>(spare, std::ssize(pool.idle));
        nodes.insert(nodes.end(), pool.idle.begin(), std::next(pool.idle.begin(), count));
    }
    const bool runs = std::ssize(wanting.nodes) - wanting.leaving >= wanting.queue.oldest().instances;
    if (wanting.row.terms.tier != Tier::Dedicated || runs) return nodes;
    std::set<NodeId> seen;
    for (auto turn = spot_running_.rbegin(); turn != spot_running_.rend(); ++turn)
        for (const NodeId id : running_.at(turn->job).nodes) {
            const NodeInfo& node = nodes_.at(id);
            const bool stays = node.state != State::Ready || pools_.at(node.pool).locked;
            if (!stays && seen.insert(id).second) nodes.push_back(id);
        }
    return nodes;
}

// Nodes make room only if that lets the one who waits begin. Their place is free when the provider says that
// they are gone.
void Scheduler::make_room(const LivePool& wanting, Actions& actions) {
    Resources after = promised_;
    after -= leaving_;
    for (std::int64_t i = nodes_missing_for_head(wanting); i > 0; --i) after += wanting.row.node_resources;
    std::vector<NodeId> going;
    for (const NodeId id : could_make_room(wanting)) {
        if (after.fits_in(settings_.capacity)) break;
        after -= nodes_.at(id).cost;
        going.push_back(id);
    }
    if (!after.fits_in(settings_.capacity)) return;
    const std::string why = "makes room for " + wanting.row.key;
    for (const NodeId id : going) {
        if (nodes_.at(id).jobs > 0)
            actions.preempt(id, why);
        else
            actions.release(id, why);
    }
}

// Idle serverless nodes of other sizes give back cores that count against what is short.
void Scheduler::make_quota_room(const LivePool& wanting, Actions& actions) {
    if (wanting.queue.empty()) return;
    const auto is_short = [&](const QuotaKey& key) {
        return cores_used(key) + wanting.row.terms.vcpus > quotas_.limit(key);
    };
    const auto key = std::ranges::find_if(wanting.quota, is_short);
    if (key == wanting.quota.end()) return;
    NodeId idle;
    for (const auto& [id, pool] : pools_) {
        if (!pool.row.is_serverless() || std::ranges::count(pool.quota, *key) == 0) continue;
        if (pool.leaving > 0) return;  // What is on its way may suffice.
        if (!idle && !pool.idle.empty() && yields_to(pool, wanting)) idle = *pool.idle.begin();
    }
    if (idle) actions.release(idle, "gives its cores to " + wanting.row.key);
}

}  // namespace lavant::schedule
