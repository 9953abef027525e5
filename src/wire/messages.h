#pragma once
// Frames between server and agent, and the two stored encodings (launch, effect). One frame is one message.

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/effect.h"
#include "core/model/launch.h"
#include "core/model/messages.h"

namespace lavant::wire {

std::string encode_frame(const ToAgent& message);
std::string encode_frame(const FromAgent& message);
// A frame from a newer peer with a message kind we do not know is an error: versions are negotiated first.
[[nodiscard]] Result<ToAgent> decode_to_agent(std::string_view frame);
[[nodiscard]] Result<FromAgent> decode_from_agent(std::string_view frame);

std::string encode_launch(const Launch& launch);
[[nodiscard]] Result<Launch> decode_launch(std::string_view bytes);

std::string encode_effect(const Effect& effect);
[[nodiscard]] Result<Effect> decode_effect(std::string_view bytes);

// Structs kept whole in one database column.
std::string encode_job_error(const JobError& error);
[[nodiscard]] Result<JobError> decode_job_error(std::string_view bytes);
std::string encode_retry_policy(const RetryPolicy& policy);
[[nodiscard]] Result<RetryPolicy> decode_retry_policy(std::string_view bytes);
std::string encode_job_hooks(const JobHooks& hooks);
[[nodiscard]] Result<JobHooks> decode_job_hooks(std::string_view bytes);
std::string encode_demand(const Demand& demand);
[[nodiscard]] Result<Demand> decode_demand(std::string_view bytes);
std::string encode_pool_terms(const PoolTerms& terms);
[[nodiscard]] Result<PoolTerms> decode_pool_terms(std::string_view bytes);
std::string encode_task_end(const TaskEnd& end);
[[nodiscard]] Result<TaskEnd> decode_task_end(std::string_view bytes);

}  // namespace lavant::wire
