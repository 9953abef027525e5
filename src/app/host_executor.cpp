#include "app/host_executor.h"

#include <chrono>
#include <utility>

namespace lavant::app {
namespace {

using Clock = std::chrono::steady_clock;

Instant steady_now() {
    return Instant{std::chrono::duration_cast<Duration>(Clock::now().time_since_epoch())};
}

}  // namespace

HostExecutor::HostExecutor(int threads, HostTurns::Settings settings) : turns_(settings) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

bool HostExecutor::post(const std::string& host, HostTurns::Work work) {
    {
        const std::scoped_lock lock(mutex_);
        if (stopping_ || !turns_.add(host, std::move(work))) return false;
    }
    arrived_.notify_one();
    return true;
}

void HostExecutor::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        turns_.clear();
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
}

void HostExecutor::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        const std::optional<HostTurns::Turn> turn = turns_.take(steady_now());
        if (!turn) {
            if (const auto wake = turns_.next_wake()) {
                arrived_.wait_until(lock, Clock::time_point(wake->time_since_epoch()));
            } else {
                arrived_.wait(lock);
            }
            continue;
        }
        lock.unlock();
        const bool went_on = turn->work();
        lock.lock();
        turns_.end(turn->host, went_on, steady_now());
        arrived_.notify_one();  // the host's next piece, or its rest, is somebody's to wait for
    }
}

}  // namespace lavant::app
