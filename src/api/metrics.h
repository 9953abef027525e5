#pragma once
// /metrics in the OpenMetrics text format.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"

namespace lavant::api {

// What the control loop tells of itself.
struct LoopFigures {
    std::uint64_t events = 0;
    std::uint64_t batches = 0;
    std::uint64_t commits_failed = 0;
    Duration commit_total{};
    Duration commit_last{};
    Duration lag{};  // how long the oldest event of the last batch had waited
    std::size_t batch_last = 0;
    std::size_t inbox = 0;
    std::size_t jobs_live = 0;
    std::size_t outbox = 0;
    std::map<std::string, std::size_t> queued_by_reason;
    std::map<std::string, std::size_t> nodes_by_state;
};

struct ServerFigures {
    std::uint64_t requests = 0;
    std::uint64_t requests_refused = 0;  // answered with 4xx or 5xx by the front
    std::size_t waiters = 0;
    std::optional<std::uint64_t> disk_free_bytes;
};

inline constexpr const char* kOpenMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";
std::string render_metrics(const LoopFigures& loop, const ServerFigures& server);

}  // namespace lavant::api
