#pragma once
// The ledger: what was used, by whom, and what it would have cost. Written with the change that ends it.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"

namespace lavant {

// Task: from its assignment to its end, a share of its node. Node: from its request to its release, whoever
// used it.
enum class UsageKind { Task, Node };

struct UsageEntry {
    UsageKind kind = UsageKind::Task;
    Instant ended_at{};
    std::string workspace;
    std::string user;     // of a task
    std::string job;      // its name, of a task
    std::string compute;  // the cluster's name, or "serverless"
    std::string size;
    std::string tier;
    NodeId node;
    std::int64_t node_micros = 0;
    std::int64_t price_micros = 0;  // millionths of a dollar
    bool operator==(const UsageEntry&) const = default;
};

}  // namespace lavant
