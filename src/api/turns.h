#pragma once
// Work that is done one after the other: the next piece begins when the one before it says that it is done,
// which may be later and on another thread.

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace lavant::api {

class Turns {
 public:
    static constexpr std::size_t kWaitingMax = 1'000;

    // At once if nobody is at work. False: too many wait.
    [[nodiscard]] bool take(std::function<void()> work) {
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.size() >= kWaitingMax) return false;
            if (std::exchange(busy_, true)) {
                waiting_.push_back(std::move(work));
                return true;
            }
        }
        work();
        return true;
    }
    // Once for each that began.
    void done() {
        std::function<void()> next;
        {
            const std::lock_guard lock(mutex_);
            busy_ = !waiting_.empty();
            if (!busy_) return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
        }
        next();
    }

 private:
    std::mutex mutex_;  // guards what follows
    bool busy_ = false;
    std::deque<std::function<void()>> waiting_;
};

}  // namespace lavant::api
