#include "app/worker_pool.h"

#include <utility>

namespace lavant::app {

WorkerPool::WorkerPool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    come_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(work));
    }
    come_.notify_one();
}

void WorkerPool::work() {
    while (true) {
        std::function<void()> next;
        {
            std::unique_lock lock(mutex_);
            come_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
        }
        next();
    }
}

}  // namespace lavant::app
