#include "tests/support/random_batches.h"

#include <array>
#include <string>

#include "tests/support/builders.h"

namespace lavant::test {

std::string RandomBatches::text() {
    static const std::array<std::string, 8> kTexts = {
        "",
        "plain",
        "two words",
        "it's \"quoted\"; DROP TABLE job; --",
        std::string("with\0zero", 9),
        "\xff\xfe not utf-8 \x80",
        "caf\xc3\xa9 \xf0\x9f\x8c\xa7",
        std::string(9'000, 'x'),
    };
    return kTexts[static_cast<std::size_t>(number(0, 7))];
}

std::optional<Instant> RandomBatches::maybe_instant() {
    if (chance(50)) return std::nullopt;
    return from_micros(number(-5, 2'000'000'000'000'000));
}

JobMeta RandomBatches::meta() {
    JobMeta made;
    made.display_name = text();
    made.description = text();
    made.archived = chance(20);
    while (chance(40)) made.tags["key" + std::to_string(number(0, 3))] = chance(50) ? text() : "value";
    return made;
}

JobError RandomBatches::error() {
    JobError made;
    made.code = "UserError";
    made.message = text();
    made.exit_code = static_cast<int>(number(0, 255));
    made.signal = static_cast<int>(number(0, 15));
    made.node = "node-1";
    made.traceback_line = text();
    return made;
}

TaskEnd RandomBatches::end() {
    TaskEnd made;
    made.reason = static_cast<EndReason>(number(0, 8));
    made.exit_code = static_cast<int>(number(0, 255));
    made.message = text();
    made.has_outputs = chance(50);
    made.usage = {number(0, 1'000'000), number(0, 1'000'000), number(0, 1'000'000)};
    return made;
}

Demand RandomBatches::demand() {
    return {.user = text(),
            .processes = static_cast<int>(number(1, 8)),
            .bound = Duration{number(0, 1LL << 40)},
            .task = resources(),
            .grace = Duration{number(0, 60'000'000)}};
}

PoolTerms RandomBatches::terms() {
    return {.compute = text(),
            .arm_id = text(),
            .subnet = text(),
            .location = text(),
            .family = text(),
            .tier = chance(50) ? Tier::Dedicated : Tier::LowPriority,
            .vcpus = static_cast<int>(number(0, 96)),
            .node_limit = resources(),
            .packed = chance(50),
            .price = number(0, 1LL << 40)};
}

void RandomBatches::add_job(WriteBatch& batch) {
    Job job = a_job(++last_job_);
    if (chance(20)) job.head.name += text();
    if (chance(10)) job.head.workspace = "other";
    if (chance(50)) job.head.retry = {};
    if (chance(50)) job.head.demand = chance(50) ? Demand{} : demand();
    job.head.instances = static_cast<int>(number(1, 3));
    job.head.warning = text();
    job.meta = meta();
    job.body.created_by = "user-" + std::to_string(number(0, 2));
    job.body.experiment = "experiment-" + std::to_string(number(0, 2));
    job.body.properties = text();
    job.body.launch = text();
    jobs_.push_back(job.head);
    batch.jobs_added.push_back(std::move(job));
}

void RandomBatches::change_job(WriteBatch& batch) {
    if (jobs_.empty()) return;
    JobHead& head = jobs_[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(jobs_.size()) - 1))];
    ++head.version;
    head.status = static_cast<JobStatus>(number(0, 7));
    head.attempt += chance(20) ? 1 : 0;
    head.retries_used += chance(20) ? 1 : 0;
    head.priority = static_cast<int>(number(-3, 3));
    head.started_at = maybe_instant();
    head.ended_at = maybe_instant();
    head.cancel_requested_at = maybe_instant();
    head.canceled_by = text();
    head.error.reset();
    if (chance(30)) head.error = chance(20) ? JobError{} : error();
    head.usage = {number(0, 1'000'000), number(0, 1LL << 40), number(0, 1'000'000)};
    head.warning = text();
    head.preemptions = static_cast<int>(number(0, 3));
    head.port = static_cast<int>(number(0, 65'535));
    head.queue_warning = text();
    batch.jobs_changed.push_back(head);
    if (chance(30))
        batch.metas_changed.push_back({head.id, meta(), chance(50) ? std::optional(text()) : std::nullopt});
    if (chance(60)) {
        const Task task = a_task(head.id.value, head.attempt, static_cast<int>(number(0, 2)));
        for (const Task& known : tasks_)
            if (known.ref == task.ref) return;
        tasks_.push_back(task);
        batch.tasks.push_back(task);
    }
}

void RandomBatches::remove_job(WriteBatch& batch) {
    if (jobs_.empty()) return;
    const auto at = jobs_.begin() + number(0, static_cast<std::int64_t>(jobs_.size()) - 1);
    const JobId id = at->id;
    batch.jobs_removed.push_back({id, at->version});
    jobs_.erase(at);
    std::erase_if(tasks_, [id](const Task& task) { return task.ref.job == id; });
}

void RandomBatches::change_task(WriteBatch& batch) {
    if (tasks_.empty()) return;
    Task& task = tasks_[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(tasks_.size()) - 1))];
    ++task.version;
    task.node = NodeId{number(1, 5)};
    task.phase = static_cast<TaskPhase>(number(0, 5));
    task.end = chance(50) ? end() : TaskEnd{};
    task.assigned_at = maybe_instant().value_or(Instant{});
    task.gpus = text();
    batch.tasks.push_back(task);
}

void RandomBatches::change_node(WriteBatch& batch) {
    if (nodes_.empty() || chance(30)) {
        nodes_.push_back(a_node(++last_node_));
        batch.nodes.push_back(nodes_.back());
        return;
    }
    Node& node = nodes_[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(nodes_.size()) - 1))];
    ++node.version;
    node.state = static_cast<NodeState>(number(0, 7));
    node.enrolled = chance(50);
    node.idle_since = maybe_instant();
    node.boot = text();
    node.cost = {number(0, 9'000), number(0, 1LL << 40), static_cast<int>(number(0, 8))};
    node.reason = text();
    node.gpus = text();
    batch.nodes.push_back(node);
}

void RandomBatches::change_pool(WriteBatch& batch) {
    if (pools_.empty() || chance(10)) {
        pools_.push_back(a_pool(++last_pool_));
        batch.pools.push_back(pools_.back());
        return;
    }
    Pool& pool = pools_[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(pools_.size()) - 1))];
    ++pool.version;
    pool.nodes_max = static_cast<int>(number(0, 50));
    pool.node_resources.cpu_millis = number(0, 96'000);
    pool.key = text();
    pool.leaving = chance(50);
    if (chance(50)) pool.terms = chance(30) ? PoolTerms{} : terms();
    batch.pools.push_back(pool);
}

void RandomBatches::remove_node(WriteBatch& batch) {
    batch.nodes_removed.push_back(NodeId{last_node_ + 7});  // one that is not there
    if (nodes_.empty()) return;
    const auto at = nodes_.begin() + number(0, static_cast<std::int64_t>(nodes_.size()) - 1);
    batch.nodes_removed.push_back(at->id);
    nodes_.erase(at);
}

void RandomBatches::remove_pool(WriteBatch& batch) {
    if (pools_.empty()) return;
    const auto at = pools_.begin() + number(0, static_cast<std::int64_t>(pools_.size()) - 1);
    batch.pools_removed.push_back(at->id);
    pools_.erase(at);
}

void RandomBatches::change_quota(WriteBatch& batch) {
    batch.quotas.push_back({.key = {.location = chance(50) ? "local" : "far",
                                    .family = chance(30) ? "" : "family-" + std::to_string(number(0, 2)),
                                    .tier = chance(50) ? Tier::Dedicated : Tier::LowPriority},
                            .level = chance(50) ? QuotaLevel::Subscription : QuotaLevel::Workspace,
                            .cores = number(0, 1'000)});
}

void RandomBatches::change_lock(WriteBatch& batch) {
    Lock lock = a_lock("/scope/" + std::to_string(number(0, 2)), "name-" + std::to_string(number(0, 2)));
    lock.level = chance(50) ? LockLevel::CanNotDelete : LockLevel::ReadOnly;
    lock.notes = text();
    batch.locks.push_back({std::move(lock), chance(30)});
}

void RandomBatches::add_usage(WriteBatch& batch) {
    UsageEntry entry = a_usage(chance(20) ? text() : "user-" + std::to_string(number(0, 2)),
                               "job-" + std::to_string(number(0, 4)), number(0, 20));
    entry.kind = chance(70) ? UsageKind::Task : UsageKind::Node;
    entry.compute = chance(50) ? "serverless" : "cluster";
    entry.ended_at = from_micros(number(0, 100));
    if (chance(10)) entry.workspace = "other";
    batch.usage.push_back(std::move(entry));
}

void RandomBatches::change_outbox(WriteBatch& batch) {
    if (outbox_.empty() || chance(50)) {
        const std::int64_t id = ++last_outbox_;
        const std::array<Effect, 7> effects = {
            an_effect(id).effect,
            StopNode{NodeId{number(1, 9)}},
            PublishOutputs{JobId{number(1, 9)}, "w", text(), 3, chance(50), chance(50)},
            DropStaged{JobId{number(1, 9)}, 2, text()},
            DropJobFiles{JobId{number(1, 9)}, "w", text()},
            NotifyOfJob{JobId{number(1, 9)}, "w", text(), text(), text(), text(), 7, 8},
            DropContainers{"w", {text(), text()}}};
        batch.outbox_added.push_back({id, effects[static_cast<std::size_t>(number(0, 6))]});
        outbox_.push_back(id);
        return;
    }
    const auto at = number(0, static_cast<std::int64_t>(outbox_.size()) - 1);
    batch.outbox_removed.push_back(outbox_[static_cast<std::size_t>(at)]);
    if (chance(90)) outbox_.erase(outbox_.begin() + at);  // now and then one is removed twice
}

void RandomBatches::change_asset(WriteBatch& batch) {
    AssetWrite write;
    write.asset = an_asset(chance(50) ? "codes" : "data", "name-" + std::to_string(number(0, 2)),
                           chance(30) ? "" : std::to_string(number(1, 3)));
    write.asset.body = text();
    write.asset.hash = chance(50) ? "" : "hash-" + std::to_string(number(0, 3));
    write.asset.archived = chance(20);
    write.asset.created_at = from_micros(number(0, 4));
    write.remove = chance(15);
    if (chance(70)) write.expected = number(0, 3);
    batch.assets.push_back(write);
}

void RandomBatches::add_event(WriteBatch& batch) {
    HistoryEvent event = an_event(++last_event_, chance(70) && last_job_ > 0 ? number(1, last_job_) : 0);
    event.detail = text();
    batch.events.push_back(event);
}

WriteBatch RandomBatches::next() {
    WriteBatch batch;
    for (std::int64_t i = number(0, 3); i > 0; --i) add_job(batch);
    for (std::int64_t i = number(0, 3); i > 0; --i) change_job(batch);
    for (std::int64_t i = number(0, 2); i > 0; --i) change_task(batch);
    for (std::int64_t i = number(0, 2); i > 0; --i) change_node(batch);
    if (chance(30)) change_pool(batch);
    if (chance(20)) remove_node(batch);
    if (chance(5)) remove_pool(batch);
    if (chance(30)) change_quota(batch);
    if (chance(30)) change_lock(batch);
    for (std::int64_t i = number(0, 2); i > 0; --i) add_usage(batch);
    for (std::int64_t i = number(0, 2); i > 0; --i) change_outbox(batch);
    for (std::int64_t i = number(0, 2); i > 0; --i) change_asset(batch);
    for (std::int64_t i = number(0, 3); i > 0; --i) add_event(batch);
    if (chance(20)) remove_job(batch);
    return batch;
}

WriteBatch RandomBatches::next_refused() {
    RandomBatches copy = *this;
    WriteBatch batch = copy.next();
    const auto pick = [this](const auto& rows) {
        return rows[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(rows.size()) - 1))];
    };
    switch (number(0, 4)) {
        case 0:
            if (jobs_.empty()) break;
            batch.jobs_changed.push_back(pick(jobs_));  // a version that is there already
            return batch;
        case 1:
            if (tasks_.empty()) break;
            batch.tasks.push_back(pick(tasks_));
            batch.tasks.back().version += 20;
            return batch;
        case 2:
            if (nodes_.empty()) break;
            batch.nodes.push_back(a_node(pick(nodes_).id.value));  // added a second time
            return batch;
        case 3:
            if (last_event_ == 0) break;
            batch.events.push_back(an_event(last_event_));
            return batch;
        default:
            break;
    }
    batch.metas_changed.push_back({JobId{copy.last_job_ + 1'000}, {}});
    return batch;
}

}  // namespace lavant::test
