#pragma once
// What this machine offers to the process that asks: its CPUs, memory and GPUs, less what cgroups withhold.

#include <cstdint>
#include <string_view>

namespace lavant::host {

struct Machine {
    std::int64_t cpu_millis = 0;
    std::int64_t memory_bytes = 0;
    int gpus = 0;
};

Machine look_at_machine();

std::int64_t parse_memory_total(std::string_view meminfo);  // bytes; 0: not found
// "max 100000" and "50000 100000" of cpu.max; 0: no limit.
std::int64_t parse_cpu_max(std::string_view text);

}  // namespace lavant::host
