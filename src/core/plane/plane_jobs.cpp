// The life of a job: submission, reports of its tasks, retries, cancellation, the end.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/plane/plane.h"
#include "core/plane/verdict.h"

namespace lavant::plane {
namespace {

std::size_t hash_of(const std::string& workspace, const std::string& name) {
    return std::hash<std::string>{}(name) ^ (std::hash<std::string>{}(workspace) << 1U);
}

}  // namespace

Plane::LiveJob* Plane::live_job(const std::string& workspace, const std::string& name) {
    const JobId id = find_name(workspace, name);
    return id ? &jobs_.at(id) : nullptr;
}

// A name is kept once, with its job: a million of them wait here.
JobId Plane::find_name(const std::string& workspace, const std::string& name) const {
    const auto [first, last] = names_.equal_range(hash_of(workspace, name));
    for (auto it = first; it != last; ++it) {
        const JobHead& head = jobs_.at(it->second).head;
        if (head.name == name && head.workspace == workspace) return it->second;
    }
    return {};
}

void Plane::remember_name(const JobHead& head) {
    names_.emplace(hash_of(head.workspace, head.name), head.id);
}

void Plane::forget_name(const JobHead& head) {
    const auto [first, last] = names_.equal_range(hash_of(head.workspace, head.name));
    names_.erase(std::find_if(first, last, [&](const auto& pair) { return pair.second == head.id; }));
}

// A job that ended since the last flush is in neither the live index nor the store.
const JobHead* Plane::ended_in_this_batch(const std::string& workspace, const std::string& name) const {
    for (const auto& [id, head] : ended_jobs_)
        if (head.workspace == workspace && head.name == name) return &head;
    return nullptr;
}

// The one of its key; for a serverless pool that is not there yet, what it will be.
const Pool* Plane::find_pool(const Pool& wanted) const {
    const auto found = pool_keys_.find(index_of(wanted));
    if (found != pool_keys_.end()) return &pools_.at(found->second).row;
    return wanted.key.starts_with("compute/") ? nullptr : &wanted;
}

// Computes are one however their name is spelt.
std::string Plane::index_of(const Pool& pool) {
    const bool compute = pool.key.starts_with("compute/");
    return pool.workspace + '\n' + (compute ? to_lower(pool.key) : pool.key);
}

PoolId Plane::pool_for(const Pool& wanted) {
    const std::string key = index_of(wanted);
    const auto found = pool_keys_.find(key);
    if (found != pool_keys_.end()) {
        LivePool& pool = pools_.at(found->second);
        // The machine may have changed since the pool was made; its nodes stay as they are.
        if (pool.row.is_serverless() && scheduler_.view(pool.row.id).nodes == 0 &&
            pool.row.node_resources != wanted.node_resources) {
            pool.row.node_resources = wanted.node_resources;
            pool.row.terms.node_limit = wanted.terms.node_limit;
            scheduler_.put_pool(pool.row);
            changed_pools_.insert(pool.row.id);
        }
        return found->second;
    }
    const PoolId id{++last_pool_};
    LivePool& pool = pools_[id];
    pool.row = wanted;
    pool.row.id = id;
    pool.row.version = 0;
    pool_keys_[key] = id;
    scheduler_.put_pool(pool.row);
    scheduler_.set_locked(id, lock_over(pool.row) != nullptr);
    changed_pools_.insert(id);
    return id;
}

schedule::Ask Plane::ask_of(const JobHead& head) {
    const auto [user, added] =
        users_.try_emplace(head.demand.user, static_cast<schedule::UserNumber>(users_.size()));
    Resources on_node;
    for (int i = 0; i < head.demand.processes; ++i) on_node += head.demand.task;
    return {.job = head.id,
            .pool = head.pool,
            .rank = -head.priority,
            .user = user->second,
            .instances = head.instances,
            .on_node = on_node,
            .bound = head.demand.bound,
            .since = head.submitted_at};
}

void Plane::apply_one(const SubmitJob& event, Instant now, Outcome& out) {
    const JobHead& asked = event.job.head;
    const LiveJob* live = live_job(asked.workspace, asked.name);
    const JobHead* ended = ended_in_this_batch(asked.workspace, asked.name);
    // What the store had before this batch may have been deleted in it.
    const bool stored = event.stored && !is_being_deleted(asked.workspace, asked.name);
    if (live != nullptr || ended != nullptr || stored) {
        Job existing = event.stored ? *event.stored : Job{};
        if (live != nullptr || ended != nullptr) existing.head = live != nullptr ? live->head : *ended;
        out.replies.push_back({event.ticket, Answer{.job = std::move(existing), .existed = true}});
        return;
    }
    if (is_being_deleted(asked.workspace, asked.name)) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::Conflict, "job '" + asked.name +
                                                         "' is being deleted; submit again in a moment, or "
                                                         "under another name")});
        return;
    }
    if (!event.unsupported.empty()) return store_unsupported(event, now, out);
    if (jobs_.size() >= limits::kQueuedJobs) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::ResourceExhausted,
                                "the queue is full; wait for jobs to end, then submit again")});
        return;
    }
    const Pool* wanted = find_pool(event.pool);
    if (wanted != nullptr && asked.instances > wanted->nodes_max) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::InvalidArgument,
                                "the job asks for " + std::to_string(asked.instances) +
                                    " nodes, and there are at most " + std::to_string(wanted->nodes_max))});
        return;
    }
    Result<std::string> queue_warning = wanted == nullptr
                                            ? fail(ErrorCode::NotFound,
                                                   "the compute was deleted; name another one, or leave "
                                                   "compute out to run serverless")
                                            : check_quota(*wanted, asked);
    if (!queue_warning) {
        out.replies.push_back({event.ticket, fail(queue_warning.error())});
        return;
    }
    const PoolId pool = pool_for(event.pool);
    const JobId id{++last_job_};
    LiveJob& job = jobs_[id];
    job.is_new = true;
    job.head = asked;
    job.head.id = id;
    job.head.version = 0;
    job.head.status = JobStatus::Queued;
    job.head.pool = pool;
    job.head.attempt = 1;
    job.head.submitted_at = now;
    job.head.queue_warning = std::move(*queue_warning);
    remember_name(job.head);
    ++pools_.at(pool).jobs;
    scheduler_.job_waits(ask_of(job.head));
    announce(job, "Queued", "", now, out);
    add_lineage(event, id, out);

    Job row = event.job;
    row.head = job.head;
    out.replies.push_back({event.ticket, Answer{.job = row}});
    added_[id] = std::move(row);
}

// There is nothing that could run it: it is kept, and says so.
void Plane::store_unsupported(const SubmitJob& event, Instant now, Outcome& out) {
    LiveJob job{.head = event.job.head};
    JobHead& head = job.head;
    head.id = JobId{++last_job_};
    head.submitted_at = now;
    head.ended_at = now;
    announce(job, "Queued", "", now, out);
    head.status = JobStatus::Failed;
    head.error = JobError{.code = "NotSupported", .message = event.unsupported};
    announce(job, "Failed", event.unsupported, now, out);
    add_lineage(event, head.id, out);
    Job row = event.job;
    row.head = head;
    out.replies.push_back({event.ticket, Answer{.job = row}});
    ended_jobs_[head.id] = head;
    added_[head.id] = std::move(row);
}

void Plane::add_lineage(const SubmitJob& event, JobId job, Outcome& out) {
    for (LineageEdge edge : event.lineage) {
        edge.job = job;
        out.writes.lineage.push_back(std::move(edge));
    }
}

// For the history, and for whoever asked to be told.
void Plane::announce(const LiveJob& job, std::string what, std::string detail, Instant now, Outcome& out) {
    if (job.head.hooks && !job.head.hooks->notify.empty())
        add_effect(NotifyOfJob{.job = job.head.id,
                               .workspace = job.head.workspace,
                               .name = job.head.name,
                               .url = job.head.hooks->notify,
                               .status = what,
                               .detail = detail,
                               .sequence = last_event_ + 1,
                               .at_micros = to_micros(now)},
                   out);
    record(job, std::move(what), std::move(detail), now, out);
}

void Plane::apply_one(const CancelJob& event, Instant now, Outcome& out) {
    LiveJob* job = live_job(event.workspace, event.name);
    if (job == nullptr) {
        if (event.stored && !is_being_deleted(event.workspace, event.name)) {
            out.replies.push_back({event.ticket, Answer{.job = event.stored}});
        } else {
            out.replies.push_back(
                {event.ticket, fail(ErrorCode::NotFound, "job '" + event.name + "' was not found")});
        }
        return;
    }
    const bool publishing = std::ranges::all_of(job->tasks, [&](const TaskRef& ref) {
        const TaskPhase phase = tasks_.at(ref).phase;
        return phase == TaskPhase::Ended || phase == TaskPhase::Lost;
    });
    if (job->head.status == JobStatus::Queued) {
        job->head.canceled_by = event.who;
        job->head.cancel_requested_at = now;
        const Job answer{.head = job->head};
        scheduler_.job_waits_no_more(job->head.pool, {-job->head.priority, job->head.id});
        conclude(*job, now, out);
        const auto ended = ended_jobs_.find(answer.head.id);
        out.replies.push_back({event.ticket, Answer{.job = Job{.head = ended->second}}});
        return;
    }
    if (job->head.status != JobStatus::CancelRequested && (!publishing || job->goes_again)) {
        job->head.canceled_by = event.who;
        job->head.cancel_requested_at = now;
        set_status(*job, JobStatus::CancelRequested, "asked by " + event.who, now, out);
        for (const TaskRef& ref : job->tasks) {
            const Task& task = tasks_.at(ref);
            if (task.phase != TaskPhase::Ended && task.phase != TaskPhase::Lost)
                send_stop_if_doomed(task, out);
        }
    }
    out.replies.push_back({event.ticket, Answer{.job = Job{.head = job->head}}});
}

void Plane::apply_one(const EditJob& event, Instant, Outcome& out) {
    if (!event.stored || is_being_deleted(event.workspace, event.name)) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::NotFound, "job '" + event.name + "' was not found")});
        return;
    }
    out.writes.metas_changed.push_back({event.stored->head.id, event.meta, event.properties});
    Job edited = *event.stored;
    edited.meta = event.meta;
    edited.body.properties = event.properties.value_or(edited.body.properties);
    out.replies.push_back({event.ticket, Answer{.job = std::move(edited)}});
}

bool Plane::is_being_deleted(const std::string& workspace, const std::string& name) const {
    return deleting_.contains(workspace + '\n' + name);
}

void Plane::apply_one(const DeleteJob& event, Instant now, Outcome& out) {
    const LiveJob* live = live_job(event.workspace, event.name);
    if (live != nullptr || ended_in_this_batch(event.workspace, event.name) != nullptr) {
        const std::string status(name_of(live != nullptr ? live->head.status : JobStatus::Finalizing));
        out.replies.push_back({event.ticket, fail(ErrorCode::Conflict,
                                                  "job '" + event.name + "' is " + status +
                                                      "; only a job that has ended can be deleted: cancel it"
                                                      " first, `lavant job cancel " +
                                                      event.name + "`, or wait for its end")});
        return;
    }
    if (!event.stored || is_being_deleted(event.workspace, event.name)) {
        out.replies.push_back(
            {event.ticket, fail(ErrorCode::NotFound, "job '" + event.name + "' was not found")});
        return;
    }
    const JobHead& head = event.stored->head;
    out.writes.jobs_removed.push_back({head.id, head.version});
    record(LiveJob{.head = head}, "Deleted", "by " + event.who, now, out);
    add_effect(DropJobFiles{head.id, head.workspace, head.name}, out);
    deleting_.insert(head.workspace + '\n' + head.name);
    out.replies.push_back({event.ticket, Answer{.job = event.stored}});
}

void Plane::apply_report(LiveNode& node, const TaskReport& report, Instant now, Outcome& out) {
    const auto found = tasks_.find(report.task);
    const bool wanted = found != tasks_.end() && found->second.node == node.row.id &&
                        found->second.phase != TaskPhase::Ended && found->second.phase != TaskPhase::Lost;
    if (!wanted) {  // The fence: an attempt that is not current, or an end that is committed already.
        out.sends.push_back({node.row.id, ForgetTask{report.task}});
        return;
    }
    Task& task = found->second;
    LiveJob& job = jobs_.at(task.ref.job);
    if (report.phase == TaskPhase::Running || report.ran_micros > 0)
        begin_running(job, node, now - Duration(report.ran_micros), out);
    if (report.phase == TaskPhase::Ended) return end_task(task, TaskPhase::Ended, report.end, now, out);
    if (report.phase <= task.phase) return;
    task.phase = report.phase;
    changed_tasks_.insert(task.ref);
    if (job.head.status == JobStatus::CancelRequested) return;
    const bool all_finalizing = std::ranges::all_of(
        job.tasks, [&](const TaskRef& ref) { return tasks_.at(ref).phase >= TaskPhase::Finalizing; });
    if (all_finalizing && job.head.status != JobStatus::Finalizing)
        set_status(job, JobStatus::Finalizing, "", now, out);
}

void Plane::begin_running(LiveJob& job, const LiveNode& node, Instant since, Outcome& out) {
    if (job.head.status != JobStatus::Preparing) return;
    // The agent tells for how long; its clock need not agree with ours.
    since = std::max(since, job.head.submitted_at);
    if (!job.head.started_at) job.head.started_at = since;
    set_status(job, JobStatus::Running, "on " + to_string(node.row.id), since, out);
}

void Plane::end_task(Task& task, TaskPhase phase, const TaskEnd& end, Instant now, Outcome& out) {
    out.sends.push_back({task.node, ForgetTask{task.ref}});  // If the node is gone: whoever keeps its links.
    // Of a lost one nobody knows how far it came.
    jobs_.at(task.ref.job).may_have_staged |=
        end.has_outputs || task.phase == TaskPhase::Finalizing || phase == TaskPhase::Lost;
    task.phase = phase;
    task.end = end;
    changed_tasks_.insert(task.ref);
    LiveJob& job = jobs_.at(task.ref.job);
    if (!job.first_failed && !end.succeeded() && end.reason != EndReason::Stopped)
        job.first_failed = task.ref;
    write_usage(task, job, now, out);
    const auto found = nodes_.find(task.node);
    if (found != nodes_.end() && found->second.tasks.erase(task.ref) > 0) {
        LiveNode& node = found->second;
        const bool left =
            std::ranges::none_of(node.tasks, [&](const TaskRef& other) { return other.job == task.ref.job; });
        if (left) scheduler_.job_leaves(task.ref.job, task.node);
        if (node.tasks.empty() && node.row.state == NodeState::Busy)
            set_state(node, NodeState::Idle, "", now, out);
        else if (node.tasks.empty())
            stop_when_empty(node, out);
    }
    settle_attempt(job, now, out);
}

const Task* Plane::failed_task(const LiveJob& job) const {
    if (job.first_failed) return &tasks_.at(*job.first_failed);
    const Task* failed = nullptr;
    for (const TaskRef& ref : job.tasks) {
        const Task& task = tasks_.at(ref);
        const bool ended = task.phase == TaskPhase::Ended || task.phase == TaskPhase::Lost;
        if (!ended || task.end.succeeded()) continue;
        // Tasks that we stopped because of another one are not the cause; a node that went may be.
        const bool better =
            failed != nullptr && is_nodes_fault(task.end.reason) && !is_nodes_fault(failed->end.reason);
        if (failed == nullptr || failed->end.reason == EndReason::Stopped || better) failed = &task;
    }
    return failed;
}

// Looks at an attempt after one of its tasks ended: stop the others, retry, publish, or conclude.
void Plane::settle_attempt(LiveJob& job, Instant now, Outcome& out) {
    const Task* failed = failed_task(job);
    bool all_ended = true;
    bool outputs = false;
    for (const TaskRef& ref : job.tasks) {
        const Task& task = tasks_.at(ref);
        const bool ended = task.phase == TaskPhase::Ended || task.phase == TaskPhase::Lost;
        all_ended = all_ended && ended;
        outputs = outputs || task.end.has_outputs;
        if (!ended) send_stop_if_doomed(task, out);
    }
    if (!all_ended) return;
    const bool canceled = job.head.cancel_requested_at.has_value();
    if (failed != nullptr && !canceled && may_retry(job.head.retry, failed->end) &&
        !runs_out_of_tries(job, *failed)) {
        // The next attempt finds the outputs as this one left them, and its logs elsewhere.
        const bool lost = std::ranges::any_of(
            job.tasks, [&](const TaskRef& ref) { return tasks_.at(ref).phase == TaskPhase::Lost; });
        job.goes_again = true;
        add_effect(
            PublishOutputs{job.head.id, job.head.workspace, job.head.name, job.head.attempt, true, lost},
            out);
        return;
    }
    if (!outputs) return conclude(job, now, out);
    if (!canceled && job.head.status != JobStatus::Finalizing)
        set_status(job, JobStatus::Finalizing, "", now, out);
    add_effect(PublishOutputs{job.head.id, job.head.workspace, job.head.name, job.head.attempt}, out);
}

bool Plane::runs_out_of_tries(const LiveJob& job, const Task& failed) const {
    if (job.head.retry.retries_max == 0) return true;  // It must not run twice, whatever happens.
    if (is_nodes_fault(failed.end.reason)) return job.head.preemptions >= limits::kLostAttempts;
    return job.head.retries_used >= job.head.retry.retries_max;
}

void Plane::requeue(LiveJob& job, Instant now, Outcome& out) {
    const Task* failed = failed_task(job);
    CHECK(failed != nullptr, "an attempt is followed by another because a task of it failed");
    const EndReason reason = failed->end.reason;
    std::string why = "again after " + std::string(name_of(reason));
    if (is_nodes_fault(reason)) {
        ++job.head.preemptions;
    } else {
        ++job.head.retries_used;
        why = "retry " + std::to_string(job.head.retries_used) + " of " +
              std::to_string(job.head.retry.retries_max) + " after " + std::string(name_of(reason));
    }
    job.goes_again = false;
    forget_attempt(job, out);
    ++job.head.attempt;
    set_status(job, JobStatus::Queued, std::move(why), now, out);
    scheduler_.job_waits(ask_of(job.head));
}

// Each rank has a log of its own.
static void name_rank(JobError& error, int rank) {
    constexpr std::string_view kLog = "user_logs/std_log.txt";
    const std::string number = std::to_string(rank);
    if (const std::size_t at = error.message.find(kLog); at != std::string::npos)
        error.message.replace(at, kLog.size(), "user_logs/std_log_process_" + number + ".txt");
    error.message = "rank " + number + ": " + error.message;
}

// The job ends: every task has ended and what they made is in its place, or cannot be put there (which
// `head.error` tells). `job` is gone when this returns.
void Plane::conclude(LiveJob& job, Instant now, Outcome& out) {
    const Task* failed = failed_task(job);
    JobHead& head = job.head;
    JobStatus status = head.error ? JobStatus::Failed : JobStatus::Completed;
    if (head.cancel_requested_at) {
        status = JobStatus::Canceled;
    } else if (failed != nullptr) {
        status = JobStatus::Failed;
        const std::string unpublished = head.error ? "; " + head.error->message : "";
        head.error = explain_failure(failed->end, to_string(failed->node));
        if (head.instances * head.demand.processes > 1) name_rank(*head.error, failed->ref.index);
        head.error->message += unpublished;
    }
    for (const TaskRef& ref : job.tasks) {
        const Usage& usage = tasks_.at(ref).end.usage;
        head.usage.cpu_micros += usage.cpu_micros;
        head.usage.memory_peak_bytes = std::max(head.usage.memory_peak_bytes, usage.memory_peak_bytes);
        head.usage.wall_micros = std::max(head.usage.wall_micros, usage.wall_micros);
    }
    head.ended_at = now;
    head.warning = status == JobStatus::Completed ? head.warning : "";
    const std::string detail = head.error ? head.error->message : "";
    if (status != JobStatus::Failed) head.error.reset();
    set_status(job, status, detail, now, out);
    forget_attempt(job, out);
    forget_name(head);
    LivePool& pool = pools_.at(head.pool);
    if (--pool.jobs == 0) emptied_pools_.insert(head.pool);
    if (status == JobStatus::Completed && head.started_at) {
        const Duration length = now - *head.started_at;
        pool.usual_length = pool.usual_length ? (*pool.usual_length * 3 + length) / 4 : length;
    }
    head.queue_warning.clear();
    if (status == JobStatus::Completed && head.hooks && head.hooks->registers_outputs)
        out.completed.push_back(head);
    ended_jobs_[head.id] = head;
    jobs_.erase(head.id);
}

void Plane::set_status(LiveJob& job, JobStatus status, std::string detail, Instant now, Outcome& out) {
    job.head.status = status;
    changed_jobs_.insert(job.head.id);
    announce(job, std::string(name_of(status)), std::move(detail), now, out);
}

void Plane::forget_attempt(LiveJob& job, Outcome& out) {
    for (const TaskRef& ref : job.tasks) {
        if (changed_tasks_.erase(ref) > 0) ended_tasks_[ref] = tasks_.at(ref);
        tasks_.erase(ref);
    }
    job.tasks.clear();
    job.first_failed.reset();
    if (job.head.port > 0) ports_.erase(std::exchange(job.head.port, 0));
    if (std::exchange(job.may_have_staged, false))
        add_effect(DropStaged{job.head.id, job.head.attempt, job.head.workspace}, out);
}

}  // namespace lavant::plane
