#include "wire/messages.h"

#include "wire/codec.h"

namespace lavant {

BOOST_DESCRIBE_STRUCT(Resources, (), (cpu_millis, memory_bytes, gpus))
BOOST_DESCRIBE_STRUCT(Usage, (), (cpu_micros, memory_peak_bytes, wall_micros))
BOOST_DESCRIBE_STRUCT(JobError, (), (code, message, exit_code, signal, node, traceback_line))
BOOST_DESCRIBE_STRUCT(RetryPolicy, (),
                      (retries_max, on_node_lost, on_preempted, on_out_of_memory, on_exit_codes))
BOOST_DESCRIBE_STRUCT(JobHooks, (), (registers_outputs, notify))
BOOST_DESCRIBE_STRUCT(Demand, (), (user, processes, bound, task, grace))
BOOST_DESCRIBE_STRUCT(PoolTerms, (),
                      (compute, arm_id, subnet, location, family, tier, vcpus, node_limit, packed, price))
BOOST_DESCRIBE_STRUCT(TaskRef, (), (job, attempt, index))
BOOST_DESCRIBE_STRUCT(TaskEnd, (),
                      (reason, exit_code, signal, error_code, message, traceback_line, has_outputs, log,
                       usage))

BOOST_DESCRIBE_STRUCT(Welcome, (), (protocol, lease_micros, heartbeat_micros, heard))
BOOST_DESCRIBE_STRUCT(StartTask, (),
                      (task, instances, hosts, launch, job_token, processes, port, gpus, resume))
BOOST_DESCRIBE_STRUCT(StopTask, (), (task, why, grace_micros, preempted))
BOOST_DESCRIBE_STRUCT(ForgetTask, (), (task))
BOOST_DESCRIBE_STRUCT(LogDurable, (), (task, file, bytes))
BOOST_DESCRIBE_STRUCT(ReleaseNode, (), ())
BOOST_DESCRIBE_STRUCT(TaskReport, (), (task, phase, at_micros, ran_micros, end))
BOOST_DESCRIBE_STRUCT(Hello, (), (protocol, node, boot, host, machine, protections, tasks))
BOOST_DESCRIBE_STRUCT(Heartbeat, (), (number))
BOOST_DESCRIBE_STRUCT(LogBytes, (), (task, file, offset, bytes))

BOOST_DESCRIBE_STRUCT(LaunchInput, (), (name, type, mode, value))
BOOST_DESCRIBE_STRUCT(LaunchOutput, (), (name, type, mode, uri, asset_name, asset_version))
BOOST_DESCRIBE_STRUCT(LaunchEnvironment, (), (kind, name, python_home, note))
BOOST_DESCRIBE_STRUCT(Launch, (),
                      (workspace, subscription, resource_group, workspace_name, user, job_name, root_job_name,
                       experiment_name, experiment_id, command, code_uri, code_hash, environment,
                       environment_variables, inputs, outputs, timeout_micros, distribution, process_count,
                       keep_on_failure, confined, containers))

BOOST_DESCRIBE_STRUCT(StartNode, (), (node, pool, size, resources, gpus))
BOOST_DESCRIBE_STRUCT(StopNode, (), (node))
BOOST_DESCRIBE_STRUCT(PublishOutputs, (), (job, workspace, name, attempt, again, lost))
BOOST_DESCRIBE_STRUCT(DropStaged, (), (job, attempt, workspace))
BOOST_DESCRIBE_STRUCT(DropJobFiles, (), (job, workspace, name))
BOOST_DESCRIBE_STRUCT(NotifyOfJob, (), (job, workspace, name, url, status, detail, sequence, at_micros))
BOOST_DESCRIBE_STRUCT(DropContainers, (), (workspace, containers))

namespace wire {

std::string encode_frame(const ToAgent& message) { return encode(message); }
std::string encode_frame(const FromAgent& message) { return encode(message); }
Result<ToAgent> decode_to_agent(std::string_view frame) { return decode<ToAgent>(frame); }
Result<FromAgent> decode_from_agent(std::string_view frame) { return decode<FromAgent>(frame); }
std::string encode_launch(const Launch& launch) { return encode(launch); }
Result<Launch> decode_launch(std::string_view bytes) { return decode<Launch>(bytes); }
std::string encode_effect(const Effect& effect) { return encode(effect); }
Result<Effect> decode_effect(std::string_view bytes) { return decode<Effect>(bytes); }
std::string encode_job_error(const JobError& error) { return encode(error); }
Result<JobError> decode_job_error(std::string_view bytes) { return decode<JobError>(bytes); }
std::string encode_retry_policy(const RetryPolicy& policy) { return encode(policy); }
Result<RetryPolicy> decode_retry_policy(std::string_view bytes) { return decode<RetryPolicy>(bytes); }
std::string encode_job_hooks(const JobHooks& hooks) { return encode(hooks); }
Result<JobHooks> decode_job_hooks(std::string_view bytes) { return decode<JobHooks>(bytes); }
std::string encode_demand(const Demand& demand) { return encode(demand); }
Result<Demand> decode_demand(std::string_view bytes) { return decode<Demand>(bytes); }
std::string encode_pool_terms(const PoolTerms& terms) { return encode(terms); }
Result<PoolTerms> decode_pool_terms(std::string_view bytes) { return decode<PoolTerms>(bytes); }
std::string encode_task_end(const TaskEnd& end) { return encode(end); }
Result<TaskEnd> decode_task_end(std::string_view bytes) { return decode<TaskEnd>(bytes); }

}  // namespace wire
}  // namespace lavant
