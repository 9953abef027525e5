#include "app/job_files.h"

#include "base/log.h"
#include "core/model/workspace.h"

namespace lavant::app {
namespace {

constexpr std::string_view kRuns = "ExperimentRun/dcid.";
constexpr std::string_view kLifecycle = "system_logs/lifecycle.txt";
constexpr std::string_view kLogs = "user_logs/";
constexpr std::string_view kLogName = "std_log";  // and what follows: ".txt", "_process_3.txt"

std::string aside_of(int attempt) { return "attempt_" + std::to_string(attempt) + "/"; }

}  // namespace

std::string render_lifecycle(const std::vector<HistoryEvent>& events) {
    std::string text;
    for (const HistoryEvent& event : events) {
        text += to_rfc3339(event.at) + " " + event.what;
        if (!event.detail.empty()) text += " " + event.detail;
        text += '\n';
    }
    return text;
}

Result<void> drop_job_files(ports::BlobStore& blobs, const std::string& workspace,
                            const std::string& job_name) {
    const std::string artifacts = artifact_prefix(job_name);
    const std::string outputs = output_prefix(job_name);
    LAVANT_TRY_VOID(
        blobs.remove_folder(artifact_container(workspace), artifacts.substr(0, artifacts.size() - 1)));
    return blobs.remove_folder(blob_container(workspace), outputs.substr(0, outputs.size() - 1));
}

Result<void> set_logs_aside(ports::BlobStore& blobs, const std::string& workspace,
                            const std::string& job_name, int attempt) {
    const std::string container = artifact_container(workspace);
    const std::string folder = artifact_prefix(job_name) + std::string(kLogs);
    ports::BlobListing listing{
        .container = container, .prefix = folder + std::string(kLogName), .delimiter = "/"};
    std::vector<std::string> logs;  // listed as a whole before any is moved
    do {
        LAVANT_TRY(const ports::BlobPage page, blobs.list(listing));
        for (const ports::BlobInfo& blob : page.blobs) logs.push_back(blob.name);
        listing.marker = page.next_marker;
    } while (!listing.marker.empty());
    for (const std::string& log : logs) {
        const std::string aside = folder + aside_of(attempt) + log.substr(folder.size());
        LAVANT_TRY(const auto now, blobs.find(container, log));
        LAVANT_TRY(const auto before, blobs.find(container, aside));
        // The beginning of a log that lies there already: late bytes of a node that was given up.
        const bool known = now && before && before->bytes >= now->bytes;
        LAVANT_TRY_VOID(known ? blobs.remove(container, log) : blobs.publish(container, log, aside));
    }
    return {};
}

// A file that only grows: one that is at least as long is up to date.
Result<void> JobFiles::keep(const std::string& container, const std::string& blob,
                            std::string_view text) const {
    LAVANT_TRY(const auto kept, blobs_.find(container, blob));
    if (text.empty() || (kept && kept->bytes >= text.size())) return {};
    LAVANT_TRY_VOID(blobs_.put_bytes(container, blob, text));
    return {};
}

// `at` is what is looked at below the job's folder.
Result<void> JobFiles::refresh_below(const std::string& workspace, const std::string& job_name,
                                     std::string_view at) const {
    const bool lifecycle = kLifecycle.starts_with(at);
    const bool logs = kLogs.starts_with(at) || at.starts_with(kLogs);
    if (!lifecycle && !logs) return {};
    LAVANT_TRY(const auto job, reader_.find_job(workspace, job_name));
    if (!job) return {};
    LAVANT_TRY(const std::vector<std::string> kept, keep_of_job(*job, lifecycle, logs));
    // Deleted while we wrote: its files may have gone before ours came.
    LAVANT_TRY(const auto now, reader_.find_job(workspace, job_name));
    if (now && now->head.id == job->head.id) return {};
    const std::string container = artifact_container(workspace);
    for (const std::string& blob : kept) {
        const Result<void> removed = blobs_.remove(container, blob);
        if (!removed && removed.error().code != ErrorCode::NotFound) return removed;
    }
    return {};
}

Result<std::vector<std::string>> JobFiles::keep_of_job(const Job& job, bool lifecycle, bool logs) const {
    std::vector<std::string> names;
    const std::string folder = artifact_prefix(job.head.name);
    const std::string container = artifact_container(job.head.workspace);
    if (lifecycle) {
        LAVANT_TRY(const auto events, reader_.list_job_events(job.head.id));
        // Of an old job's history the beginning may be gone: a file that has it is better.
        const bool whole = !events.empty() && events.front().what == name_of(JobStatus::Queued);
        LAVANT_TRY(const auto kept, blobs_.find(container, folder + std::string(kLifecycle)));
        names.push_back(folder + std::string(kLifecycle));
        if (whole || !kept) LAVANT_TRY_VOID(keep(container, names.back(), render_lifecycle(events)));
    }
    if (!logs) return names;
    LAVANT_TRY(const auto tasks, reader_.list_tasks(job.head.id));
    for (const Task& task : tasks) {
        if (task.end.log.empty() || task.ref.index != 0) continue;
        // Read after the task: a commit between may have ended it and begun the next attempt.
        LAVANT_TRY(const auto now, reader_.find_job(job.head.workspace, job.head.name));
        const bool older = now && task.ref.attempt < now->head.attempt;
        // An attempt that has ended in a job that has not: another one may follow at any moment, whose log
        // has this one's place.
        if (!now || (!older && !is_terminal(now->head.status))) continue;
        names.push_back(folder + std::string(kLogs) + (older ? aside_of(task.ref.attempt) : "") +
                        std::string(kLogName) + ".txt");
        LAVANT_TRY_VOID(keep(container, names.back(), task.end.log));
    }
    return names;
}

void JobFiles::refresh(std::string_view container, std::string_view blob) const {
    const std::optional<std::string_view> workspace = workspace_of_artifacts(container);
    if (!workspace || !blob.starts_with(kRuns)) return;
    blob.remove_prefix(kRuns.size());
    const std::size_t slash = blob.find('/');
    if (slash == std::string_view::npos) return;  // no job's in particular
    const std::string job(blob.substr(0, slash));
    if (const Result<void> done = refresh_below(std::string(*workspace), job, blob.substr(slash + 1)); !done)
        log(Level::Warning, "job_files_not_written", {{"job", job}, {"error", done.error().message}});
}

}  // namespace lavant::app
