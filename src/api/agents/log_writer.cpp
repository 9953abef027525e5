#include "api/agents/log_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "core/model/workspace.h"

namespace lavant::api {
namespace {

constexpr const char* kAttemptKey = "attempt";

bool is_log_name(std::string_view name) {
    if (!name.starts_with("user_logs/") || name.size() > 200) return false;
    name.remove_prefix(10);
    return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != ".." &&
           name.find('\0') == std::string_view::npos;
}

}  // namespace

LogWriter::LogWriter(ports::BlobStore& blobs, const TaskTable& tasks, LogWriterSettings settings)
    : blobs_(blobs), tasks_(tasks), settings_(settings) {
    for (int i = 0; i < settings_.threads; ++i) threads_.emplace_back([this] { work(); });
}

LogWriter::~LogWriter() {
    {
        const std::scoped_lock lock(mutex_);
        ending_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

bool LogWriter::write(NodeId node, LogBytes bytes, Durable durable) {
    const JobId job = bytes.task.job;
    {
        const std::scoped_lock lock(mutex_);
        if (waiting_bytes_ + bytes.bytes.size() > settings_.waiting_bytes) return false;
        waiting_bytes_ += bytes.bytes.size();
        JobLog& log = jobs_[job];
        log.waiting.push_back({node, std::move(bytes), std::move(durable)});
        if (log.busy) return true;
        log.busy = true;
        ready_.push_back([this, job] {
            std::unique_lock inner(mutex_);
            write_all_of(job, inner);
        });
    }
    arrived_.notify_one();
    return true;
}

void LogWriter::run(std::function<void()> work) {
    {
        const std::scoped_lock lock(mutex_);
        ready_.push_back(std::move(work));
    }
    arrived_.notify_one();
}

void LogWriter::forget(JobId job) {
    const std::scoped_lock lock(mutex_);
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) return;
    if (found->second.busy) {
        found->second.forgotten = true;
    } else {
        jobs_.erase(found);
    }
}

void LogWriter::forget_ended() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(jobs_,
                  [this](const auto& entry) { return !entry.second.busy && !tasks_.has_job(entry.first); });
}

std::size_t LogWriter::jobs() const {
    const std::scoped_lock lock(mutex_);
    return jobs_.size();
}

void LogWriter::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        arrived_.wait(lock, [this] { return ending_ || !ready_.empty(); });
        if (ending_) return;
        const std::function<void()> next = std::move(ready_.front());
        ready_.pop_front();
        lock.unlock();
        next();
        lock.lock();
    }
}

void LogWriter::write_all_of(JobId job, std::unique_lock<std::mutex>& lock) {
    JobLog& log = jobs_.at(job);  // stays where it is: a busy log is not erased
    while (!log.waiting.empty() && !ending_) {
        Chunk chunk = std::move(log.waiting.front());
        log.waiting.pop_front();
        lock.unlock();
        write_one(log, chunk);
        lock.lock();
        waiting_bytes_ -= chunk.bytes.bytes.size();
    }
    log.busy = false;
    if (log.forgotten || !tasks_.has_job(job)) jobs_.erase(job);
}

void LogWriter::write_one(JobLog& log, Chunk& chunk) {
    const std::uint64_t end = chunk.bytes.offset + chunk.bytes.bytes.size();
    const std::optional<HeldTask> task = tasks_.find(chunk.bytes.task, chunk.node);
    LogDurable answer{chunk.bytes.task, chunk.bytes.file, end};
    if (task && is_log_name(chunk.bytes.file)) {
        const Result<std::uint64_t> durable = store(log, *task, chunk.bytes);
        if (!durable) {  // Not acknowledged: the agent keeps the bytes and sends them again.
            lavant::log(Level::Error, "log_not_written",
                        {{"job", task->job_name}, {"error", durable.error().message}});
            return;
        }
        answer.bytes = *durable;
        tell(*task);
    }
    chunk.durable(std::move(answer));
}

// Returns how much of the stream is safe.
Result<std::uint64_t> LogWriter::store(JobLog& log, const HeldTask& task, const LogBytes& bytes) {
    const std::string blob = artifact_prefix(task.job_name) + bytes.file;
    auto found = log.files.find(bytes.file);
    if (found == log.files.end() || found->second.attempt != task.ref.attempt) {
        LAVANT_TRY(const LogFile opened, open(task, blob));
        found = log.files.insert_or_assign(bytes.file, opened).first;
    }
    LogFile& file = found->second;
    const std::uint64_t end = bytes.offset + bytes.bytes.size();
    if (file.cut) return end;
    if (bytes.offset > file.bytes || end <= file.bytes) return file.bytes;  // a gap, or nothing new
    const std::string_view fresh = std::string_view(bytes.bytes).substr(file.bytes - bytes.offset);
    LAVANT_TRY_VOID(append_within_limit(artifact_container(task.workspace), file, blob, fresh));
    return end;
}

Result<void> LogWriter::append_within_limit(const std::string& container, LogFile& file,
                                            const std::string& blob, std::string_view bytes) const {
    const std::uint64_t room = settings_.job_log_bytes - std::min(file.bytes, settings_.job_log_bytes);
    if (bytes.size() <= room) {
        LAVANT_TRY_VOID(blobs_.append(container, blob, file.bytes, bytes));
        file.bytes += bytes.size();
        return {};
    }
    const std::string last = std::string(bytes.substr(0, room)) +
                             "\nlavant: the log was cut here: a job's log may have " +
                             std::to_string(settings_.job_log_bytes >> 20) + " MB\n";
    LAVANT_TRY_VOID(blobs_.append(container, blob, file.bytes, last));
    file.bytes += last.size();
    file.cut = true;
    return {};
}

// How the log stands, when this process first writes to it for this attempt.
Result<LogWriter::LogFile> LogWriter::open(const HeldTask& task, const std::string& blob) const {
    LogFile file{.attempt = task.ref.attempt};
    const std::string container = artifact_container(task.workspace);
    if (task.is_new && task.ref.attempt <= 1) return file;
    LAVANT_TRY(const std::optional<ports::BlobInfo> info, blobs_.find(container, blob));
    int owner = 1;
    if (info) {
        const auto kept = info->metadata.find(kAttemptKey);
        if (kept != info->metadata.end()) owner = static_cast<int>(parse_integer(kept->second).value_or(1));
    }
    if (info && owner == task.ref.attempt) {
        file.bytes = info->bytes;
        file.cut = info->bytes > settings_.job_log_bytes;
        return file;
    }
    if (info) LAVANT_TRY_VOID(set_older_aside(task, blob, owner));
    if (task.ref.attempt <= 1) return file;
    // Whose log it is must be known after a restart, too; the first attempt's needs no mark.
    LAVANT_TRY_VOID(blobs_.append(container, blob, 0, ""));
    LAVANT_TRY_VOID(blobs_.set_metadata(container, blob, {{kAttemptKey, std::to_string(task.ref.attempt)}}));
    return file;
}

Result<void> LogWriter::set_older_aside(const HeldTask& task, const std::string& blob, int older) const {
    const std::string container = artifact_container(task.workspace);
    const std::string prefix = artifact_prefix(task.job_name) + "user_logs/";
    const std::string aside = prefix + "attempt_" + std::to_string(older) + "/" + blob.substr(prefix.size());
    // By a second name, which the store takes: the store itself must drop the first one, as it may hold it
    // open.
    const std::string second = blobs_.temporary_folder() + "/log-" + std::to_string(task.ref.job.value) +
                               "-" + std::to_string(task.ref.index);
    (void)::unlink(second.c_str());
    if (::link(blobs_.path_of(container, blob).c_str(), second.c_str()) != 0)
        return fail(system_error("cannot set the log of an older attempt aside", errno));
    const auto moved = blobs_.put(container, aside, second, {}, /*only_if_absent=*/true);
    if (!moved) (void)::unlink(second.c_str());
    if (!moved && moved.error().code != ErrorCode::AlreadyExists) return fail(moved.error());
    return blobs_.remove(container, blob);
}

LogSource::Watch LogWriter::watch(const std::string& workspace, const std::string& job,
                                  std::function<void()> grown) {
    const std::scoped_lock lock(mutex_);
    watchers_[++last_watch_] = std::make_shared<const Watcher>(workspace + "/" + job, std::move(grown));
    return last_watch_;
}

void LogWriter::unwatch(Watch watch) {
    const std::scoped_lock lock(mutex_);
    watchers_.erase(watch);
}

void LogWriter::tell(const HeldTask& task) {
    std::vector<std::pair<Watch, std::shared_ptr<const Watcher>>> called;
    {
        const std::scoped_lock lock(mutex_);
        if (watchers_.empty()) return;
        const std::string job = task.workspace + "/" + task.job_name;
        for (const auto& [id, watcher] : watchers_) {
            if (watcher->job == job) called.emplace_back(id, watcher);
        }
    }
    for (const auto& [id, watcher] : called) watcher->grown();
}

}  // namespace lavant::api
