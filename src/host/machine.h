#pragma once
// What this machine offers to the process that asks: its CPUs, memory and GPUs, less what cgroups withhold.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lavant::host {

struct Machine {
    std::int64_t cpu_millis = 0;
    std::int64_t memory_bytes = 0;
    std::vector<std::string> gpus;  // as CUDA_VISIBLE_DEVICES names them: "0", "1"
};

Machine look_at_machine();

std::int64_t parse_memory_total(std::string_view meminfo);  // bytes; 0: not found
// "max 100000" and "50000 100000" of cpu.max; 0: no limit.
std::int64_t parse_cpu_max(std::string_view text);
// The GPUs behind device files ("nvidia0", "nvidia3", "nvidiactl"). CUDA counts those that it sees, whatever
// their numbers are: with two of them there are 0 and 1.
std::vector<std::string> name_gpus(const std::vector<std::string>& device_files);

}  // namespace lavant::host
