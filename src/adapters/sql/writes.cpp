#include "adapters/sql/writes.h"

#include <string>
#include <string_view>

#include "wire/messages.h"

namespace lavant::sql {
namespace {

// A guarded write that found its row touches exactly one.
Result<void> expect_one(const Result<int>& written, std::string_view what, std::int64_t number) {
    if (!written) return fail(written.error());
    if (*written == 1) return {};
    return fail(ErrorCode::Conflict, "cannot commit: " + std::string(what) + " " + std::to_string(number) +
                                         " is not as the batch expects; load the live rows again");
}

Result<void> write_tags(Database& database, JobId job, const std::map<std::string, std::string>& tags) {
    static constexpr const char* kInsert =
        "INSERT INTO job_tag (job, key, value, workspace) SELECT id, ?, ?, workspace FROM job WHERE id = ?";
    for (const auto& [key, value] : tags) {
        Run run(database.constant(kInsert));
        LAVANT_TRY_VOID(expect_one(run.text(key).text(value).integer(job.value).execute(), "job", job.value));
    }
    return {};
}

Result<void> insert_job(Database& database, const Job& job) {
    static constexpr const char* kInsert =
        "INSERT INTO job (id, version, status, pool, priority, attempt, retries_used, started_at, ended_at,"
        " cancel_requested_at, canceled_by, error, cpu_micros, memory_peak_bytes, wall_micros, warning, "
        "archived,"
        " workspace, name, experiment, instances, retry, submitted_at, demand,"
        " preemptions, port, queue_warning, hooks)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    const JobHead& head = job.head;
    const std::string error = head.error ? wire::encode_job_error(*head.error) : "";
    const std::string retry = head.retry == RetryPolicy{} ? "" : wire::encode_retry_policy(head.retry);
    Run run(database.constant(kInsert));
    run.integer(head.id.value).integer(head.version).integer(static_cast<int>(head.status));
    run.integer(head.pool.value).integer(head.priority).integer(head.attempt).integer(head.retries_used);
    run.instant(head.started_at)
        .instant(head.ended_at)
        .instant(head.cancel_requested_at)
        .text(head.canceled_by);
    head.error ? run.blob(error) : run.null();
    run.integer(head.usage.cpu_micros).integer(head.usage.memory_peak_bytes).integer(head.usage.wall_micros);
    run.text(head.warning).integer(job.meta.archived ? 1 : 0).text(head.workspace).text(head.name);
    run.text(job.body.experiment).integer(head.instances);
    retry.empty() ? run.null() : run.blob(retry);
    run.instant(head.submitted_at);
    const std::string demand = head.demand == Demand{} ? "" : wire::encode_demand(head.demand);
    demand.empty() ? run.null() : run.blob(demand);
    run.integer(head.preemptions).integer(head.port).text(head.queue_warning);
    const std::string hooks = head.hooks ? wire::encode_job_hooks(*head.hooks) : "";
    head.hooks ? run.blob(hooks) : run.null();
    LAVANT_TRY_VOID(run.execute());

    static constexpr const char* kInsertBody =
        "INSERT INTO job_body (job, kind, created_by, display_name, description, properties, launch)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)";
    Run body(database.constant(kInsertBody));
    body.integer(head.id.value).text(job.body.kind).text(job.body.created_by).text(job.meta.display_name);
    body.text(job.meta.description).text(job.body.properties).blob(job.body.launch);
    LAVANT_TRY_VOID(body.execute());
    return write_tags(database, head.id, job.meta.tags);
}

// Leaves alone what never changes: workspace, name, instances, retry, submitted_at, demand, hooks.
Result<void> update_job(Database& database, const JobHead& head) {
    static constexpr const char* kUpdate =
        "UPDATE job SET version = ?, status = ?, pool = ?, priority = ?, attempt = ?, retries_used = ?,"
        " started_at = ?, ended_at = ?, cancel_requested_at = ?, canceled_by = ?, error = ?, cpu_micros = ?,"
        " memory_peak_bytes = ?, wall_micros = ?, warning = ?, preemptions = ?, port = ?,"
        " queue_warning = ? WHERE id = ? AND version = ?";
    const std::string error = head.error ? wire::encode_job_error(*head.error) : "";
    Run run(database.constant(kUpdate));
    run.integer(head.version).integer(static_cast<int>(head.status)).integer(head.pool.value);
    run.integer(head.priority).integer(head.attempt).integer(head.retries_used);
    run.instant(head.started_at)
        .instant(head.ended_at)
        .instant(head.cancel_requested_at)
        .text(head.canceled_by);
    head.error ? run.blob(error) : run.null();
    run.integer(head.usage.cpu_micros).integer(head.usage.memory_peak_bytes).integer(head.usage.wall_micros);
    run.text(head.warning).integer(head.preemptions).integer(head.port).text(head.queue_warning);
    run.integer(head.id.value).integer(head.version - 1);
    return expect_one(run.execute(), "job", head.id.value);
}

Result<void> update_meta(Database& database, const JobMetaWrite& write) {
    static constexpr const char* kUpdate = "UPDATE job SET archived = ? WHERE id = ?";
    static constexpr const char* kUpdateBody =
        "UPDATE job_body SET display_name = ?, description = ?, properties = ifnull(?, properties)"
        " WHERE job = ?";
    static constexpr const char* kDropTags = "DELETE FROM job_tag WHERE job = ?";
    const std::int64_t id = write.job.value;
    Run job(database.constant(kUpdate));
    LAVANT_TRY_VOID(expect_one(job.integer(write.meta.archived ? 1 : 0).integer(id).execute(), "job", id));
    Run body(database.constant(kUpdateBody));
    body.text(write.meta.display_name).text(write.meta.description);
    write.properties ? body.text(*write.properties) : body.null();
    body.integer(id);
    LAVANT_TRY_VOID(expect_one(body.execute(), "job", id));
    Run tags(database.constant(kDropTags));
    LAVANT_TRY_VOID(tags.integer(id).execute());
    return write_tags(database, write.job, write.meta.tags);
}

// Body, tags and tasks go with the row.
Result<void> remove_job(Database& database, const JobRemoval& removal) {
    static constexpr const char* kDelete = "DELETE FROM job WHERE id = ? AND version = ?";
    Run run(database.constant(kDelete));
    return expect_one(run.integer(removal.job.value).integer(removal.version).execute(), "job",
                      removal.job.value);
}

Result<void> write_task(Database& database, const Task& task) {
    static constexpr const char* kInsert =
        "INSERT INTO task (version, node, phase, task_end, assigned_at, gpus, job, attempt, node_index)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    static constexpr const char* kUpdate =
        "UPDATE task SET version = ?, node = ?, phase = ?, task_end = ?, assigned_at = ?, gpus = ?"
        " WHERE job = ? AND attempt = ? AND node_index = ? AND version = ?";
    const bool is_new = task.version == 1;
    const std::string end = task.end == TaskEnd{} ? "" : wire::encode_task_end(task.end);
    Run run(database.constant(is_new ? kInsert : kUpdate));
    run.integer(task.version).integer(task.node.value).integer(static_cast<int>(task.phase));
    end.empty() ? run.null() : run.blob(end);
    run.instant(task.assigned_at).text(task.gpus);
    run.integer(task.ref.job.value).integer(task.ref.attempt).integer(task.ref.index);
    if (!is_new) run.integer(task.version - 1);
    return expect_one(run.execute(), "a task of job", task.ref.job.value);
}

Result<void> write_node(Database& database, const Node& node) {
    static constexpr const char* kInsert =
        "INSERT INTO node (version, pool, state, enrolled, boot, protections, requested_at, idle_since, "
        "reason, gpus, cost_cpu_millis, cost_memory_bytes, cost_gpus, id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    static constexpr const char* kUpdate =
        "UPDATE node SET version = ?, pool = ?, state = ?, enrolled = ?, boot = ?, protections = ?,"
        " requested_at = ?, idle_since = ?, reason = ?, gpus = ?, cost_cpu_millis = ?, cost_memory_bytes = "
        "?, cost_gpus = ?"
        " WHERE id = ? AND version = ?";
    const bool is_new = node.version == 1;
    Run run(database.constant(is_new ? kInsert : kUpdate));
    run.integer(node.version).integer(node.pool.value).integer(static_cast<int>(node.state));
    run.integer(node.enrolled ? 1 : 0).text(node.boot).text(node.protections).instant(node.requested_at);
    run.instant(node.idle_since).text(node.reason).text(node.gpus);
    run.integer(node.cost.cpu_millis).integer(node.cost.memory_bytes).integer(node.cost.gpus);
    run.integer(node.id.value);
    if (!is_new) run.integer(node.version - 1);
    return expect_one(run.execute(), "node", node.id.value);
}

Result<void> write_pool(Database& database, const Pool& pool) {
    static constexpr const char* kInsert =
        "INSERT INTO pool (version, workspace, key, size, cpu_millis, memory_bytes, gpus, nodes_min, "
        "nodes_max,"
        " idle_before_release, terms, leaving, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    static constexpr const char* kUpdate =
        "UPDATE pool SET version = ?, workspace = ?, key = ?, size = ?, cpu_millis = ?, memory_bytes = ?, "
        "gpus = ?,"
        " nodes_min = ?, nodes_max = ?, idle_before_release = ?, terms = ?, leaving = ? WHERE id = ? AND "
        "version = ?";
    const bool is_new = pool.version == 1;
    Run run(database.constant(is_new ? kInsert : kUpdate));
    run.integer(pool.version).text(pool.workspace).text(pool.key).text(pool.size);
    run.integer(pool.node_resources.cpu_millis).integer(pool.node_resources.memory_bytes);
    run.integer(pool.node_resources.gpus).integer(pool.nodes_min).integer(pool.nodes_max);
    const std::string terms = pool.terms == PoolTerms{} ? "" : wire::encode_pool_terms(pool.terms);
    run.integer(pool.idle_before_release.count());
    terms.empty() ? run.null() : run.blob(terms);
    run.integer(pool.leaving ? 1 : 0).integer(pool.id.value);
    if (!is_new) run.integer(pool.version - 1);
    return expect_one(run.execute(), "pool", pool.id.value);
}

void bind_key(Run& run, const AssetKey& key) {
    run.text(key.workspace).text(key.kind).text(key.name).text(key.version);
}

Result<bool> remove_asset(Database& database, const AssetWrite& write) {
    static constexpr const char* kWhatever =
        "DELETE FROM asset WHERE workspace = ? AND kind = ? AND name = ? AND version = ?";
    static constexpr const char* kExpected =
        "DELETE FROM asset WHERE workspace = ? AND kind = ? AND name = ? AND version = ? AND row_version = ?";
    static constexpr const char* kExists =
        "SELECT 1 FROM asset WHERE workspace = ? AND kind = ? AND name = ? AND version = ?";
    if (write.expected == 0) {
        Run run(database.constant(kExists));
        bind_key(run, write.asset.key);
        LAVANT_TRY(const bool there, run.step());
        return !there;
    }
    Run run(database.constant(write.expected ? kExpected : kWhatever));
    bind_key(run, write.asset.key);
    if (write.expected) run.integer(*write.expected);
    LAVANT_TRY(const int removed, run.execute());
    return !write.expected || removed == 1;
}

Result<bool> put_asset(Database& database, const AssetWrite& write) {
    static constexpr const char* kInsert =
        "INSERT INTO asset (body, hash, archived, created_by, created_at, modified_at, workspace, kind, name,"
        " version, row_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"
        " ON CONFLICT (workspace, kind, name, version) DO NOTHING";
    static constexpr const char* kPut =
        "INSERT INTO asset (body, hash, archived, created_by, created_at, modified_at, workspace, kind, name,"
        " version, row_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"
        " ON CONFLICT (workspace, kind, name, version) DO UPDATE SET body = excluded.body, hash = "
        "excluded.hash,"
        " archived = excluded.archived, created_by = excluded.created_by, created_at = excluded.created_at,"
        " modified_at = excluded.modified_at, row_version = row_version + 1";
    static constexpr const char* kUpdate =
        "UPDATE asset SET body = ?, hash = ?, archived = ?, created_by = ?, created_at = ?, modified_at = ?,"
        " row_version = row_version + 1"
        " WHERE workspace = ? AND kind = ? AND name = ? AND version = ? AND row_version = ?";
    const char* query = !write.expected ? kPut : (*write.expected == 0 ? kInsert : kUpdate);
    const Asset& asset = write.asset;
    Run run(database.constant(query));
    run.text(asset.body).text(asset.hash).integer(asset.archived ? 1 : 0).text(asset.created_by);
    run.instant(asset.created_at).instant(asset.modified_at);
    bind_key(run, asset.key);
    if (query == kUpdate) run.integer(*write.expected);
    LAVANT_TRY(const int written, run.execute());
    return written == 1;
}

}  // namespace

Result<void> write_jobs(Database& database, const WriteBatch& batch) {
    for (const Job& job : batch.jobs_added) LAVANT_TRY_VOID(insert_job(database, job));
    for (const JobHead& head : batch.jobs_changed) LAVANT_TRY_VOID(update_job(database, head));
    for (const JobMetaWrite& write : batch.metas_changed) LAVANT_TRY_VOID(update_meta(database, write));
    return {};
}

Result<void> remove_jobs(Database& database, const WriteBatch& batch) {
    for (const JobRemoval& removal : batch.jobs_removed) LAVANT_TRY_VOID(remove_job(database, removal));
    return {};
}

Result<void> write_tasks(Database& database, const WriteBatch& batch) {
    for (const Task& task : batch.tasks) LAVANT_TRY_VOID(write_task(database, task));
    return {};
}

Result<void> write_nodes(Database& database, const WriteBatch& batch) {
    for (const Node& node : batch.nodes) LAVANT_TRY_VOID(write_node(database, node));
    return {};
}

Result<void> write_pools(Database& database, const WriteBatch& batch) {
    for (const Pool& pool : batch.pools) LAVANT_TRY_VOID(write_pool(database, pool));
    return {};
}

Result<void> remove_nodes_and_pools(Database& database, const WriteBatch& batch) {
    static constexpr const char* kNode = "DELETE FROM node WHERE id = ?";
    static constexpr const char* kPool = "DELETE FROM pool WHERE id = ?";
    for (const NodeId id : batch.nodes_removed)
        LAVANT_TRY_VOID(Run(database.constant(kNode)).integer(id.value).execute());
    for (const PoolId id : batch.pools_removed)
        LAVANT_TRY_VOID(Run(database.constant(kPool)).integer(id.value).execute());
    return {};
}

Result<void> write_events(Database& database, const WriteBatch& batch) {
    static constexpr const char* kInsert =
        "INSERT INTO event (sequence, at, job, workspace, kind, subject, what, detail)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    for (const HistoryEvent& event : batch.events) {
        Run run(database.constant(kInsert));
        run.integer(event.sequence).instant(event.at).integer(event.job.value).text(event.workspace);
        run.text(event.kind).text(event.subject).text(event.what).text(event.detail);
        LAVANT_TRY_VOID(run.execute());
    }
    return {};
}

Result<void> write_outbox(Database& database, const WriteBatch& batch) {
    static constexpr const char* kInsert = "INSERT INTO outbox (id, effect) VALUES (?, ?)";
    static constexpr const char* kDelete = "DELETE FROM outbox WHERE id = ?";
    for (const OutboxEntry& entry : batch.outbox_added) {
        const std::string effect = wire::encode_effect(entry.effect);
        Run run(database.constant(kInsert));
        LAVANT_TRY_VOID(run.integer(entry.id).blob(effect).execute());
    }
    for (const std::int64_t id : batch.outbox_removed) {
        Run run(database.constant(kDelete));
        LAVANT_TRY_VOID(run.integer(id).execute());
    }
    return {};
}

Result<std::vector<bool>> write_assets(Database& database, const WriteBatch& batch) {
    std::vector<bool> flags;
    flags.reserve(batch.assets.size());
    for (const AssetWrite& write : batch.assets) {
        LAVANT_TRY(const bool written,
                   write.remove ? remove_asset(database, write) : put_asset(database, write));
        flags.push_back(written);
    }
    return flags;
}

}  // namespace lavant::sql
