#include "adapters/agent_link/reactor.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace lavant::adapters::agent_link {

Reactor::~Reactor() {
    for (auto& [fd, descriptor] : descriptors_) (void)descriptor->release();
}

void Reactor::run() {
    const auto guard = boost::asio::make_work_guard(context_);
    context_.run();
}

void Reactor::post(std::function<void()> task) { boost::asio::post(context_, std::move(task)); }

std::uint64_t Reactor::after(Duration delay, std::function<void()> task) {
    const std::uint64_t id = ++last_timer_;
    auto timer = std::make_unique<boost::asio::steady_timer>(context_, delay);
    timer->async_wait([this, id, task = std::move(task)](const boost::system::error_code& error) {
        // A timer that was cancelled after it fired arrives here without an error.
        if (!error && timers_.erase(id) == 1) task();
    });
    timers_.emplace(id, std::move(timer));
    return id;
}

void Reactor::when_readable(int fd, std::function<void()> task) {
    auto& slot = descriptors_[fd];
    slot = std::make_unique<Descriptor>(context_, fd);
    slot->async_wait(Descriptor::wait_read,
                     [this, fd, task = std::move(task)](const boost::system::error_code& error) {
                         if (error) return;
                         forget(fd);
                         task();
                     });
}

void Reactor::forget(int fd) {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return;
    (void)found->second->release();
    descriptors_.erase(found);
}

}  // namespace lavant::adapters::agent_link
