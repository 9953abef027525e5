#pragma once
// A few threads with one bounded queue, for work that blocks. One executor per kind of work, so that one kind
// cannot starve another.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lavant {

class Executor {
 public:
    explicit Executor(int threads, std::size_t queue_max = 100'000);
    ~Executor();  // finishes what is queued
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    // Any thread. False: the queue is full.
    [[nodiscard]] bool post(std::function<void()> work);
    void stop();     // takes no more, finishes what is queued, joins
    void abandon();  // takes no more, drops what is queued, finishes what is under way, joins

 private:
    void run();
    void join();

    const std::size_t queue_max_;
    std::mutex mutex_;  // guards queue_ and stopping_
    std::condition_variable arrived_;
    std::deque<std::function<void()>> queue_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace lavant
