#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "core/model/job.h"
#include "core/model/launch.h"
#include "core/model/lock.h"
#include "core/model/node.h"
#include "core/model/quota.h"
#include "core/model/workspace.h"

namespace lavant {

std::string artifact_container(const Launch& launch) {
    return artifact_container(launch.workspace.empty() ? kDefaultWorkspace : launch.workspace);
}

std::string container_of(const Launch& launch, const std::string& datastore) {
    if (const auto known = launch.containers.find(datastore); known != launch.containers.end())
        return known->second;
    if (datastore == kArtifactDatastore) return artifact_container(launch);
    if (datastore != kBlobDatastore) return "";
    return blob_container(launch.workspace.empty() ? kDefaultWorkspace : launch.workspace);
}

std::string_view name_of(JobStatus status) {
    switch (status) {
        case JobStatus::Queued:
            return "Queued";
        case JobStatus::Preparing:
            return "Preparing";
        case JobStatus::Running:
            return "Running";
        case JobStatus::Finalizing:
            return "Finalizing";
        case JobStatus::CancelRequested:
            return "CancelRequested";
        case JobStatus::Completed:
            return "Completed";
        case JobStatus::Failed:
            return "Failed";
        case JobStatus::Canceled:
            return "Canceled";
    }
    CHECK(false, "job status outside its enum");
}

std::optional<JobStatus> parse_job_status(std::string_view name) {
    for (const JobStatus status :
         {JobStatus::Queued, JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing,
          JobStatus::CancelRequested, JobStatus::Completed, JobStatus::Failed, JobStatus::Canceled})
        if (name_of(status) == name) return status;
    return std::nullopt;
}

std::string_view name_of(NodeState state) {
    switch (state) {
        case NodeState::Requested:
            return "Requested";
        case NodeState::Starting:
            return "Starting";
        case NodeState::Idle:
            return "Idle";
        case NodeState::Busy:
            return "Busy";
        case NodeState::Draining:
            return "Draining";
        case NodeState::Released:
            return "Released";
        case NodeState::Lost:
            return "Lost";
        case NodeState::Preempted:
            return "Preempted";
    }
    CHECK(false, "node state outside its enum");
}

std::string_view name_of(TaskPhase phase) {
    switch (phase) {
        case TaskPhase::Assigned:
            return "Assigned";
        case TaskPhase::Preparing:
            return "Preparing";
        case TaskPhase::Running:
            return "Running";
        case TaskPhase::Finalizing:
            return "Finalizing";
        case TaskPhase::Ended:
            return "Ended";
        case TaskPhase::Lost:
            return "Lost";
    }
    CHECK(false, "task phase outside its enum");
}

std::string_view name_of(EndReason reason) {
    switch (reason) {
        case EndReason::Exited:
            return "Exited";
        case EndReason::Signaled:
            return "Signaled";
        case EndReason::OutOfMemory:
            return "OutOfMemory";
        case EndReason::Timeout:
            return "Timeout";
        case EndReason::Stopped:
            return "Stopped";
        case EndReason::PrepareFailed:
            return "PrepareFailed";
        case EndReason::LeaseExpired:
            return "LeaseExpired";
        case EndReason::NodeLost:
            return "NodeLost";
        case EndReason::Preempted:
            return "Preempted";
    }
    CHECK(false, "end reason outside its enum");
}

std::string_view name_of(Tier tier) { return tier == Tier::Dedicated ? "dedicated" : "low_priority"; }

std::optional<Tier> parse_tier(std::string_view name) {
    if (equals_ignoring_case(name, "dedicated")) return Tier::Dedicated;
    for (const char* word : {"low_priority", "lowpriority", "low-priority", "spot"})
        if (equals_ignoring_case(name, word)) return Tier::LowPriority;
    return std::nullopt;
}

std::string_view name_of(QuotaLevel level) {
    return level == QuotaLevel::Subscription ? "subscription" : "workspace";
}

std::optional<QuotaLevel> parse_quota_level(std::string_view name) {
    for (const QuotaLevel level : {QuotaLevel::Subscription, QuotaLevel::Workspace})
        if (equals_ignoring_case(name, name_of(level))) return level;
    return std::nullopt;
}

std::string_view name_of(LockLevel level) {
    return level == LockLevel::CanNotDelete ? "CanNotDelete" : "ReadOnly";
}

std::optional<LockLevel> parse_lock_level(std::string_view name) {
    for (const LockLevel level : {LockLevel::CanNotDelete, LockLevel::ReadOnly})
        if (equals_ignoring_case(name, name_of(level))) return level;
    return std::nullopt;
}

bool covers(std::string_view scope, std::string_view id) {
    return !scope.empty() && id.starts_with(scope) && (id.size() == scope.size() || id[scope.size()] == '/');
}

}  // namespace lavant
