#pragma once
// A job: what a user submitted, and where it stands. Only core/plane changes a status.
//
//   Queued -> Preparing -> Running -> Finalizing -> Completed
//   any of these -> Failed;  Preparing, Running, Finalizing -> Queued (a retry: attempt + 1)
//   Queued -> Canceled;  Preparing, Running, Finalizing -> CancelRequested -> Canceled

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/box.h"
#include "base/id.h"
#include "base/time.h"
#include "core/model/resources.h"

namespace lavant {

enum class JobStatus { Queued, Preparing, Running, Finalizing, CancelRequested, Completed, Failed, Canceled };

inline constexpr JobStatus kEveryStatus[] = {
    JobStatus::Queued,          JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing,
    JobStatus::CancelRequested, JobStatus::Completed, JobStatus::Failed,  JobStatus::Canceled};

std::string_view name_of(JobStatus status);  // the wire's spelling
std::optional<JobStatus> parse_job_status(std::string_view name);
inline bool is_terminal(JobStatus status) {
    return status == JobStatus::Completed || status == JobStatus::Failed || status == JobStatus::Canceled;
}

// Which ends are tried again, and how often in all (`lavant.max_retries`, `lavant.retry_on`).
struct RetryPolicy {
    int retries_max = 3;
    bool on_node_lost = true;
    bool on_preempted = true;
    bool on_out_of_memory = false;
    std::vector<int> on_exit_codes;
    bool operator==(const RetryPolicy&) const = default;
};

// Why a job failed. `code` is one of UserError, OutOfMemory, Timeout, NodeLost, EnvironmentBuildFailed,
// DataNotFound, SystemError, NotSupported.
struct JobError {
    std::string code;
    std::string message;  // with the remedy
    int exit_code = 0;
    int signal = 0;
    std::string node;
    std::string traceback_line;
    bool operator==(const JobError&) const = default;
};

struct Usage {
    std::int64_t cpu_micros = 0;
    std::int64_t memory_peak_bytes = 0;
    std::int64_t wall_micros = 0;
    bool operator==(const Usage&) const = default;
};

// What a job asks of the scheduler, fixed at submission.
struct Demand {
    std::string user;                           // whose share of the pool it counts for
    int processes = 1;                          // on each node
    Duration bound{};                           // it runs no longer than this; zero: nobody knows
    Resources task;                             // of one process, in a pool that packs
    Duration grace = std::chrono::seconds{30};  // between SIGTERM and SIGKILL when it is preempted
    bool operator==(const Demand&) const = default;
};

// What else happens when a job's status changes. Few jobs have any.
struct JobHooks {
    bool registers_outputs = false;  // outputs that become assets when the job is Completed
    std::string notify;              // a URL that is told of every status
    bool operator==(const JobHooks&) const = default;
};

// What the control loop keeps in memory of every job that has not ended.
struct JobHead {
    JobId id;
    std::int64_t version = 0;  // counts writes of this row
    std::string workspace;     // the workspace's key, see core/model/workspace.h
    std::string name;
    JobStatus status = JobStatus::Queued;
    PoolId pool;
    int instances = 1;
    int priority = 0;  // higher first
    int attempt = 1;   // the one that runs, or waits to
    int retries_used = 0;
    RetryPolicy retry;
    Instant submitted_at{};
    std::optional<Instant> started_at;  // first Running
    std::optional<Instant> ended_at;
    std::string canceled_by;  // who asked, empty if nobody
    std::optional<Instant> cancel_requested_at;
    Box<JobError> error;
    Usage usage;
    std::string warning;  // shown with the job, empty if none
    Demand demand;
    int preemptions = 0;             // attempts that its nodes did not survive; not counted as retries
    int port = 0;                    // the first of those kept free for its ranks; 0: none
    std::string queue_warning = {};  // why it has to wait, until it starts
    Box<JobHooks> hooks = {};

    bool operator==(const JobHead&) const = default;
};

// What a user may edit after submission.
struct JobMeta {
    std::string display_name;
    std::string description;
    std::map<std::string, std::string> tags;
    bool archived = false;
    bool operator==(const JobMeta&) const = default;
};

// Never in the loop's memory, and fixed at submission but for what a user adds to `properties.properties`.
struct JobBody {
    std::string kind = "command";
    std::string experiment;
    std::string created_by;
    std::string properties;  // the ARM `properties` object as sent, JSON text
    std::string launch;      // core/model/launch.h, encoded by wire
    bool operator==(const JobBody&) const = default;
};

struct Job {
    JobHead head;
    JobMeta meta;
    JobBody body;
    bool operator==(const Job&) const = default;
};

}  // namespace lavant
