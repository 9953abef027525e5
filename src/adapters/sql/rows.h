#pragma once
// Rows to values. Each read_* takes the columns named by its constant, in that order.

#include "adapters/sql/database.h"
#include "core/model/record.h"

namespace lavant::sql {

inline constexpr const char* kJobHeadColumns =
    "job.id, job.version, job.workspace, job.name, job.status, job.pool, job.instances, job.priority, "
    "job.attempt, "
    "job.retries_used, job.retry, job.submitted_at, job.started_at, job.ended_at, job.canceled_by, "
    "job.cancel_requested_at, job.error, job.cpu_micros, job.memory_peak_bytes, job.wall_micros, "
    "job.warning, "
    "job.demand, job.preemptions, job.port, job.queue_warning, job.hooks";
inline constexpr const char* kJobRestColumns =
    "job.archived, job.experiment, body.kind, body.created_by, body.display_name, body.description, "
    "body.properties, body.launch";
inline constexpr const char* kTaskColumns =
    "task.job, task.attempt, task.node_index, task.version, task.node, task.phase, task.task_end, "
    "task.assigned_at, task.gpus";
inline constexpr const char* kNodeColumns =
    "id, version, pool, state, enrolled, boot, protections, requested_at, idle_since, reason, gpus, "
    "cost_cpu_millis, cost_memory_bytes, cost_gpus";
inline constexpr const char* kPoolColumns =
    "id, version, workspace, key, size, cpu_millis, memory_bytes, gpus, nodes_min, nodes_max, "
    "idle_before_release, terms, leaving";
inline constexpr const char* kAssetColumns =
    "workspace, kind, name, version, row_version, body, hash, archived, created_by, created_at, modified_at";
inline constexpr const char* kEventColumns = "sequence, at, workspace, kind, subject, job, what, detail";

// Live rows are found by number: these borders are written into SQL.
static_assert(static_cast<int>(JobStatus::Completed) == 5 &&
              static_cast<int>(JobStatus::CancelRequested) == 4);
static_assert(static_cast<int>(NodeState::Released) == 5 && static_cast<int>(NodeState::Draining) == 4);

JobHead read_job_head(Run& row);
Job read_job(Run& row);  // kJobHeadColumns, kJobRestColumns; the tags are another table's
Task read_task(Run& row);
Node read_node(Run& row);
Pool read_pool(Run& row);
Asset read_asset(Run& row);
HistoryEvent read_event(Run& row);

// All rows of a bound statement.
template <class T>
[[nodiscard]] Result<std::vector<T>> read_all(Run& run, T (*read)(Run&), std::string_view what) {
    std::vector<T> values;
    while (true) {
        LAVANT_TRY(const bool row, run.step());
        if (!row) return values;
        values.push_back(read(run));
        LAVANT_TRY_VOID(run.check_row(what));
    }
}

[[nodiscard]] Result<void> load_tags(Database& database, Job& job);
[[nodiscard]] Result<std::optional<Job>> find_job(Database& database, const std::string& workspace,
                                                  const std::string& name);

}  // namespace lavant::sql
