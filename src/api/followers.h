#pragma once
// Requests that are answered later or go on for long: waits for a job's end, event streams, followed logs.
// They live here until they are done; tick() gives them the time, as nothing else in this room owns a timer.

#include <memory>
#include <mutex>
#include <vector>

#include "base/executor.h"
#include "base/time.h"

namespace lavant::api {

class Follower {
 public:
    virtual ~Follower() = default;
    // False: done, forget it. Any thread, one call at a time.
    virtual bool tick(Instant now) = 0;
    // When it wants the next tick at the latest.
    virtual Duration patience(Instant now) const = 0;
    virtual void close() = 0;  // the server stops
};

class Followers {
 public:
    Followers() = default;
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    void add(std::shared_ptr<Follower> follower);
    std::size_t count() const;
    // Returns how long the caller may wait before the next call.
    Duration tick(Instant now);
    void close();
    // A thread for what those who wake a follower have no time for. Shared: they may still hold it when this
    // is gone, and it takes nothing then.
    std::shared_ptr<Executor> pump() const { return pump_; }

 private:
    std::mutex ticking_;                                // one tick at a time
    mutable std::mutex mutex_;                          // guards the list
    std::vector<std::shared_ptr<Follower>> followers_;  // shared with the sinks that wake them
    const std::shared_ptr<Executor> pump_ = std::make_shared<Executor>(1);
};

}  // namespace lavant::api
