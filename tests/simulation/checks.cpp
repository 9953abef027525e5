// What must hold after every step, and what must have come about at the end.

#include "tests/simulation/world.h"

namespace lavant::simulation {

void World::check_running(JobId job) {
    std::set<int> attempts;
    std::string where;
    for (const auto& [id, node] : nodes_) {
        if (!node->machine_up || node->suspended) continue;
        // Without an agent nobody ends its tasks when the lease is over: what is promised holds until then.
        constexpr Duration kLease = std::chrono::seconds(600);
        if (!node->agent && (!node->heard_at || now_ > *node->heard_at + kLease)) continue;
        for (const auto& [ref, process] : node->spool)
            if (ref.job == job && process.launched && !process.dead) {
                attempts.insert(ref.attempt);
                where += " " + std::to_string(ref.attempt) + " on " + to_string(id);
            }
    }
    if (attempts.size() > 1)
        fail("two attempts of job " + std::to_string(job.value) + " run at once:" + where);
}

void World::check_step() {
    const Result<std::vector<HistoryEvent>> events = store_.list_events(events_seen_, 10'000);
    for (const HistoryEvent& event : *events) {
        events_seen_ = event.sequence;
        if (event.kind == "node") check_node_event(event);
        if (event.kind != "job") continue;
        if (event.what == "Deleted") {
            if (terminal_[event.job] == 0) return fail(event.subject + " was deleted before its end");
            continue;
        }
        const std::optional<JobStatus> status = parse_job_status(event.what);
        if (!status) return fail("an event that is no status: " + event.what);
        if (terminal_[event.job] > 0)
            return fail("something happened to " + event.subject + " after its end");
        if (is_terminal(*status)) {
            ++terminal_[event.job];
            final_status_[event.subject] = *status;
        }
    }
    if (report_.steps % 16 != 0 || loop_->is_lost()) return;
    const LiveRows live = loop_->plane().rows();
    const LiveRows stored = *store_.load_live();
    if (live.jobs != stored.jobs) fail("the live jobs differ from the table");
    if (live.tasks != stored.tasks) fail("the live tasks differ from the table");
    if (live.nodes != stored.nodes) fail("the live nodes differ from the table");
    if (live.pools != stored.pools) fail("the live pools differ from the table");
    if (live.outbox != stored.outbox) fail("the outbox differs from the table");
    if (live.quotas != stored.quotas || live.locks != stored.locks)
        fail("quotas or locks differ from the table");
    if (live != stored) fail("the live index differs from the tables");
    Resources promised;
    for (const Node& node : live.nodes) promised += node.cost;
    if (!promised.fits_in({.cpu_millis = 5000, .memory_bytes = 50})) fail("more is promised than there is");
    check_computes(live);
}

// A short log comes with the report of its task's end, and is in its row.
std::uint64_t World::reported_log_bytes(TaskRef ref) {
    const Result<std::vector<Task>> tasks = store_.list_tasks(ref.job);
    for (const Task& task : *tasks)
        if (task.ref == ref) return task.end.log.size();
    return 0;
}

void World::check_end() {
    for (const Asked& asked : asked_) {
        const Result<std::optional<Job>> found = store_.find_job("w", asked.name);
        if (!asked.acknowledged) {
            fail("the submission of " + asked.name + " was never acknowledged");
            continue;
        }
        if (asked.deleted) {
            if (found->has_value()) fail("deleted and still there: " + asked.name);
            if (files_.contains(asked.name)) fail("deleted, and its files are still there: " + asked.name);
            continue;
        }
        if (!found->has_value()) {
            fail("acknowledged and lost: " + asked.name);
            continue;
        }
        const JobHead& head = (*found)->head;
        if (!is_terminal(head.status)) {
            fail(asked.name + " is still " + std::string(name_of(head.status)));
            continue;
        }
        if (final_status_[asked.name] != head.status) fail("history and table differ about " + asked.name);
        if (head.status != JobStatus::Completed) continue;
        for (int index = 0; index < head.instances * head.demand.processes; ++index) {
            const TaskRef ref{head.id, head.attempt, index};
            if (std::max(log_durable_[ref], reported_log_bytes(ref)) != produced_[ref])
                fail("log lines of " + asked.name + " are missing");
        }
        const bool outputs = head.id.value % 3 == 0;
        if (can_never_publish(head.id)) fail(asked.name + " is Completed without its outputs");
        if (outputs && !published_[head.id].contains(head.attempt))
            fail("outputs of " + asked.name + " are missing");
        if (outputs && files_[asked.name] != head.id) fail("the files of " + asked.name + " are gone");
    }
    for (const auto& [id, node] : nodes_)
        if (node->machine_up) fail(to_string(id) + " is still there");
    if (!loop_->plane().rows().nodes.empty()) fail("the plane still has nodes");
    if (!loop_->plane().outbox().empty()) fail("the outbox is not empty");
}

}  // namespace lavant::simulation
