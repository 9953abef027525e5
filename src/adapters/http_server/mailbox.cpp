#include "adapters/http_server/mailbox.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace lavant::adapters::http {

bool Mailbox::deliver(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) return false;
    tasks_.push_back(std::move(task));
    if (tasks_.size() == 1) boost::asio::post(*context_, [self = shared_from_this()] { self->drain(); });
    return true;
}

void Mailbox::drain() {
    std::vector<std::function<void()>> tasks;
    {
        const std::lock_guard lock(mutex_);
        tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
}

void Mailbox::close() {
    std::vector<std::function<void()>> dropped;  // destroyed without the lock: a task may own a responder
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    dropped.swap(tasks_);
}

}  // namespace lavant::adapters::http
