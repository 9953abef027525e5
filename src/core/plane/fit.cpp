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

// "2 of 4 vCPUs, 6.9 GiB of 14.0 GiB memory": where it is less than what was asked for.
std::string lacking(const Resources& got, const Resources& asked) {
    std::string text;
    const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if (got.cpu_millis < asked.cpu_millis)
        add(cpus(got.cpu_millis) + " of " + cpus(asked.cpu_millis) + " vCPUs");
    if (got.memory_bytes < asked.memory_bytes)
        add(gib(got.memory_bytes) + " of " + gib(asked.memory_bytes) + " memory");
    if (got.gpus < asked.gpus) add(std::to_string(got.gpus) + " of " + std::to_string(asked.gpus) + " GPUs");
    return text;
}

}  // namespace

Fitted fit_to_machine(const Size& size, int instances, const Resources& capacity) {
    const Resources& asked = size.resources;
    Fitted fitted{.resources = {.cpu_millis = std::min(asked.cpu_millis, capacity.cpu_millis / instances),
                                .memory_bytes = std::min(asked.memory_bytes,
                                                         round_memory(capacity.memory_bytes / instances)),
                                .gpus = std::min(asked.gpus, capacity.gpus / instances)}};
    if (fitted.resources == asked) return fitted;
    fitted.warning =
        size.name + " is larger than this machine: a node gets " + lacking(fitted.resources, asked);
    return fitted;
}

FittedCluster fit_cluster(const Size& size, int nodes_min, int nodes_max, const Resources& capacity) {
    const Resources& asked = size.resources;
    const int nodes = std::max(1, nodes_max);
    const std::int64_t whole = round_memory(capacity.memory_bytes);
    FittedCluster fitted;
    fitted.node_limit = {.cpu_millis = std::min(asked.cpu_millis, capacity.cpu_millis),
                         .memory_bytes = std::min(asked.memory_bytes, whole),
                         .gpus = std::min(asked.gpus, capacity.gpus)};
    // Nothing costs nothing: of ever so many nodes the machine takes what it can.
    const std::int64_t part = std::max(kMemoryStep, round_memory(whole / nodes));
    fitted.node_resources = {
        .cpu_millis = std::min(asked.cpu_millis, std::max<std::int64_t>(1, capacity.cpu_millis / nodes)),
        .memory_bytes = std::min(asked.memory_bytes, part),
        .gpus = std::min(asked.gpus, capacity.gpus / nodes)};
    if (fitted.node_resources.gpus == 0) fitted.node_resources.gpus = fitted.node_limit.gpus;
    fitted.node_limit.gpus = fitted.node_resources.gpus;  // A device is a node's own, or it is not.
    if (fitted.node_limit != asked)
        fitted.warning =
            size.name + " is larger than this machine: a node gets " + lacking(fitted.node_limit, asked);
    const Resources& sure = fitted.node_resources;
    if (sure != fitted.node_limit)
        fitted.warning += (fitted.warning.empty() ? "" : "; ") + std::string("with all ") +
                          std::to_string(nodes) + " nodes at work each is sure of " + lacking(sure, asked);
    // Nodes that are always there would keep everybody else away for ever: they take nothing but their GPUs,
    // and share the machine with whatever runs beside them.
    if (nodes_min > 0) fitted.node_resources.cpu_millis = fitted.node_resources.memory_bytes = 0;
    const int at_once = sure.gpus == 0 ? nodes : capacity.gpus / sure.gpus;
    if (at_once < nodes)
        fitted.warning += (fitted.warning.empty() ? "" : "; ") + std::string("the machine has GPUs for ") +
                          std::to_string(at_once) + " of " + std::to_string(nodes) + " nodes at a time";
    return fitted;
}

}  // namespace lavant::plane
