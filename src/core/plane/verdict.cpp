#include "core/plane/verdict.h"

#include <algorithm>

#include "base/check.h"

namespace lavant::plane {
namespace {

std::string exit_message(const TaskEnd& end) {
    std::string text = "the command ended with exit code " + std::to_string(end.exit_code);
    if (end.exit_code == 127)
        text += ": a program was not found; check the spelling, or add it to the environment";
    else if (end.exit_code == 126)
        text += ": a program could not be executed; check that it is executable (chmod +x)";
    else if (!end.traceback_line.empty())
        text += ": " + end.traceback_line;
    else
        text += "; see user_logs/std_log.txt";
    if (!end.message.empty()) text += " (" + end.message + ")";
    return text;
}

}  // namespace

bool is_nodes_fault(EndReason reason) {
    return reason == EndReason::NodeLost || reason == EndReason::LeaseExpired ||
           reason == EndReason::Preempted;
}

bool may_retry(const RetryPolicy& policy, const TaskEnd& end) {
    switch (end.reason) {
        case EndReason::NodeLost:
        case EndReason::LeaseExpired:
            return policy.on_node_lost;
        case EndReason::Preempted:
            return policy.on_preempted;
        case EndReason::OutOfMemory:
            return policy.on_out_of_memory;
        case EndReason::Exited:
            return end.exit_code != 0 && std::ranges::count(policy.on_exit_codes, end.exit_code) > 0;
        case EndReason::Signaled:
        case EndReason::Timeout:
        case EndReason::Stopped:
        case EndReason::PrepareFailed:
            return false;
    }
    CHECK(false, "end reason outside its enum");
}

bool may_pass(ErrorCode code) {
    switch (code) {
        case ErrorCode::ResourceExhausted:
        case ErrorCode::Unavailable:
        case ErrorCode::DeadlineExceeded:
        case ErrorCode::Internal:
        // An administrator may give a right back; what is not found may be about to be made.
        case ErrorCode::Unauthenticated:
        case ErrorCode::PermissionDenied:
        case ErrorCode::NotFound:
            return true;
        case ErrorCode::InvalidArgument:
        case ErrorCode::AlreadyExists:
        case ErrorCode::Conflict:
            return false;
    }
    CHECK(false, "error code outside its enum");
}

JobError explain_unpublished(ErrorCode code, const std::string& message) {
    // A name that cannot be, or that something else has, is the user's to change.
    const bool users =
        code == ErrorCode::InvalidArgument || code == ErrorCode::AlreadyExists || code == ErrorCode::Conflict;
    return {.code = users ? "UserError" : "SystemError",
            .message = "the job's outputs could not be put in their place: " + message};
}

JobError explain_failure(const TaskEnd& end, const std::string& node) {
    JobError error{
        .exit_code = end.exit_code, .signal = end.signal, .node = node, .traceback_line = end.traceback_line};
    const std::string tail = end.message.empty() ? "" : ": " + end.message;
    switch (end.reason) {
        case EndReason::Exited:
            error.code = "UserError";
            error.message = exit_message(end);
            break;
        case EndReason::Signaled:
            error.code = "UserError";
            error.message = "the command was ended by signal " + std::to_string(end.signal) + tail +
                            "; see user_logs/std_log.txt";
            break;
        case EndReason::OutOfMemory:
            error.code = "OutOfMemory";
            error.message = "the command used more memory than its node has" + tail +
                            "; ask for a larger resources.instance_type, or use less memory";
            break;
        case EndReason::Timeout:
            error.code = "Timeout";
            error.message = "the command ran longer than limits.timeout" + tail +
                            "; raise it, or make the command faster";
            break;
        case EndReason::Stopped:
            error.code = "SystemError";
            error.message = "the task was stopped" + tail + "; submit the job again";
            break;
        case EndReason::PrepareFailed:
            error.code = end.error_code.empty() ? "SystemError" : end.error_code;
            error.message = end.message.empty() ? "the task could not be prepared" : end.message;
            break;
        case EndReason::LeaseExpired:
        case EndReason::NodeLost:
            error.code = "NodeLost";
            error.message = "the node was lost" + tail +
                            "; submit the job again, or raise properties: lavant.max_retries";
            break;
        case EndReason::Preempted:
            error.code = "NodeLost";
            error.message = "the node was preempted" + tail +
                            "; use queue_settings.job_tier: Standard, or allow more "
                            "retries with properties: lavant.max_retries";
            break;
    }
    return error;
}

}  // namespace lavant::plane
