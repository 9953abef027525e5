#pragma once
// Who knows first that a job's log has grown. The agents' side implements it; without one, followers look
// again a few times a second.

#include <cstdint>
#include <functional>
#include <string>

namespace lavant::api {

class LogSource {
 public:
    virtual ~LogSource() = default;
    using Watch = std::uint64_t;
    // `grown` is called, from any thread, after bytes of any log of the job became durable. Must be quick.
    virtual Watch watch(const std::string& workspace, const std::string& job,
                        std::function<void()> grown) = 0;
    // No call starts after it returns; one under way may still run, so `grown` must own what it touches.
    virtual void unwatch(Watch watch) = 0;
};

}  // namespace lavant::api
