#include "core/schedule/profile.h"

#include "base/check.h"

namespace lavant::schedule {

void Profile::split(Instant at) {
    const auto after = steps_.upper_bound(at);
    CHECK(after != steps_.begin(), "a profile begins now");
    steps_.emplace(at, std::prev(after)->second);
}

void Profile::add_from(Instant at, int nodes) {
    at = std::max(at, steps_.begin()->first);
    split(at);
    for (auto step = steps_.find(at); step != steps_.end(); ++step) step->second += nodes;
}

std::optional<Instant> Profile::earliest(int nodes, Duration length) const {
    std::optional<Instant> start;
    for (const auto& [at, free] : steps_) {
        if (start && length > Duration{} && at >= *start + length) return start;
        if (free < nodes)
            start.reset();
        else if (!start)
            start = at;
    }
    return start;
}

void Profile::reserve(Instant at, int nodes, Duration length) {
    split(at);
    const bool for_ever = length == Duration{};
    if (!for_ever) split(at + length);
    for (auto step = steps_.find(at); step != steps_.end(); ++step) {
        if (!for_ever && step->first >= at + length) break;
        step->second -= nodes;
    }
}

}  // namespace lavant::schedule
