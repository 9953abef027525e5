#pragma once
// /metrics in the OpenMetrics text format.

#include <cstdint>
#include <optional>
#include <string>

#include "app/loop_stats.h"

namespace lavant::api {

struct ServerFigures {
    std::uint64_t requests = 0;
    std::uint64_t requests_refused = 0;  // answered with 4xx or 5xx by the front
    std::size_t waiters = 0;
    std::optional<std::uint64_t> disk_free_bytes;
};

inline constexpr const char* kOpenMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";
std::string render_metrics(const app::LoopStats& loop, const ServerFigures& server);

}  // namespace lavant::api
