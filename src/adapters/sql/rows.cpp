#include "adapters/sql/rows.h"

#include <utility>

#include "wire/messages.h"

namespace lavant::sql {

JobHead read_job_head(Run& row) {
    JobHead head;
    head.id = JobId{row.read_integer()};
    head.version = row.read_integer();
    head.workspace = row.read_text();
    head.name = row.read_text();
    head.status = row.read_enum(JobStatus::Canceled);
    head.pool = PoolId{row.read_integer()};
    head.instances = row.read_int();
    head.priority = row.read_int();
    head.attempt = row.read_int();
    head.retries_used = row.read_int();
    head.retry = row.read_encoded(&wire::decode_retry_policy);
    head.submitted_at = row.read_instant();
    head.started_at = row.read_optional_instant();
    head.ended_at = row.read_optional_instant();
    head.canceled_by = row.read_text();
    head.cancel_requested_at = row.read_optional_instant();
    const bool has_error = !row.next_is_null();
    JobError error = row.read_encoded(&wire::decode_job_error);
    if (has_error) head.error = std::move(error);
    head.usage.cpu_micros = row.read_integer();
    head.usage.memory_peak_bytes = row.read_integer();
    head.usage.wall_micros = row.read_integer();
    head.warning = row.read_text();
    head.demand = row.read_encoded(&wire::decode_demand);
    head.preemptions = row.read_int();
    head.port = row.read_int();
    head.queue_warning = row.read_text();
    const bool has_hooks = !row.next_is_null();
    JobHooks hooks = row.read_encoded(&wire::decode_job_hooks);
    if (has_hooks) head.hooks = std::move(hooks);
    return head;
}

Job read_job(Run& row) {
    Job job;
    job.head = read_job_head(row);
    job.meta.archived = row.read_bool();
    job.body.experiment = row.read_text();
    job.body.kind = row.read_text();
    job.body.created_by = row.read_text();
    job.meta.display_name = row.read_text();
    job.meta.description = row.read_text();
    job.body.properties = row.read_text();
    job.body.launch = row.read_text();
    return job;
}

Task read_task(Run& row) {
    Task task;
    task.ref = {JobId{row.read_integer()}, row.read_int(), row.read_int()};
    task.version = row.read_integer();
    task.node = NodeId{row.read_integer()};
    task.phase = row.read_enum(TaskPhase::Lost);
    task.end = row.read_encoded(&wire::decode_task_end);
    task.assigned_at = row.read_instant();
    task.gpus = row.read_text();
    return task;
}

Node read_node(Run& row) {
    Node node;
    node.id = NodeId{row.read_integer()};
    node.version = row.read_integer();
    node.pool = PoolId{row.read_integer()};
    node.state = row.read_enum(NodeState::Preempted);
    node.enrolled = row.read_bool();
    node.boot = row.read_text();
    node.protections = row.read_text();
    node.requested_at = row.read_instant();
    node.idle_since = row.read_optional_instant();
    node.reason = row.read_text();
    node.gpus = row.read_text();
    node.cost.cpu_millis = row.read_integer();
    node.cost.memory_bytes = row.read_integer();
    node.cost.gpus = row.read_int();
    return node;
}

Pool read_pool(Run& row) {
    Pool pool;
    pool.id = PoolId{row.read_integer()};
    pool.version = row.read_integer();
    pool.workspace = row.read_text();
    pool.key = row.read_text();
    pool.size = row.read_text();
    pool.node_resources.cpu_millis = row.read_integer();
    pool.node_resources.memory_bytes = row.read_integer();
    pool.node_resources.gpus = row.read_int();
    pool.nodes_min = row.read_int();
    pool.nodes_max = row.read_int();
    pool.idle_before_release = Duration{row.read_integer()};
    pool.terms = row.read_encoded(&wire::decode_pool_terms);
    pool.leaving = row.read_bool();
    return pool;
}

Asset read_asset(Run& row) {
    Asset asset;
    asset.key.workspace = row.read_text();
    asset.key.kind = row.read_text();
    asset.key.name = row.read_text();
    asset.key.version = row.read_text();
    asset.row_version = row.read_integer();
    asset.body = row.read_text();
    asset.hash = row.read_text();
    asset.archived = row.read_bool();
    asset.created_by = row.read_text();
    asset.created_at = row.read_instant();
    asset.modified_at = row.read_instant();
    return asset;
}

HistoryEvent read_event(Run& row) {
    HistoryEvent event;
    event.sequence = row.read_integer();
    event.at = row.read_instant();
    event.workspace = row.read_text();
    event.kind = row.read_text();
    event.subject = row.read_text();
    event.job = JobId{row.read_integer()};
    event.what = row.read_text();
    event.detail = row.read_text();
    return event;
}

Result<void> load_tags(Database& database, Job& job) {
    static constexpr const char* kTags = "SELECT key, value FROM job_tag WHERE job = ?";
    Run run(database.constant(kTags));
    run.integer(job.head.id.value);
    while (true) {
        LAVANT_TRY(const bool row, run.step());
        if (!row) return {};
        std::string key = run.read_text();
        job.meta.tags[std::move(key)] = run.read_text();
    }
}

Result<std::optional<Job>> find_job(Database& database, const std::string& workspace,
                                    const std::string& name) {
    static const std::string kFind =
        std::string("SELECT ") + kJobHeadColumns + ", " + kJobRestColumns +
        " FROM job INDEXED BY job_name JOIN job_body AS body ON body.job = job.id" +
        " WHERE job.workspace = ? AND job.name = ?";
    LAVANT_TRY(const Transaction snapshot, Transaction::begin_reading(database));
    Run run(database.constant(kFind.c_str()));
    LAVANT_TRY(const bool row, run.text(workspace).text(name).step());
    if (!row) return std::nullopt;
    Job job = read_job(run);
    LAVANT_TRY_VOID(run.check_row("job"));
    LAVANT_TRY_VOID(load_tags(database, job));
    return job;
}

}  // namespace lavant::sql
