// Clusters, quotas and locks: what users may have, and what keeps it from changing.

#include <algorithm>

#include "base/text.h"
#include "core/plane/plane.h"
#include "core/quota/quota_answer.h"

namespace lavant::plane {
namespace {

constexpr std::size_t kNamed = 3;
constexpr std::size_t kLookedAt = 10'000;  // of those who wait

std::string key_of(const std::string& workspace, const std::string& compute) {
    return workspace + "\ncompute/" + to_lower(compute);
}

std::string describe(const Lock& lock) {
    return "lock '" + lock.name + "' (" + std::string(name_of(lock.level)) + ") on " + lock.scope;
}

std::string cores_in_words(std::int64_t cores) {
    return cores > kQuotaCoresMax ? "unlimited" : std::to_string(cores);
}

// What never changes while a compute lives, and the words for it.
std::string fixed_that_differs(const Pool& before, const Pool& after) {
    const auto differs = [](const std::string& what, std::string_view was, std::string_view is) {
        return what + " is " + std::string(was.empty() ? "none" : was) + " and cannot become " +
               std::string(is.empty() ? "none" : is);
    };
    if (before.size != after.size) return differs("size", before.size, after.size);
    if (before.terms.tier != after.terms.tier)
        return differs("tier", name_of(before.terms.tier), name_of(after.terms.tier));
    if (before.terms.location != after.terms.location)
        return differs("location", before.terms.location, after.terms.location);
    if (before.terms.subnet != after.terms.subnet)
        return differs("network_settings", before.terms.subnet, after.terms.subnet);
    if (before.terms.packed != after.terms.packed) return "node_sharing cannot be changed";
    return "";
}

}  // namespace

// --- locks ---

const Lock* Plane::lock_over(const Pool& pool) const {
    for (const auto& [key, lock] : locks_)
        if (covers(lock.scope, pool.terms.arm_id) || covers(lock.scope, pool.terms.subnet)) return &lock;
    return nullptr;
}

void Plane::apply_locks() {
    for (const auto& [id, pool] : pools_) {
        const bool locked = lock_over(pool.row) != nullptr;
        if (scheduler_.view(id).locked != locked) scheduler_.set_locked(id, locked);
    }
    for (auto& [id, node] : nodes_)
        if (node.row.state == NodeState::Idle) set_due(node, due_of(node));
}

void Plane::apply_one(const PutLock& event, Instant now, Outcome& out) {
    locks_[{event.lock.scope, event.lock.name}] = event.lock;
    out.writes.locks.push_back({event.lock});
    record_lock(event.lock, "Locked", event.who, now, out);
    apply_locks();
    out.replies.push_back({event.ticket, Answer{}});
}

void Plane::apply_one(const DeleteLock& event, Instant now, Outcome& out) {
    const auto found = locks_.find({event.scope, event.name});
    if (found == locks_.end()) {
        out.replies.push_back({event.ticket, fail(ErrorCode::NotFound, "there is no lock '" + event.name +
                                                                           "' on " + event.scope)});
        return;
    }
    out.writes.locks.push_back({found->second, true});
    record_lock(found->second, "Unlocked", event.who, now, out);
    locks_.erase(found);
    apply_locks();
    out.replies.push_back({event.ticket, Answer{}});
}

void Plane::record_lock(const Lock& lock, std::string what, const std::string& who, Instant now,
                        Outcome& out) {
    out.writes.events.push_back({.sequence = ++last_event_,
                                 .at = now,
                                 .workspace = "",
                                 .kind = "lock",
                                 .subject = lock.name,
                                 .job = {},
                                 .what = std::move(what),
                                 .detail = lock.scope + " by " + who});
}

// --- quotas ---

std::string Plane::holders_of(const QuotaKey& key) const {
    std::vector<std::pair<std::int64_t, std::string>> holders;
    std::int64_t serverless = 0;
    for (const auto& [id, pool] : pools_) {
        const std::vector<QuotaKey> keys = quota_keys_of(pool.row);
        const std::int64_t held = cores_held(pool.row, scheduler_.view(id).nodes);
        if (held == 0 || std::ranges::count(keys, key) == 0) continue;
        if (pool.row.is_serverless())
            serverless += held;
        else
            holders.emplace_back(held, "compute " + pool.row.terms.compute);
    }
    if (serverless > 0) holders.emplace_back(serverless, "serverless jobs");
    std::ranges::sort(holders, std::greater{});
    std::string text;
    for (std::size_t i = 0; i < std::min(holders.size(), kNamed); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(holders[i].first) + " by " + holders[i].second;
    if (holders.size() > kNamed) text += " and others";
    return text;
}

// "" or why the job has to wait.
Result<std::string> Plane::check_quota(const Pool& pool, const JobHead& head) const {
    // What a cluster may grow to was counted when it was made.
    if (!pool.is_serverless()) return std::string();
    const std::vector<QuotaKey> keys = quota_keys_of(pool);
    QuotaUsage used;
    for (const QuotaKey& key : keys) used[key] = scheduler_.cores_used(key);
    // Its own idle nodes are there for it.
    const int idle = pool.id ? scheduler_.view(pool.id).idle : 0;
    const std::int64_t own = static_cast<std::int64_t>(idle) * pool.terms.vcpus;
    for (auto& [key, cores] : used) cores -= own;
    const QuotaAsk ask{pool, head.instances, "properties.resources.instanceCount", "instance_count"};
    LAVANT_TRY(const QuotaKey* short_now, check_limits(scheduler_.quotas(), used, ask, keys));
    if (short_now == nullptr) return std::string();
    const std::int64_t limit = scheduler_.quotas().limit(*short_now);
    return "the job waits in a queue: it needs " +
           std::to_string(static_cast<std::int64_t>(head.instances) * pool.terms.vcpus) + " vCPUs of " +
           in_words(*short_now) + ", and " + std::to_string(scheduler_.cores_used(*short_now)) + " of " +
           std::to_string(limit) + " are in use (" + holders_of(*short_now) + ")";
}

Result<void> Plane::check_compute_quota(const Pool& pool, const Pool* before) const {
    const std::vector<QuotaKey> keys = quota_keys_of(pool);
    const std::vector<QuotaKey> own = before == nullptr ? std::vector<QuotaKey>() : quota_keys_of(*before);
    const std::int64_t held = before == nullptr ? 0 : cores_held(*before, scheduler_.view(before->id).nodes);
    QuotaUsage used;
    for (const QuotaKey& key : keys)
        used[key] = scheduler_.cores_used(key) - (std::ranges::count(own, key) > 0 ? held : 0);
    // Who asks for no more than it has is not refused, however low the limits have become.
    if (own == keys && static_cast<std::int64_t>(pool.nodes_max) * pool.terms.vcpus <= held) return {};
    const QuotaAsk ask{pool, pool.nodes_max, "properties.properties.scaleSettings.maxNodeCount",
                       "max_instances"};
    LAVANT_TRY(const QuotaKey* short_now, check_limits(scheduler_.quotas(), used, ask, keys));
    if (short_now == nullptr) return {};
    const std::int64_t left = scheduler_.quotas().limit(*short_now) - used[*short_now];
    const std::int64_t most = std::max<std::int64_t>(0, left) / pool.terms.vcpus;
    const std::string remedy =
        most == 0 ? "delete a compute or make one smaller"
                  : "set max_instances to at most " + std::to_string(most) + ", delete a compute";
    return fail(
        ErrorCode::Conflict,
        "of the quota of " + in_words(*short_now) + ", " + std::to_string(std::max<std::int64_t>(0, left)) +
            " vCPUs are left (in use: " + holders_of(*short_now) + "), and " +
            std::to_string(pool.nodes_max) + (pool.nodes_max == 1 ? " node" : " nodes") + " of " + pool.size +
            " would hold " + std::to_string(static_cast<std::int64_t>(pool.nodes_max) * pool.terms.vcpus) +
            " whether they run or not: " + remedy + ", or ask for quota with `lavant quota request`");
}

void Plane::apply_one(const SetQuota& event, Instant now, Outcome& out) {
    const Quota& quota = event.quota;
    const std::int64_t used = scheduler_.cores_used(quota.key);
    if (quota.cores < used) {
        out.replies.push_back(
            {event.ticket,
             fail(ErrorCode::Conflict, "the quota of " + in_words(quota.key) + ", cannot be " +
                                           std::to_string(quota.cores) + ": " + std::to_string(used) +
                                           " vCPUs are in use (" + holders_of(quota.key) + ")")});
        return;
    }
    quotas_[{quota.key, quota.level}] = quota;
    scheduler_.set_quota(quota);
    out.writes.quotas.push_back(quota);
    out.writes.events.push_back({.sequence = ++last_event_,
                                 .at = now,
                                 .workspace = "",
                                 .kind = "quota",
                                 .subject = in_words(quota.key),
                                 .job = {},
                                 .what = "Set",
                                 .detail = cores_in_words(quota.cores) + " by " + event.who});
    out.replies.push_back({event.ticket, Answer{}});
}

// --- computes ---

void Plane::record_compute(const Pool& pool, std::string what, std::string detail, Instant now,
                           Outcome& out) {
    out.writes.events.push_back({.sequence = ++last_event_,
                                 .at = now,
                                 .workspace = pool.workspace,
                                 .kind = "compute",
                                 .subject = pool.terms.compute,
                                 .job = {},
                                 .what = std::move(what),
                                 .detail = std::move(detail)});
}

Result<void> Plane::check_compute(const PutCompute& event, const Pool& wanted) const {
    const auto found = pool_keys_.find(key_of(wanted.workspace, wanted.terms.compute));
    const std::string& name = wanted.terms.compute;
    if (event.is_new && found != pool_keys_.end())
        return fail(ErrorCode::AlreadyExists,
                    "there is a compute '" + name + "' already; choose another name, or update that one");
    if (!event.is_new && found == pool_keys_.end())
        return fail(ErrorCode::NotFound, "there is no compute '" + name + "'");
    if (wanted.nodes_min < 0 || wanted.nodes_max < wanted.nodes_min)
        return fail(ErrorCode::InvalidArgument, "min_instances must not be above max_instances");
    // A compute keeps the id that it was made with, whatever the workspace is called now.
    const std::string& arm_id =
        found == pool_keys_.end() ? wanted.terms.arm_id : pools_.at(found->second).row.terms.arm_id;
    for (const auto& [key, lock] : locks_)
        if (lock.level == LockLevel::ReadOnly &&
            (covers(lock.scope, arm_id) || covers(lock.scope, wanted.terms.subnet)))
            return fail(ErrorCode::Conflict, "compute '" + name + "' cannot be " +
                                                 (event.is_new ? "made" : "changed") + ": " + describe(lock) +
                                                 " forbids it");
    const Pool* before = found == pool_keys_.end() ? nullptr : &pools_.at(found->second).row;
    if (before != nullptr) {
        if (wanted.version > 0 && wanted.version != before->version)
            return fail(ErrorCode::Conflict, "compute '" + name +
                                                 "' was changed by somebody else meanwhile; look at it, and "
                                                 "change it again");
        if (const std::string differs = fixed_that_differs(*before, wanted); !differs.empty())
            return fail(ErrorCode::InvalidArgument, "compute '" + name + "': " + differs +
                                                        "; delete it and make it anew, or make another one");
        for (const schedule::Ask* ask : scheduler_.queue(before->id).first(kLookedAt))
            if (ask->instances > wanted.nodes_max)
                return fail(ErrorCode::Conflict, "job '" + jobs_.at(ask->job).head.name + "' waits for " +
                                                     std::to_string(ask->instances) + " nodes of '" + name +
                                                     "': cancel it first, or leave it as many");
    }
    if (wanted.nodes_max == 0) return {};
    return check_compute_quota(wanted, before);
}

void Plane::apply_one(const PutCompute& event, Instant now, Outcome& out) {
    Pool wanted = event.pool.value_or(Pool{});
    wanted.workspace = event.asset.key.workspace;
    wanted.terms.compute = event.asset.key.name;
    wanted.key = "compute/" + wanted.terms.compute;
    if (auto checked = check_compute(event, wanted); !checked) {
        out.replies.push_back({event.ticket, fail(checked.error())});
        return;
    }
    const std::string key = key_of(wanted.workspace, wanted.terms.compute);
    const PoolId id = event.is_new ? PoolId{++last_pool_} : pool_keys_.at(key);
    LivePool& pool = pools_[id];
    wanted.id = id;
    wanted.version = pool.row.version;
    if (!event.is_new) wanted.terms.arm_id = pool.row.terms.arm_id;
    wanted.leaving = false;
    const bool resized =
        wanted.nodes_min != pool.row.nodes_min || wanted.nodes_max != pool.row.nodes_max || event.is_new;
    pool.row = wanted;
    pool_keys_[key] = id;
    changed_pools_.insert(id);
    scheduler_.put_pool(wanted);
    scheduler_.set_locked(id, lock_over(wanted) != nullptr);
    for (auto& [node_id, node] : nodes_)
        if (node.row.pool == id && node.row.state == NodeState::Idle) set_due(node, due_of(node));
    out.writes.assets.push_back({.asset = event.asset, .expected = std::nullopt, .remove = false});
    if (resized)
        record_compute(wanted, event.is_new ? "Created" : "Resized",
                       std::to_string(wanted.nodes_min) + " to " + std::to_string(wanted.nodes_max) +
                           " nodes of " + wanted.size + " by " + event.who,
                       now, out);
    Answer answer{.existed = !event.is_new};
    if (const Lock* lock = lock_over(wanted); lock != nullptr && wanted.nodes_max > 0)
        answer.warnings.push_back(describe(*lock) + " keeps compute '" + wanted.terms.compute +
                                  "' from scaling: remove it, and lock single items instead");
    out.replies.push_back({event.ticket, std::move(answer)});
}

void Plane::apply_one(const DeleteCompute& event, Instant now, Outcome& out) {
    const auto refuse = [&](ErrorCode code, const std::string& message) {
        out.replies.push_back({event.ticket, fail(code, message)});
    };
    const auto found = pool_keys_.find(key_of(event.workspace, event.name));
    if (found == pool_keys_.end())
        return refuse(ErrorCode::NotFound, "there is no compute '" + event.name + "'");
    const PoolId id = found->second;
    LivePool& pool = pools_.at(id);
    if (const Lock* lock = lock_over(pool.row))
        return refuse(ErrorCode::Conflict, "compute '" + event.name + "' cannot be deleted: " +
                                               describe(*lock) + "; remove the lock first");
    if (pool.jobs > 0) {
        std::string names;
        std::size_t named = 0;
        for (const auto& [job_id, job] : jobs_) {
            if (job.head.pool != id || named == kNamed) continue;
            names += (named++ == 0 ? "" : ", ") + job.head.name;
        }
        return refuse(ErrorCode::Conflict,
                      "compute '" + event.name + "' is in use by " + std::to_string(pool.jobs) +
                          (pool.jobs == 1 ? " job (" : " jobs (") + names +
                          (pool.jobs > static_cast<std::int64_t>(kNamed) ? ", ..." : "") +
                          "): cancel them or wait for their end, then delete it");
    }
    record_compute(pool.row, "Deleted", "by " + event.who, now, out);
    pool_keys_.erase(found);
    pool.row.leaving = true;
    pool.row.nodes_min = pool.row.nodes_max = 0;
    changed_pools_.insert(id);
    scheduler_.put_pool(pool.row);
    emptied_pools_.insert(id);
    out.writes.assets.push_back({.asset = {.key = {event.workspace, "computes", event.name, ""}},
                                 .expected = std::nullopt,
                                 .remove = true});
    out.replies.push_back({event.ticket, Answer{}});
}

// Serverless pools vanish with their last node, deleted computes likewise.
void Plane::remove_pool_if_unused(PoolId id, Outcome& out) {
    const auto found = pools_.find(id);
    if (found == pools_.end()) return;
    LivePool& pool = found->second;
    if (!pool.row.is_serverless() && !pool.row.leaving) return;
    if (pool.jobs > 0 || scheduler_.view(id).nodes > 0) return;
    // One that was never stored is, for an instant: its number is not given out again.
    if (pool.row.version == 0) {
        pool.row.version = 1;
        out.writes.pools.push_back(pool.row);
    }
    out.writes.pools_removed.push_back(id);
    if (!pool.row.leaving) pool_keys_.erase(index_of(pool.row));
    scheduler_.remove_pool(id);
    blocked_.erase(id);
    changed_pools_.erase(id);
    pools_.erase(found);
}

void Plane::apply_one(const EvictNode& event, Instant now, Outcome& out) {
    LiveNode* chosen = nullptr;
    for (auto& [id, node] : nodes_) {
        const Pool& pool = pools_.at(node.row.pool).row;
        const std::string compute = pool.is_serverless() ? "serverless" : pool.terms.compute;
        const bool here = node.row.state == NodeState::Idle || node.row.state == NodeState::Busy;
        if (!here || pool.workspace != event.workspace || compute != event.compute) continue;
        if (event.node && event.node != id) continue;
        if (chosen == nullptr || (chosen->tasks.empty() && !node.tasks.empty())) chosen = &node;
    }
    if (chosen == nullptr) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::NotFound, "'" + event.compute + "' has no " +
                                                         (event.node ? to_string(event.node) : "node") +
                                                         " that could be evicted; see `lavant compute "
                                                         "list-nodes " +
                                                         event.compute + "`")});
        return;
    }
    out.replies.push_back({event.ticket, Answer{.node = chosen->row.id}});
    evict_node(*chosen, "evicted by " + event.who, now, out);
}

}  // namespace lavant::plane
