#pragma once
// Writes what agents ship of their tasks' logs, durably and away from the I/O threads, and tells followers.
// Chunks of one job are written one after the other, those of different jobs side by side.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/agents/task_table.h"
#include "api/log_source.h"
#include "base/limits.h"
#include "ports/blobs.h"

namespace lavant::api {

struct LogWriterSettings {
    std::uint64_t job_log_bytes = limits::kJobLogBytes;
    std::uint64_t waiting_bytes = 256U << 20;  // over all nodes; more is refused
    int threads = 3;
};

class LogWriter final : public LogSource {
 public:
    using Durable = std::function<void(LogDurable)>;

    LogWriter(ports::BlobStore& blobs, const TaskTable& tasks, LogWriterSettings settings);
    ~LogWriter() override;  // what waits is dropped: its agents send it again

    // Any thread. `durable` is called once the bytes are safe, or are not wanted. False: too much is waiting.
    [[nodiscard]] bool write(NodeId node, LogBytes bytes, Durable durable);
    // Other work that may block.
    void run(std::function<void()> work);
    void forget(JobId job);  // its log is complete
    void forget_ended();     // all whose jobs have no task any more
    std::size_t jobs() const;

    Watch watch(const std::string& workspace, const std::string& job, std::function<void()> grown) override;
    void unwatch(Watch watch) override;

 private:
    struct Chunk {
        NodeId node;
        LogBytes bytes;
        Durable durable;
    };
    struct LogFile {
        int attempt = 0;
        std::uint64_t bytes = 0;
        bool cut = false;
    };
    struct JobLog {
        std::deque<Chunk> waiting;
        bool busy = false;  // a thread works on it
        bool forgotten = false;
        std::map<std::string, LogFile> files;  // only touched by the thread that is busy with the job
    };
    struct Watcher {
        Watcher(std::string name, std::function<void()> call)
            : job(std::move(name)), grown(std::move(call)) {}
        std::string job;
        std::function<void()> grown;
    };

    void work();
    void write_all_of(JobId job, std::unique_lock<std::mutex>& lock);
    void write_one(JobLog& log, Chunk& chunk);
    [[nodiscard]] Result<std::uint64_t> store(JobLog& log, const HeldTask& task, const LogBytes& bytes);
    [[nodiscard]] Result<LogFile> open(const HeldTask& task, const std::string& blob) const;
    [[nodiscard]] Result<void> set_older_aside(const HeldTask& task, const std::string& blob,
                                               int older) const;
    [[nodiscard]] Result<void> append_within_limit(const std::string& container, LogFile& file,
                                                   const std::string& blob, std::string_view bytes) const;
    void tell(const HeldTask& task);

    ports::BlobStore& blobs_;
    const TaskTable& tasks_;
    const LogWriterSettings settings_;

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable arrived_;
    std::map<JobId, JobLog> jobs_;
    std::deque<std::function<void()>> ready_;  // jobs with waiting chunks, and other work
    std::uint64_t waiting_bytes_ = 0;
    bool ending_ = false;
    std::map<Watch, std::shared_ptr<const Watcher>> watchers_;  // shared with calls under way
    Watch last_watch_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace lavant::api
