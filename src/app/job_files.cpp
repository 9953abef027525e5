#include "app/job_files.h"

#include "base/log.h"
#include "core/model/workspace.h"

namespace lavant::app {
namespace {

constexpr std::string_view kRuns = "ExperimentRun/dcid.";
constexpr std::string_view kLifecycle = "system_logs/lifecycle.txt";
constexpr std::string_view kLogs = "user_logs/";

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

Result<void> drop_job_files(ports::BlobStore& blobs, const std::string& job_name) {
    const std::string artifacts = artifact_prefix(job_name);
    const std::string outputs = output_prefix(job_name);
    LAVANT_TRY_VOID(blobs.remove_folder(kArtifactContainer, artifacts.substr(0, artifacts.size() - 1)));
    return blobs.remove_folder(kBlobContainer, outputs.substr(0, outputs.size() - 1));
}

// A file that only grows: one that is at least as long is up to date.
Result<void> JobFiles::keep(const std::string& blob, std::string_view text) const {
    LAVANT_TRY(const auto kept, blobs_.find(kArtifactContainer, blob));
    if (text.empty() || (kept && kept->bytes >= text.size())) return {};
    LAVANT_TRY_VOID(blobs_.put_bytes(kArtifactContainer, blob, text));
    return {};
}

// `at` is what is looked at below the job's folder.
Result<void> JobFiles::refresh_below(const std::string& job_name, std::string_view at) const {
    const bool lifecycle = kLifecycle.starts_with(at);
    const bool logs = kLogs.starts_with(at) || at.starts_with(kLogs);
    if (!lifecycle && !logs) return {};
    LAVANT_TRY(const auto job, reader_.find_job(workspace_, job_name));
    if (!job) return {};
    LAVANT_TRY_VOID(keep_of_job(*job, lifecycle, logs));
    // Deleted while we wrote: its files may have gone before ours came.
    LAVANT_TRY(const auto now, reader_.find_job(workspace_, job_name));
    if (now && now->head.id == job->head.id) return {};
    if (lifecycle)
        LAVANT_TRY_VOID(
            blobs_.remove(kArtifactContainer, artifact_prefix(job_name) + std::string(kLifecycle)));
    if (logs)
        LAVANT_TRY_VOID(blobs_.remove(kArtifactContainer,
                                      artifact_prefix(job_name) + std::string(kLogs) + "std_log.txt"));
    return {};
}

Result<void> JobFiles::keep_of_job(const Job& job, bool lifecycle, bool logs) const {
    const std::string folder = artifact_prefix(job.head.name);
    if (lifecycle) {
        LAVANT_TRY(const auto events, reader_.list_job_events(job.head.id));
        // Of an old job's history the beginning may be gone: a file that has it is better.
        const bool whole = !events.empty() && events.front().what == name_of(JobStatus::Queued);
        LAVANT_TRY(const auto kept, blobs_.find(kArtifactContainer, folder + std::string(kLifecycle)));
        if (whole || !kept) LAVANT_TRY_VOID(keep(folder + std::string(kLifecycle), render_lifecycle(events)));
    }
    if (!logs) return {};
    LAVANT_TRY(const auto tasks, reader_.list_tasks(job.head.id));
    for (const Task& task : tasks) {
        if (task.end.log.empty() || task.ref.index != 0) continue;
        // Read after the task: a commit between may have ended it and begun the next attempt.
        LAVANT_TRY(const auto now, reader_.find_job(workspace_, job.head.name));
        const bool older = now && task.ref.attempt < now->head.attempt;
        const std::string aside = older ? "attempt_" + std::to_string(task.ref.attempt) + "/" : "";
        LAVANT_TRY_VOID(keep(folder + std::string(kLogs) + aside + "std_log.txt", task.end.log));
    }
    return {};
}

void JobFiles::refresh(std::string_view container, std::string_view blob) const {
    if (container != kArtifactContainer || !blob.starts_with(kRuns)) return;
    blob.remove_prefix(kRuns.size());
    const std::size_t slash = blob.find('/');
    if (slash == std::string_view::npos) return;  // no job's in particular
    const std::string job(blob.substr(0, slash));
    if (const Result<void> done = refresh_below(job, blob.substr(slash + 1)); !done)
        log(Level::Warning, "job_files_not_written", {{"job", job}, {"error", done.error().message}});
}

}  // namespace lavant::app
