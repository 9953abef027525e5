#pragma once
// What the control loop tells of itself, for /metrics and `lavant status`.

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "core/plane/plane.h"

namespace lavant::app {

struct LoopStats {
    std::uint64_t events = 0;
    std::uint64_t batches = 0;
    std::uint64_t commits_failed = 0;
    Duration commit_total{};
    Duration commit_last{};
    Duration lag_last{};  // how long the oldest event of the last batch had waited
    std::size_t batch_last = 0;
    std::size_t inbox = 0;
    plane::Census census;  // queue by reason, nodes by state
};

}  // namespace lavant::app
