#include "core/plane/fit.h"

#include <algorithm>

namespace lavant::plane {
namespace {

std::string gib(std::int64_t bytes) {
    const std::int64_t tenths = bytes * 10 / (1LL << 30);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

std::string cpus(std::int64_t millis) {
    return millis % 1000 == 0 ? std::to_string(millis / 1000)
                              : std::to_string(millis / 1000) + "." + std::to_string(millis % 1000 / 100);
}

}  // namespace

Fitted fit_to_machine(const Size& size, int instances, const Resources& capacity) {
    const Resources& asked = size.resources;
    Fitted fitted{.resources = {.cpu_millis = std::min(asked.cpu_millis, capacity.cpu_millis / instances),
                                .memory_bytes = std::min(asked.memory_bytes,
                                                         round_memory(capacity.memory_bytes / instances)),
                                .gpus = std::min(asked.gpus, capacity.gpus / instances)}};
    if (fitted.resources == asked) return fitted;
    const Resources& got = fitted.resources;
    fitted.warning = size.name + " is larger than this machine: a node gets ";
    if (got.cpu_millis < asked.cpu_millis)
        fitted.warning += cpus(got.cpu_millis) + " of " + cpus(asked.cpu_millis) + " vCPUs, ";
    if (got.memory_bytes < asked.memory_bytes)
        fitted.warning += gib(got.memory_bytes) + " of " + gib(asked.memory_bytes) + " memory, ";
    if (got.gpus < asked.gpus)
        fitted.warning += std::to_string(got.gpus) + " of " + std::to_string(asked.gpus) + " GPUs, ";
    fitted.warning.resize(fitted.warning.size() - 2);
    return fitted;
}

}  // namespace lavant::plane
