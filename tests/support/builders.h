#pragma once
// Rows for tests: valid, with every member set to something that is not its default where a test may look.

#include <cstdint>
#include <string>

#include "core/model/record.h"

namespace lavant::test {

inline constexpr const char* kWorkspace = "default";

Job a_job(std::int64_t id, const std::string& name = "");  // "job-<id>" if no name is given
JobHead changed(JobHead head, JobStatus status);           // the next version of it
Task a_task(std::int64_t job, int attempt, int index = 0);
Node a_node(std::int64_t id, std::int64_t pool = 1);
Pool a_pool(std::int64_t id);
Quota a_quota(const std::string& family, std::int64_t cores);
Lock a_lock(const std::string& scope, const std::string& name);
UsageEntry a_usage(const std::string& user, const std::string& job, std::int64_t node_micros);
HistoryEvent an_event(std::int64_t sequence, std::int64_t job = 0);
OutboxEntry an_effect(std::int64_t id, std::int64_t node = 1);
Asset an_asset(const std::string& kind, const std::string& name, const std::string& version = "1");

}  // namespace lavant::test
