#include "base/executor.h"

#include <utility>

namespace lavant {

Executor::Executor(int threads, std::size_t queue_max) : queue_max_(queue_max) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Executor::~Executor() { stop(); }

bool Executor::post(std::function<void()> work) {
    {
        const std::scoped_lock lock(mutex_);
        if (stopping_ || queue_.size() >= queue_max_) return false;
        queue_.push_back(std::move(work));
    }
    arrived_.notify_one();
    return true;
}

void Executor::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    join();
}

void Executor::abandon() {
    std::deque<std::function<void()>> dropped;  // ends outside the lock
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        dropped.swap(queue_);
    }
    join();
}

void Executor::join() {
    arrived_.notify_all();
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
}

void Executor::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        arrived_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const std::function<void()> work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        work();
        lock.lock();
    }
}

}  // namespace lavant
