#include "tests/support/builders.h"

namespace lavant::test {

Job a_job(std::int64_t id, const std::string& name) {
    Job job;
    job.head.id = JobId{id};
    job.head.version = 1;
    job.head.workspace = kWorkspace;
    job.head.name = name.empty() ? "job-" + std::to_string(id) : name;
    job.head.pool = PoolId{1};
    job.head.instances = 2;
    job.head.priority = 5;
    job.head.retry = {
        .retries_max = 7, .on_node_lost = false, .on_out_of_memory = true, .on_exit_codes = {3, 44}};
    job.head.submitted_at = from_micros(1'700'000'000'000'000 + id);
    job.head.warning = "runs on fewer cores than asked for";
    job.head.demand = {.user = "somebody",
                       .processes = 4,
                       .bound = std::chrono::hours{2},
                       .task = {500, 1 << 30, 1},
                       .grace = std::chrono::seconds{5}};
    job.head.preemptions = 1;
    job.head.port = 20'010;
    job.head.queue_warning = "waits for quota";
    job.meta.display_name = "a display name";
    job.meta.description = "a description";
    job.body.experiment = "an-experiment";
    job.body.created_by = "somebody";
    job.body.properties = R"({"jobType":"Command"})";
    job.body.launch = std::string("launch\0bytes", 12);
    return job;
}

JobHead changed(JobHead head, JobStatus status) {
    ++head.version;
    head.status = status;
    return head;
}

Task a_task(std::int64_t job, int attempt, int index) {
    Task task;
    task.ref = {JobId{job}, attempt, index};
    task.version = 1;
    task.node = NodeId{9};
    task.assigned_at = from_micros(1'700'000'000'000'100);
    task.gpus = "0,GPU-7";
    return task;
}

Node a_node(std::int64_t id, std::int64_t pool) {
    Node node;
    node.id = NodeId{id};
    node.version = 1;
    node.pool = PoolId{pool};
    node.boot = "boot";
    node.protections = "namespaces";
    node.requested_at = from_micros(1'700'000'000'000'000);
    node.reason = "asked for by a job";
    node.gpus = "0,GPU-7";
    return node;
}

Pool a_pool(std::int64_t id) {
    Pool pool;
    pool.id = PoolId{id};
    pool.version = 1;
    pool.workspace = kWorkspace;
    pool.key = "serverless/Standard_DS3_v2/dedicated";
    pool.size = "Standard_DS3_v2";
    pool.node_resources = {4'000, std::int64_t{14} << 30, 1};
    pool.nodes_min = 1;
    pool.nodes_max = 8;
    pool.idle_before_release = Duration{120'000'000};
    pool.terms = {.compute = "gpu-cluster",
                  .arm_id = "/subscriptions/s/computes/gpu-cluster",
                  .subnet = "/subscriptions/s/subnets/n",
                  .location = "local",
                  .family = "standardDSv2Family",
                  .tier = Tier::LowPriority,
                  .vcpus = 4,
                  .node_limit = {8'000, std::int64_t{28} << 30, 1},
                  .packed = true,
                  .price = 229'000};
    return pool;
}

Quota a_quota(const std::string& family, std::int64_t cores) {
    return {.key = {.location = "local", .family = family, .tier = Tier::LowPriority},
            .level = QuotaLevel::Workspace,
            .cores = cores};
}

Lock a_lock(const std::string& scope, const std::string& name) {
    return {.scope = scope,
            .name = name,
            .level = LockLevel::ReadOnly,
            .notes = "until the audit is over",
            .created_by = "somebody",
            .created_at = from_micros(1'700'000'000'000'000)};
}

UsageEntry a_usage(const std::string& user, const std::string& job, std::int64_t node_micros) {
    return {.kind = UsageKind::Task,
            .ended_at = from_micros(1'700'000'000'000'000),
            .workspace = kWorkspace,
            .user = user,
            .job = job,
            .compute = "serverless",
            .size = "Standard_DS3_v2",
            .tier = "dedicated",
            .node = NodeId{9},
            .node_micros = node_micros,
            .price_micros = node_micros / 10};
}

HistoryEvent an_event(std::int64_t sequence, std::int64_t job) {
    HistoryEvent event;
    event.sequence = sequence;
    event.at = from_micros(1'700'000'000'000'000 + sequence);
    event.workspace = kWorkspace;
    event.kind = job == 0 ? "node" : "job";
    event.subject = job == 0 ? "node-3" : "job-" + std::to_string(job);
    event.job = JobId{job};
    event.what = "Running";
    event.detail = "node-3";
    return event;
}

OutboxEntry an_effect(std::int64_t id, std::int64_t node) {
    return {id, StartNode{NodeId{node}, PoolId{1}, "Standard_DS3_v2", {4'000, 1 << 20, 0}}};
}

Asset an_asset(const std::string& kind, const std::string& name, const std::string& version) {
    Asset asset;
    asset.key = {kWorkspace, kind, name, version};
    asset.body = R"({"description":"an asset"})";
    asset.created_by = "somebody";
    asset.created_at = from_micros(1'700'000'000'000'000);
    asset.modified_at = from_micros(1'700'000'000'000'500);
    return asset;
}

}  // namespace lavant::test
