#include "adapters/memory/memory_store.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace lavant::adapters {
namespace {

constexpr std::size_t kTidiedAtOnce = 1'000;

// Remembers the versions a batch has given rows so far, so that a row may change twice in one batch.
template <class Key>
class Guard {
 public:
    // `stored` is null where no row is.
    bool admits(const Key& key, std::int64_t version, const std::int64_t* stored) {
        const auto pending = pending_.find(key);
        const std::int64_t before =
            pending != pending_.end() ? pending->second : (stored != nullptr ? *stored : 0);
        if (before != version - 1) return false;
        pending_[key] = version;
        return true;
    }
    bool adds(const Key& key, std::int64_t version, bool exists) {
        if (exists || pending_.contains(key)) return false;
        pending_[key] = version;
        return true;
    }
    bool knows(const Key& key) const { return pending_.contains(key); }

 private:
    std::map<Key, std::int64_t> pending_;
};

tl::unexpected<Error> conflict(std::string_view row) {
    return fail(ErrorCode::Conflict, "cannot commit: " + std::string(row) +
                                         " is not as the batch expects; load the live rows again");
}

template <class Rows, class Key>
const std::int64_t* version_in(const Rows& rows, const Key& key) {
    const auto found = rows.find(key);
    return found == rows.end() ? nullptr : &found->second.version;
}

void raise(std::int64_t& counter, std::int64_t value) { counter = std::max(counter, value); }

bool has_tag(const JobMeta& meta, const std::string& tag) {
    const std::size_t equals = tag.find('=');
    const auto found = meta.tags.find(tag.substr(0, equals));
    if (found == meta.tags.end()) return false;
    return equals == std::string::npos || found->second == tag.substr(equals + 1);
}

bool matches(const ports::JobQuery& query, const Job& job) {
    return job.head.workspace == query.workspace &&
           (!query.archived || job.meta.archived == *query.archived) &&
           (query.status.empty() || name_of(job.head.status) == query.status) &&
           (query.experiment.empty() || job.body.experiment == query.experiment) &&
           job.head.name.starts_with(query.name_prefix) &&
           (query.created_by.empty() || job.body.created_by == query.created_by) &&
           (query.kind.empty() || job.body.kind == query.kind) &&
           (query.tag.empty() || has_tag(job.meta, query.tag));
}

bool matches(const ports::AssetQuery& query, const Asset& asset) {
    const bool wants_unversioned = query.containers || query.unversioned;
    return asset.key.workspace == query.workspace && asset.key.kind == query.kind &&
           (query.name.empty() || asset.key.name == query.name) &&
           asset.key.version.empty() == wants_unversioned &&
           (!query.archived || asset.archived == *query.archived);
}

std::size_t clamped(int limit) {
    return static_cast<std::size_t>(std::clamp(limit, 0, ports::kRowsPerQuery));
}

}  // namespace

void MemoryStore::fail_next_commit(CommitFault fault) {
    const std::lock_guard lock(mutex_);
    faults_.push_back(fault);
}

void MemoryStore::fail_next_reads(int count) {
    const std::lock_guard lock(mutex_);
    bad_reads_ = count;
}

Result<void> MemoryStore::check_readable() {
    if (bad_reads_ == 0) return {};
    --bad_reads_;
    return fail(ErrorCode::Unavailable, "cannot read the rows now; try again");
}

Result<LiveRows> MemoryStore::load_live() {
    const std::lock_guard lock(mutex_);
    LAVANT_TRY_VOID(check_readable());
    LiveRows rows = counters_;
    for (const JobId id : live_) {
        const JobHead& head = jobs_.at(id).head;
        rows.jobs.push_back(head);
        const auto first = tasks_.lower_bound({id, head.attempt, 0});
        for (auto task = first; task != tasks_.end(); ++task) {
            if (task->first.job != id || task->first.attempt != head.attempt) break;
            rows.tasks.push_back(task->second);
        }
    }
    for (const auto& [id, node] : nodes_)
        if (!is_gone(node.state)) rows.nodes.push_back(node);
    for (const auto& [id, pool] : pools_) rows.pools.push_back(pool);
    for (const auto& [key, quota] : quotas_) rows.quotas.push_back(quota);
    for (const auto& [key, held] : locks_) rows.locks.push_back(held);
    for (const auto& [id, entry] : outbox_) rows.outbox.push_back(entry);
    return rows;
}

Result<std::vector<bool>> MemoryStore::commit(const WriteBatch& batch) {
    const std::lock_guard lock(mutex_);
    std::optional<CommitFault> fault;
    if (!faults_.empty()) {
        fault = faults_.front();
        faults_.erase(faults_.begin());
    }
    const auto unknown =
        fail(ErrorCode::Unavailable, "cannot commit: the outcome is unknown; load the live rows again");
    if (fault == CommitFault::Refuse) return unknown;
    if (auto checked = check(batch); !checked) return fault ? unknown : fail(std::move(checked).error());
    std::vector<bool> flags = apply(batch);
    if (fault) return unknown;
    return flags;
}

Result<void> MemoryStore::check(const WriteBatch& batch) const {
    LAVANT_TRY_VOID(check_jobs(batch));
    Guard<TaskRef> tasks;
    for (const Task& task : batch.tasks)
        if (!knows_job(batch, task.ref.job) ||
            !tasks.admits(task.ref, task.version, version_in(tasks_, task.ref)))
            return conflict("a task of job " + std::to_string(task.ref.job.value));
    Guard<NodeId> nodes;
    for (const Node& node : batch.nodes)
        if (!nodes.admits(node.id, node.version, version_in(nodes_, node.id)))
            return conflict(to_string(node.id));
    Guard<PoolId> pools;
    for (const Pool& pool : batch.pools)
        if (!pools.admits(pool.id, pool.version, version_in(pools_, pool.id)))
            return conflict("pool " + std::to_string(pool.id.value));
    return check_numbers(batch);
}

bool MemoryStore::knows_job(const WriteBatch& batch, JobId job) const {
    return jobs_.contains(job) ||
           std::ranges::any_of(batch.jobs_added, [job](const Job& added) { return added.head.id == job; });
}

Result<void> MemoryStore::check_jobs(const WriteBatch& batch) const {
    Guard<JobId> jobs;
    Guard<Name> names;
    for (const Job& job : batch.jobs_added) {
        const Name name{job.head.workspace, job.head.name};
        if (!names.adds(name, 1, names_.contains(name)) ||
            !jobs.adds(job.head.id, job.head.version, jobs_.contains(job.head.id)))
            return conflict("job '" + job.head.name + "'");
    }
    for (const JobHead& head : batch.jobs_changed) {
        const auto found = jobs_.find(head.id);
        const bool known = found != jobs_.end() || jobs.knows(head.id);
        const std::int64_t* stored = found == jobs_.end() ? nullptr : &found->second.head.version;
        if (!known || !jobs.admits(head.id, head.version, stored)) return conflict("job '" + head.name + "'");
    }
    for (const JobMetaWrite& write : batch.metas_changed)
        if (!jobs_.contains(write.job) && !jobs.knows(write.job))
            return conflict("job " + std::to_string(write.job.value));
    for (const JobRemoval& removal : batch.jobs_removed) {
        const auto found = jobs_.find(removal.job);
        const bool known = found != jobs_.end() || jobs.knows(removal.job);
        const std::int64_t* stored = found == jobs_.end() ? nullptr : &found->second.head.version;
        if (!known || !jobs.admits(removal.job, removal.version + 1, stored))
            return conflict("job " + std::to_string(removal.job.value));
    }
    return {};
}

Result<void> MemoryStore::check_numbers(const WriteBatch& batch) const {
    Guard<std::int64_t> events;
    for (const HistoryEvent& event : batch.events)
        if (!events.adds(event.sequence, 1, events_.contains(event.sequence)))
            return conflict("event " + std::to_string(event.sequence));
    Guard<std::int64_t> outbox;
    for (const OutboxEntry& entry : batch.outbox_added)
        if (!outbox.adds(entry.id, 1, outbox_.contains(entry.id)))
            return conflict("outbox entry " + std::to_string(entry.id));
    return {};
}

void MemoryStore::apply_compute(const WriteBatch& batch) {
    for (const Quota& quota : batch.quotas) quotas_[{quota.key, quota.level}] = quota;
    for (const LockWrite& write : batch.locks) {
        const Name key{write.lock.scope, write.lock.name};
        if (write.remove)
            locks_.erase(key);
        else
            locks_[key] = write.lock;
    }
    usage_.insert(usage_.end(), batch.usage.begin(), batch.usage.end());
    for (const NodeId id : batch.nodes_removed) nodes_.erase(id);
    for (const PoolId id : batch.pools_removed) pools_.erase(id);
}

void MemoryStore::remove_workspace(const std::string& workspace) {
    std::vector<JobId> jobs;
    for (const auto& [id, job] : jobs_)
        if (job.head.workspace == workspace) jobs.push_back(id);
    for (const JobId id : jobs) remove_job(id);
    std::erase_if(assets_, [&](const auto& row) { return row.first.workspace == workspace; });
}

std::vector<bool> MemoryStore::apply(const WriteBatch& batch) {
    for (const std::string& workspace : batch.workspaces_removed) remove_workspace(workspace);
    apply_jobs(batch);
    for (const LineageEdge& edge : batch.lineage)
        lineage_[{edge.job, edge.role, edge.port, edge.kind}] = edge;
    for (const Task& task : batch.tasks) tasks_[task.ref] = task;
    for (const Node& node : batch.nodes) {
        nodes_[node.id] = node;
        raise(counters_.last_node, node.id.value);
    }
    for (const Pool& pool : batch.pools) {
        pools_[pool.id] = pool;
        raise(counters_.last_pool, pool.id.value);
    }
    apply_compute(batch);
    for (const HistoryEvent& event : batch.events) {
        events_[event.sequence] = event;
        if (event.job) job_events_[event.job].insert(event.sequence);
        raise(counters_.last_event, event.sequence);
    }
    for (const OutboxEntry& entry : batch.outbox_added) {
        outbox_[entry.id] = entry;
        raise(counters_.last_outbox, entry.id);
    }
    for (const std::int64_t id : batch.outbox_removed) outbox_.erase(id);
    std::vector<bool> flags;
    flags.reserve(batch.assets.size());
    for (const AssetWrite& write : batch.assets) flags.push_back(apply_asset(write));
    for (const JobRemoval& removal : batch.jobs_removed) remove_job(removal.job);
    return flags;
}

void MemoryStore::remove_job(JobId id) {
    const auto found = jobs_.find(id);
    names_.erase({found->second.head.workspace, found->second.head.name});
    live_.erase(id);
    const auto past = tasks_.lower_bound({JobId{id.value + 1}, 0, 0});
    tasks_.erase(tasks_.lower_bound({id, 0, 0}), past);
    std::erase_if(lineage_, [&](const auto& row) { return row.second.job == id; });
    jobs_.erase(found);
}

void MemoryStore::apply_jobs(const WriteBatch& batch) {
    const auto settle = [this](const JobHead& head) {
        if (is_terminal(head.status)) {
            live_.erase(head.id);
        } else {
            live_.insert(head.id);
        }
    };
    for (const Job& job : batch.jobs_added) {
        jobs_[job.head.id] = job;
        names_[{job.head.workspace, job.head.name}] = job.head.id;
        raise(counters_.last_job, job.head.id.value);
        settle(job.head);
    }
    for (const JobHead& head : batch.jobs_changed) {
        JobHead& stored = jobs_[head.id].head;
        CHECK(stored.workspace == head.workspace && stored.name == head.name &&
                  stored.instances == head.instances && stored.retry == head.retry &&
                  stored.submitted_at == head.submitted_at && stored.demand == head.demand,
              "a job keeps its name, its instances, its retry policy, its demand and the instant it was "
              "submitted");
        stored = head;
        settle(head);
    }
    for (const JobMetaWrite& write : batch.metas_changed) {
        Job& job = jobs_[write.job];
        job.meta = write.meta;
        job.body.properties = write.properties.value_or(job.body.properties);
    }
}

bool MemoryStore::apply_asset(const AssetWrite& write) {
    const auto found = assets_.find(write.asset.key);
    const std::int64_t stored = found == assets_.end() ? 0 : found->second.asset.row_version;
    if (write.expected && *write.expected != stored) return false;
    if (write.remove) {
        if (found != assets_.end()) assets_.erase(found);
        return true;
    }
    StoredAsset& row = assets_[write.asset.key];
    if (stored == 0) row.order = ++last_asset_order_;
    row.asset = write.asset;
    row.asset.row_version = stored + 1;
    return true;
}

Result<std::optional<Job>> MemoryStore::find_job(const std::string& workspace, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find({workspace, name});
    if (found == names_.end()) return std::nullopt;
    return jobs_.at(found->second);
}

Result<std::string> MemoryStore::load_launch(JobId job) {
    const std::lock_guard lock(mutex_);
    LAVANT_TRY_VOID(check_readable());
    const auto found = jobs_.find(job);
    if (found == jobs_.end())
        return fail(ErrorCode::NotFound,
                    "cannot load the launch of job " + std::to_string(job.value) + ": no such job");
    return found->second.body.launch;
}

Result<bool> MemoryStore::tidy(std::int64_t events_kept) {
    const std::lock_guard lock(mutex_);
    const std::int64_t last_removed = counters_.last_event - events_kept;
    for (std::size_t removed = 0; !events_.empty() && events_.begin()->first <= last_removed; ++removed) {
        if (removed == kTidiedAtOnce) return true;
        const auto oldest = events_.begin();
        if (const auto of_job = job_events_.find(oldest->second.job); of_job != job_events_.end()) {
            of_job->second.erase(oldest->first);
            if (of_job->second.empty()) job_events_.erase(of_job);
        }
        events_.erase(oldest);
    }
    return false;
}

Result<std::vector<Job>> MemoryStore::list_jobs(const ports::JobQuery& query) {
    const std::lock_guard lock(mutex_);
    std::vector<Job> jobs;
    const std::size_t limit = clamped(query.limit);
    auto next = query.before_id > 0 ? jobs_.lower_bound(JobId{query.before_id}) : jobs_.end();
    while (next != jobs_.begin() && jobs.size() < limit) {
        --next;
        if (matches(query, next->second)) jobs.push_back(next->second);
    }
    return jobs;
}

Result<std::vector<Task>> MemoryStore::list_tasks(JobId job) {
    const std::lock_guard lock(mutex_);
    std::vector<Task> tasks;
    for (auto next = tasks_.lower_bound({job, 0, 0}); next != tasks_.end() && next->first.job == job; ++next)
        tasks.push_back(next->second);
    return tasks;
}

Result<std::vector<HistoryEvent>> MemoryStore::list_job_events(JobId job) {
    const std::lock_guard lock(mutex_);
    std::vector<HistoryEvent> events;
    const auto found = job_events_.find(job);
    if (found == job_events_.end()) return events;
    for (const std::int64_t sequence : found->second) events.push_back(events_.at(sequence));
    return events;
}

Result<std::vector<HistoryEvent>> MemoryStore::list_events(std::int64_t after_sequence, int limit) {
    const std::lock_guard lock(mutex_);
    std::vector<HistoryEvent> events;
    for (auto next = events_.upper_bound(after_sequence);
         next != events_.end() && events.size() < clamped(limit); ++next)
        events.push_back(next->second);
    return events;
}

Result<std::vector<Node>> MemoryStore::list_nodes() {
    const std::lock_guard lock(mutex_);
    std::vector<Node> nodes;
    for (const auto& [id, node] : nodes_)
        if (!is_gone(node.state)) nodes.push_back(node);
    return nodes;
}

Result<std::vector<Quota>> MemoryStore::list_quotas() {
    const std::lock_guard lock(mutex_);
    std::vector<Quota> quotas;
    for (const auto& [key, quota] : quotas_) quotas.push_back(quota);
    return quotas;
}

Result<std::vector<Lock>> MemoryStore::list_locks() {
    const std::lock_guard lock(mutex_);
    std::vector<Lock> locks;
    for (const auto& [key, one] : locks_) locks.push_back(one);
    return locks;
}

Result<std::vector<LineageEdge>> MemoryStore::list_lineage(const ports::LineageQuery& query) {
    const std::lock_guard lock(mutex_);
    std::vector<LineageEdge> edges;
    for (const auto& [key, edge] : lineage_) {
        const bool asked = query.job.empty() ? edge.kind == query.kind && edge.name == query.name &&
                                                   (query.version.empty() || edge.version == query.version)
                                             : jobs_.at(edge.job).head.name == query.job;
        if (!asked || edge.workspace != query.workspace) continue;
        edges.push_back(edge);
        edges.back().job_name = jobs_.at(edge.job).head.name;
    }
    std::ranges::stable_sort(edges, std::greater{}, &LineageEdge::job);
    if (edges.size() > clamped(query.limit)) edges.resize(clamped(query.limit));
    return edges;
}

Result<std::vector<ports::UsageSum>> MemoryStore::sum_usage(const ports::UsageQuery& query) {
    const std::lock_guard lock(mutex_);
    std::map<std::tuple<std::string, std::string, std::string>, ports::UsageSum> groups;
    for (const UsageEntry& entry : usage_) {
        if (entry.workspace != query.workspace || entry.kind != query.kind || entry.ended_at < query.since ||
            entry.ended_at >= query.until)
            continue;
        const bool by_job = query.by == ports::UsageBy::Job;
        const std::string user = query.by == ports::UsageBy::Compute ? "" : entry.user;
        const std::string job = by_job ? entry.job : "";
        const std::string compute = query.by == ports::UsageBy::User ? "" : entry.compute;
        ports::UsageSum& sum = groups[{user, job, compute}];
        sum.user = user;
        sum.job = job;
        sum.compute = compute;
        ++sum.entries;
        sum.node_micros += entry.node_micros;
        sum.price_micros += entry.price_micros;
    }
    std::vector<ports::UsageSum> sums;
    for (auto& [key, sum] : groups) sums.push_back(std::move(sum));
    std::ranges::stable_sort(sums, std::greater{}, &ports::UsageSum::node_micros);
    const auto limit = static_cast<std::size_t>(std::clamp(query.limit, 0, ports::kRowsPerQuery));
    if (sums.size() > limit) sums.resize(limit);
    return sums;
}

Result<std::vector<Pool>> MemoryStore::list_pools() {
    const std::lock_guard lock(mutex_);
    std::vector<Pool> pools;
    for (const auto& [id, pool] : pools_) pools.push_back(pool);
    return pools;
}

Result<std::optional<Asset>> MemoryStore::find_asset(const AssetKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = assets_.find(key);
    if (found == assets_.end()) return std::nullopt;
    return found->second.asset;
}

Result<std::optional<Asset>> MemoryStore::find_asset_by_hash(const std::string& workspace,
                                                             const std::string& kind,
                                                             const std::string& hash) {
    const std::lock_guard lock(mutex_);
    const StoredAsset* newest = nullptr;
    for (const auto& [key, row] : assets_) {
        if (hash.empty() || key.workspace != workspace || key.kind != kind || row.asset.hash != hash)
            continue;
        if (newest == nullptr ||
            std::pair(newest->asset.created_at, newest->order) < std::pair(row.asset.created_at, row.order))
            newest = &row;
    }
    if (newest == nullptr) return std::nullopt;
    return newest->asset;
}

Result<std::vector<Asset>> MemoryStore::list_assets(const ports::AssetQuery& query) {
    const std::lock_guard lock(mutex_);
    std::vector<const StoredAsset*> rows;
    for (const auto& [key, row] : assets_)
        if (matches(query, row.asset)) rows.push_back(&row);
    std::ranges::sort(rows, [](const StoredAsset* a, const StoredAsset* b) {
        return std::pair(b->asset.created_at, b->order) < std::pair(a->asset.created_at, a->order);
    });
    std::vector<Asset> assets;
    const std::size_t skipped = static_cast<std::size_t>(std::max<std::int64_t>(query.offset, 0));
    for (std::size_t i = skipped; i < rows.size() && assets.size() < clamped(query.limit); ++i)
        assets.push_back(rows[i]->asset);
    return assets;
}

}  // namespace lavant::adapters
