#pragma once
// Knows whether the data folder still has room for new work. The file system is asked at most once a second.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "ports/clock.h"

namespace lavant::app {

class FreeSpace {
 public:
    // Free bytes of the file system, nullopt if it cannot be told. Replaced in tests.
    using Probe = std::function<std::optional<std::uint64_t>()>;
    static Probe probe_of(std::string folder);

    FreeSpace(Probe probe, std::uint64_t floor_bytes, ports::Clock& clock)
        : probe_(std::move(probe)), floor_bytes_(floor_bytes), clock_(clock) {}

    // ResourceExhausted with the remedy when the free space is below the floor, or would be with `bytes`
    // more. Any thread.
    [[nodiscard]] Result<void> check_room(std::uint64_t bytes = 0);
    std::optional<std::uint64_t> free_bytes();

 private:
    Probe probe_;
    std::uint64_t floor_bytes_;
    ports::Clock& clock_;
    std::mutex mutex_;  // guards the two below
    std::optional<Instant> asked_at_;
    std::optional<std::uint64_t> free_;
};

}  // namespace lavant::app
