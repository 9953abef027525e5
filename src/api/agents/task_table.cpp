#include "api/agents/task_table.h"

#include <algorithm>

#include "app/workspace_rows.h"
#include "core/model/workspace.h"
#include "ports/blobs.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

struct Place {
    std::string container;
    std::string_view path;
};

// azureml://[...]datastores/NAME/paths/PATH of the datastores that the job may use.
std::optional<Place> place_of(const Launch& launch, std::string_view uri) {
    if (!uri.starts_with("azureml://")) return std::nullopt;
    const std::size_t at = uri.find("datastores/");
    if (at == std::string_view::npos) return std::nullopt;
    uri.remove_prefix(at + std::string_view("datastores/").size());
    const std::size_t slash = uri.find('/');
    if (slash == std::string_view::npos || !uri.substr(slash).starts_with("/paths/")) return std::nullopt;
    const std::string_view store = uri.substr(0, slash);
    std::string_view path = uri.substr(slash + 7);
    while (path.starts_with('/')) path.remove_prefix(1);
    std::string container = container_of(launch, std::string(store));
    if (container.empty()) return std::nullopt;
    return Place{std::move(container), path};
}

// The blob itself, or anything below it as a folder.
bool lies_in(std::string_view path, std::string_view place) {
    while (place.ends_with('/')) place.remove_suffix(1);
    if (!path.starts_with(place)) return false;
    return place.empty() || path.size() == place.size() || path[place.size()] == '/';
}

bool is_named_output(const Launch& launch, std::string_view container, std::string_view path) {
    return std::ranges::any_of(launch.outputs, [&](const LaunchOutput& output) {
        const std::optional<Place> place = place_of(launch, output.uri);
        return place && !place->path.empty() && place->container == container && lies_in(path, place->path);
    });
}

bool needs(const Launch& launch, std::string_view container, std::string_view path) {
    const std::string_view code = launch.code_uri;
    const std::size_t slash = code.find('/');
    if (!code.empty() && container == code.substr(0, slash) &&
        lies_in(path, slash == std::string_view::npos ? "" : code.substr(slash + 1)))
        return true;
    return std::ranges::any_of(launch.inputs, [&](const LaunchInput& input) {
        if (input.type == "literal") return false;
        const std::optional<Place> place = place_of(launch, input.value);
        return place && place->container == container && lies_in(path, place->path);
    });
}

// A later attempt carries on with what the ones before it left; a first one has nothing to carry on with.
bool carries_on(const HeldTask& task, std::string_view container, std::string_view path) {
    if (task.ref.attempt <= 1) return false;
    return (container == artifact_container(task.workspace) &&
            lies_in(path, artifact_prefix(task.job_name) + "outputs")) ||
           is_named_output(*task.launch, container, path);
}

}  // namespace

Result<void> TaskTable::restore() {
    std::map<TaskRef, HeldTask> current;
    LAVANT_TRY(const std::vector<std::string> workspaces, app::list_workspace_keys(reader_));
    for (const std::string& workspace : workspaces) LAVANT_TRY_VOID(load_current(workspace, current));
    const std::scoped_lock lock(mutex_);
    for (auto& [ref, task] : current)  // What is known of one that stays is worth more.
        if (const auto known = tasks_.find(ref); known != tasks_.end()) task = std::move(known->second);
    tasks_ = std::move(current);
    return {};
}

Result<void> TaskTable::load_current(const std::string& workspace,
                                     std::map<TaskRef, HeldTask>& current) const {
    for (const JobStatus status :
         {JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing, JobStatus::CancelRequested}) {
        ports::JobQuery query{
            .workspace = workspace, .archived = std::nullopt, .status = std::string(name_of(status))};
        while (true) {
            LAVANT_TRY(const std::vector<Job> jobs, reader_.list_jobs(query));
            for (const Job& job : jobs) {
                LAVANT_TRY(const std::vector<Task> tasks, reader_.list_tasks(job.head.id));
                for (const Task& task : tasks) {
                    const bool over = task.phase == TaskPhase::Ended || task.phase == TaskPhase::Lost;
                    if (over || task.ref.attempt != job.head.attempt) continue;
                    current.try_emplace(task.ref, HeldTask{.ref = task.ref,
                                                           .node = task.node,
                                                           .workspace = workspace,
                                                           .job_name = job.head.name});
                }
            }
            if (jobs.size() < static_cast<std::size_t>(query.limit)) break;
            query.before_id = jobs.back().head.id.value;
        }
    }
    return {};
}

void TaskTable::started(NodeId node, const StartTask& start) {
    Result<Launch> launch = wire::decode_launch(start.launch);
    if (!launch) return;  // Its logs and files would have no place; the agent will fail to prepare it, too.
    const std::scoped_lock lock(mutex_);
    // A newer attempt shuts the older ones out.
    auto it = tasks_.lower_bound(TaskRef{start.task.job, 0, 0});
    while (it != tasks_.end() && it->first.job == start.task.job && it->first.attempt < start.task.attempt)
        it = tasks_.erase(it);
    const auto shared = std::make_shared<const Launch>(std::move(*launch));
    const auto [slot, is_new] = tasks_.try_emplace(start.task);
    slot->second.ref = start.task;
    slot->second.node = node;
    slot->second.workspace = shared->workspace.empty() ? kDefaultWorkspace : shared->workspace;
    slot->second.job_name = shared->job_name;
    slot->second.is_new = is_new;
    slot->second.launch = shared;
}

void TaskTable::forgotten(TaskRef task) {
    const std::scoped_lock lock(mutex_);
    tasks_.erase(task);
}

std::set<JobId> TaskTable::released(NodeId node) {
    const std::scoped_lock lock(mutex_);
    std::set<JobId> jobs;
    std::erase_if(tasks_, [&](const auto& entry) {
        if (entry.second.node != node) return false;
        jobs.insert(entry.first.job);
        return true;
    });
    return jobs;
}

std::size_t TaskTable::size() const {
    const std::scoped_lock lock(mutex_);
    return tasks_.size();
}

std::optional<HeldTask> TaskTable::find(TaskRef task, NodeId node) const {
    const std::scoped_lock lock(mutex_);
    const auto found = tasks_.find(task);
    if (found == tasks_.end() || found->second.node != node) return std::nullopt;
    return found->second;
}

std::optional<HeldTask> TaskTable::find_attempt(JobId job, int attempt, NodeId node) {
    std::optional<HeldTask> held;
    {
        const std::scoped_lock lock(mutex_);
        for (auto it = tasks_.lower_bound(TaskRef{job, attempt, 0});
             it != tasks_.end() && it->first.job == job && it->first.attempt == attempt && !held; ++it) {
            if (it->second.node == node) held = it->second;
        }
    }
    if (held && !held->launch) load_launch(*held);
    if (held && !held->launch) return std::nullopt;
    return held;
}

bool TaskTable::may_read(NodeId node, std::string_view container, std::string_view path) {
    if (ports::is_staged(path)) return false;  // Nobody's yet.
    std::vector<HeldTask> held;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [ref, task] : tasks_) {
            if (task.node == node) held.push_back(task);
        }
    }
    return std::ranges::any_of(held, [&](HeldTask& task) {
        if (!task.launch) load_launch(task);
        return task.launch && (needs(*task.launch, container, path) || carries_on(task, container, path));
    });
}

bool TaskTable::may_write(const HeldTask& task, std::string_view container, std::string_view path) {
    const std::string own = artifact_prefix(task.job_name);
    if (container == artifact_container(task.workspace) &&
        (path.starts_with(own + "outputs/") || path.starts_with(own + "logs/")))
        return true;
    return task.launch && is_named_output(*task.launch, container, path);
}

// Read again for each request after a restart of the server: rare, and not worth a place to keep it.
void TaskTable::load_launch(HeldTask& task) const {
    const Result<std::optional<Job>> job = reader_.find_job(task.workspace, task.job_name);
    if (!job || !*job) return;
    Result<Launch> launch = wire::decode_launch((*job)->body.launch);
    if (launch) task.launch = std::make_shared<const Launch>(std::move(*launch));
}

bool TaskTable::has_job(JobId job) const {
    const std::scoped_lock lock(mutex_);
    const auto found = tasks_.lower_bound(TaskRef{job, 0, 0});
    return found != tasks_.end() && found->first.job == job;
}

}  // namespace lavant::api
