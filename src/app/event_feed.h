#pragma once
// Tells waiters of committed events as they happen: long polls, SSE streams, followed logs. The control loop
// publishes; sinks run on its thread and must be quick. Bounded: too many subscribers are refused.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/model/record.h"

namespace lavant::app {

class EventFeed {
 public:
    // Called in the order of commits. May subscribe and unsubscribe. A call that is under way when another
    // thread unsubscribes is finished, so a sink must own what it touches.
    using Sink = std::function<void(const HistoryEvent&)>;
    using Subscription = std::uint64_t;  // 0 is none

    explicit EventFeed(std::size_t subscribers_max = 4096) : subscribers_max_(subscribers_max) {}

    // Events of one job (by workspace and name) or, with an empty name, all events. ResourceExhausted when
    // full.
    [[nodiscard]] Result<Subscription> subscribe(const std::string& workspace, const std::string& job,
                                                 Sink sink);
    void unsubscribe(Subscription subscription);            // unknown ones are ignored
    void publish(const std::vector<HistoryEvent>& events);  // one thread at a time
    std::size_t subscribers() const { return count_.load(std::memory_order_relaxed); }

 private:
    using SharedSink = std::shared_ptr<const Sink>;
    static std::string key_of(const std::string& workspace, const std::string& job) {
        return workspace + '\n' + job;
    }

    const std::size_t subscribers_max_;
    std::atomic<std::size_t> count_{0};
    std::mutex mutex_;  // guards everything below
    Subscription last_ = 0;
    std::unordered_map<Subscription, std::string> keys_;  // empty: all events
    std::map<Subscription, SharedSink> all_;
    std::unordered_map<std::string, std::map<Subscription, SharedSink>> by_job_;
};

}  // namespace lavant::app
