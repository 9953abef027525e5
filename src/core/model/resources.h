#pragma once
// What a node has and what a task takes.

#include <compare>
#include <cstdint>

namespace lavant {

struct Resources {
    std::int64_t cpu_millis = 0;
    std::int64_t memory_bytes = 0;
    int gpus = 0;

    bool operator==(const Resources&) const = default;
    bool fits_in(const Resources& room) const {
        return cpu_millis <= room.cpu_millis && memory_bytes <= room.memory_bytes && gpus <= room.gpus;
    }
    Resources& operator+=(const Resources& other) {
        cpu_millis += other.cpu_millis;
        memory_bytes += other.memory_bytes;
        gpus += other.gpus;
        return *this;
    }
    Resources& operator-=(const Resources& other) {
        cpu_millis -= other.cpu_millis;
        memory_bytes -= other.memory_bytes;
        gpus -= other.gpus;
        return *this;
    }
};

// Memory that follows from a machine's, in whole steps: a kernel update must not change what fits.
inline constexpr std::int64_t kMemoryStep = 64LL << 20;
inline std::int64_t round_memory(std::int64_t bytes) { return bytes / kMemoryStep * kMemoryStep; }

}  // namespace lavant
