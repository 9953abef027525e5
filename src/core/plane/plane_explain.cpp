// Why a job is where it is: in numbers, and in a sentence that begins with the reason.

#include <algorithm>

#include "core/plane/plane.h"
#include "core/quota/quota_answer.h"
#include "core/schedule/forecast.h"

namespace lavant::plane {
namespace {

using schedule::Wait;

constexpr std::int64_t kCountedMost = 10'000;  // of those ahead: everybody waits while they are counted

std::string percent_of(std::int64_t part, std::int64_t whole) {
    return std::to_string(whole == 0 ? 0 : part * 100 / whole) + "%";
}

std::string counted(std::int64_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace

// A few of the jobs whose end would make room: those of one pool, or all.
std::string Plane::running_now(const LivePool* pool) const {
    constexpr std::size_t kNamed = 3;
    std::set<JobId> running;  // nodes are few, jobs may be many
    for (const auto& [id, node] : nodes_)
        if (pool == nullptr || node.row.pool == pool->row.id)
            for (const TaskRef& ref : node.tasks) running.insert(ref.job);
    std::string names;
    std::size_t named = 0;
    for (const JobId id : running) {
        if (++named > kNamed) break;
        names += (names.empty() ? "" : ", ") + jobs_.at(id).head.name;
    }
    if (running.size() > kNamed) names += " and " + std::to_string(running.size() - kNamed) + " more";
    return names;
}

std::string Plane::explain_placed(const LiveJob& job, Instant now) const {
    const JobHead& head = job.head;
    std::set<NodeId> nodes;
    for (const TaskRef& ref : job.tasks) nodes.insert(tasks_.at(ref).node);
    std::string where;
    for (const NodeId id : nodes) where += (where.empty() ? " on " : ", ") + to_string(id);
    if (head.cancel_requested_at) return "is being stopped" + where;
    if (is_evicted(job)) return "is being preempted" + where + ", and will be tried again";
    if (job.goes_again) return "its outputs are being kept for its next attempt";
    if (head.status == JobStatus::Running)
        return "runs" + where + (head.started_at ? " for " + in_words(now - *head.started_at) : "");
    if (head.status == JobStatus::Finalizing) return "its outputs are being kept";
    return "gets its code, inputs and environment ready" + where;
}

std::string Plane::reason_in_words(const LivePool& pool, Wait wait, Explanation& why) const {
    const PoolId id = pool.row.id;
    const schedule::Scheduler::PoolView view = scheduler_.view(id);
    const std::string compute = pool.row.is_serverless() ? "" : " of " + pool.row.terms.compute;
    switch (wait) {
        case Wait::Nothing:
        case Wait::NodeStart:
            why.reason = "node_start";
            return "a node to start";
        case Wait::StartFailed:
            why.reason = "node_start_failed";
            return "a node; the last one could not be started (" + counted(pool.start_failures, "failure") +
                   " in a row): " + pool.blocked_by;
        case Wait::Turn:
            why.reason = "turn";
            return "its turn: an older job waits for room on the machine";
        case Wait::Lock: {
            why.reason = "lock";
            const Lock* lock = lock_over(pool.row);
            why.lock = lock == nullptr ? "" : lock->name;
            return "a lock" +
                   (lock == nullptr ? ""
                                    : " '" + lock->name + "' (" + std::string(name_of(lock->level)) +
                                          ") on " + lock->scope) +
                   ", which keeps the pool from growing from " + counted(view.nodes, "node") +
                   "; remove it (`lavant lock delete -n " + (lock == nullptr ? "" : lock->name) +
                   " --scope " + (lock == nullptr ? "" : lock->scope) + "`), and lock single items instead";
        }
        case Wait::Gang:
            why.reason = "gang";
            return std::to_string(why.nodes_needed) + " nodes" + compute +
                   " at once: " + std::to_string(view.idle) + " of its " +
                   std::to_string(pool.row.nodes_max) + " are idle";
        case Wait::Maximum:
            why.reason = "nodes";
            if (pool.row.nodes_max == 0)
                return "its compute, which is stopped; start it: `lavant compute start " +
                       pool.row.terms.compute + "`";
            return "a node" + compute + ": all " + std::to_string(pool.row.nodes_max) +
                   " it may have are taken";
        case Wait::Quota: {
            why.reason = "quota";
            for (const QuotaKey& key : quota_keys_of(pool.row)) {
                const std::int64_t limit = scheduler_.quotas().limit(key);
                const std::int64_t used = scheduler_.cores_used(key);
                if (used + pool.row.terms.vcpus <= limit) continue;
                why.quota = lavant::in_words(key);
                why.cores_used = used;
                why.cores_limit = limit;
                return "quota: " + std::to_string(used) + " of " + std::to_string(limit) + " vCPUs of " +
                       why.quota + ", are in use (" + holders_of(key) + "), and it needs " +
                       std::to_string(static_cast<std::int64_t>(why.nodes_needed) * pool.row.terms.vcpus);
            }
            return "quota";
        }
        case Wait::Room:
            break;
    }
    why.reason = "room";
    const Resources& promised = scheduler_.promised();
    std::string text = "room: " + percent_of(promised.cpu_millis, settings_.capacity.cpu_millis) +
                       " of the CPUs and " +
                       percent_of(promised.memory_bytes, settings_.capacity.memory_bytes) + " of the memory";
    if (pool.row.node_resources.gpus > 0)
        text += " and " + std::to_string(promised.gpus) + " of " + std::to_string(settings_.capacity.gpus) +
                " GPUs";
    return text + " are taken";
}

Explanation Plane::explain(const LiveJob& job, Instant now) const {
    const JobHead& head = job.head;
    const LivePool& pool = pools_.at(head.pool);
    const schedule::Scheduler::PoolView view = scheduler_.view(head.pool);
    Explanation why{.nodes_needed = head.instances,
                    .nodes_idle = view.idle,
                    .nodes_starting = view.starting,
                    .nodes_busy = view.nodes - view.idle - view.starting - view.leaving,
                    .nodes_max = pool.row.nodes_max};
    if (head.status != JobStatus::Queued) {
        why.text = explain_placed(job, now);
        return why;
    }
    const schedule::Turn turn{-head.priority, head.id};
    const auto ahead = scheduler_.queue(head.pool).ahead_of(turn, kCountedMost);
    why.jobs_ahead = ahead.jobs;
    const Wait wait = scheduler_.why_waiting(head.pool);
    // The reason first: a terminal may show no more than that.
    why.text = "waits (" + lavant::in_words(now - head.submitted_at) + " so far) for " +
               reason_in_words(pool, wait, why) + ". It needs " + counted(head.instances, "node") +
               " of size " + pool.row.size + "; " + std::to_string(ahead.jobs) +
               (ahead.jobs == kCountedMost ? " or more" : "") + (ahead.jobs == 1 ? " job is" : " jobs are") +
               " ahead of it. The pool has " + counted(view.nodes, "node") + ": " +
               std::to_string(view.idle) + " idle, " + std::to_string(view.starting) + " starting, " +
               std::to_string(why.nodes_busy) + " busy" +
               (view.leaving > 0 ? ", " + std::to_string(view.leaving) + " leaving" : "") + ".";
    if (wait == Wait::Room || wait == Wait::Maximum || wait == Wait::Gang) {
        const std::string running = running_now(wait == Wait::Room ? nullptr : &pool);
        if (!running.empty())
            why.text += (ahead.jobs == 0 ? " It starts when one that runs ends: "
                                         : " It starts after those ahead of it. Running now: ") +
                        running + ".";
    }
    const schedule::Forecast forecast =
        schedule::forecast_start(scheduler_,
                                 {.pool = head.pool,
                                  .turn = turn,
                                  .usual_length = [this](PoolId id) { return pools_.at(id).usual_length; }},
                                 now);
    why.starts_at = forecast.starts_at;
    why.at_least = forecast.at_least;
    if (forecast.starts_at && wait != Wait::Lock && wait != Wait::StartFailed)
        why.text +=
            std::string(forecast.at_least ? " It starts in no less than " : " It should start in about ") +
            lavant::in_words(*forecast.starts_at - now) + ".";
    return why;
}

}  // namespace lavant::plane
