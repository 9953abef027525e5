#include "api/pool_plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/computes.h"
#include "api/job_submission.h"
#include "api/sizes.h"
#include "api/workspace_settings.h"
#include "base/text.h"
#include "core/model/region.h"
#include "core/plane/fit.h"

namespace lavant::api {
namespace {

constexpr int kServerlessNodesMax = 1000;
constexpr Duration kServerlessIdle = std::chrono::seconds(120);

void problem(PoolPlan& plan, std::string path, std::string message) {
    plan.problems.push_back({std::move(path), std::move(message), 0, 0});
}

void warn(PoolPlan& plan, const std::string& more) {
    if (more.empty()) return;
    plan.warning += (plan.warning.empty() ? "" : "; ") + more;
}

// "cpu-cluster" of an ARM id, of "azureml:cpu-cluster", or as it is.
std::string compute_name(const std::string& compute_id) {
    const std::size_t slash = compute_id.rfind('/');
    std::string name = slash == std::string::npos ? compute_id : compute_id.substr(slash + 1);
    return name.starts_with("azureml:") ? name.substr(8) : name;
}

// Nodes of a pool are alike, and a size of the catalogue is always the same. The site may give a name to
// another size, and the machine may change: what they are belongs to the key.
std::string describe_for_key(const Size& size) {
    if (size.origin == SizeOrigin::Catalogue) return size.name;
    const Resources& has = size.resources;
    return size.name + ":" + std::to_string(has.cpu_millis) + "m-" + std::to_string(has.memory_bytes >> 20) +
           "Mi-" + std::to_string(has.gpus);
}

void plan_serverless(Context& context, const WorkspaceName& workspace, const wire::ArmCommandJob& job,
                     PoolPlan& plan) {
    const std::string asked = job.instance_type.empty() ? std::string(kDefaultSize) : job.instance_type;
    const auto chosen = choose_size(context, asked);
    if (!chosen) return problem(plan, "properties.resources.instanceType", chosen.error().message);
    const Size& size = chosen->size;
    warn(plan, chosen->warning);
    const bool spot = equals_ignoring_case(job.job_tier, "spot");
    Pool& pool = plan.pool;
    pool.key = "serverless/" + describe_for_key(size) + (spot ? "/spot" : "/dedicated");
    set_size_terms(pool, size, spot ? Tier::LowPriority : Tier::Dedicated);
    pool.terms.location = kLocalRegion;
    pool.terms.arm_id = to_lower(compute_arm_id(workspace, "serverless"));
    const plane::Fitted fitted =
        plane::fit_to_machine(size, std::max(1, job.instance_count), context.settings.capacity);
    // Nodes of a pool are alike: what gets less than its size is in a pool of its own.
    if (!fitted.warning.empty()) pool.key += "/" + std::to_string(job.instance_count);
    warn(plan, fitted.warning);
    pool.node_resources = fitted.resources;
    pool.nodes_max = kServerlessNodesMax;
    pool.idle_before_release = kServerlessIdle;
    if (const auto settled = apply_settings(context, pool); !settled)
        problem(plan, "properties.computeId", settled.error().message);
}

// Where several jobs share a node, `instance_type` says how much of it one takes; without it, all.
void plan_share(Context& context, const wire::ArmCommandJob& job, const Pool& pool, PoolPlan& plan) {
    const int processes = std::max(1, job.process_count);
    Resources share = plane::node_limit_of(pool);
    if (!job.instance_type.empty()) {
        const auto chosen = choose_size(context, job.instance_type);
        if (!chosen) return problem(plan, "properties.resources.instanceType", chosen.error().message);
        const Size* size = &chosen->size;
        warn(plan, chosen->warning);
        if (size->resources.gpus > share.gpus)
            return problem(plan, "properties.resources.instanceType",
                           size->name + " has more GPUs than a node of " + pool.terms.compute +
                               ", which has " + std::to_string(share.gpus));
        share = {.cpu_millis = std::min(share.cpu_millis, size->resources.cpu_millis),
                 .memory_bytes = std::min(share.memory_bytes, size->resources.memory_bytes),
                 .gpus = size->resources.gpus};
    }
    plan.task = {.cpu_millis = share.cpu_millis / processes,
                 .memory_bytes = share.memory_bytes / processes,
                 .gpus = share.gpus / processes};
}

void plan_on_compute(Context& context, const std::string& name, const wire::ArmCommandJob& job,
                     PoolPlan& plan) {
    const std::string where = "properties.computeId";
    const auto stored = find_compute(context, plan.pool.workspace, name);
    if (!stored) return problem(plan, where, stored.error().message);
    if (!*stored) return problem(plan, where, explain_no_compute(context, plan.pool.workspace, name));
    const auto compute = wire::read_stored_compute((*stored)->document);
    if (!compute) return problem(plan, where, compute.error().message);
    const std::string& exact = (*stored)->name();
    plan.pool.key = "compute/" + exact;
    if (is_attached(compute->kind))
        return problem(plan, where,
                       "'" + exact + "' is an attached " + std::string(name_of(compute->kind)) +
                           ": jobs cannot run there yet; name a cluster, or leave compute out");
    if (compute->kind == ComputeKind::Instance && !compute->running)
        return problem(plan, where,
                       "instance '" + exact + "' is stopped; start it first: lavant compute start " + exact);
    if (job.instance_count > compute->nodes_max)
        problem(plan, "properties.resources.instanceCount",
                "is " + std::to_string(job.instance_count) + ", and '" + exact + "' has at most " +
                    std::to_string(compute->nodes_max) + (compute->nodes_max == 1 ? " node" : " nodes") +
                    (compute->kind == ComputeKind::Cluster
                         ? "; ask for fewer, or raise it: lavant compute update " + exact +
                               " --max-instances " + std::to_string(job.instance_count)
                         : "; an instance is one machine"));
    if (compute->packed) {
        const auto nodes = load_compute_nodes(context, plan.pool.workspace);
        if (!nodes) return problem(plan, where, nodes.error().message);
        if (const Pool* pool = nodes->pool_of(exact)) plan_share(context, job, *pool, plan);
        return;
    }
    if (!job.instance_type.empty() && !equals_ignoring_case(job.instance_type, compute->size))
        warn(plan, "resources.instance_type " + job.instance_type.substr(0, 80) + " has no effect: '" +
                       exact + "' has nodes of " + compute->size);
}

}  // namespace

PoolPlan plan_pool(Context& context, const SubmissionAsk& ask, const wire::ArmCommandJob& job) {
    PoolPlan plan;
    plan.pool.workspace = ask.workspace;
    const std::string name = compute_name(job.compute_id);
    if (name.empty() || is_no_compute(name)) {
        plan_serverless(context, ask.workspace_name, job, plan);
    } else {
        plan_on_compute(context, name, job, plan);
    }
    return plan;
}

}  // namespace lavant::api
