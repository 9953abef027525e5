#pragma once
// The way into an I/O thread from other threads. Tasks delivered while earlier ones still wait cost no
// wake-up.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace lavant::adapters::http {

// Shared by the thread and by everybody who may still hold an answer after the server is gone.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
    explicit Mailbox(boost::asio::io_context& context) : context_(&context) {}

    void adopt_this_thread() { owner_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
    void disown() { owner_.store({}, std::memory_order_relaxed); }
    bool is_here() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

    bool deliver(std::function<void()> task);  // any thread; false and dropped once closed
    void close();

 private:
    void drain();

    std::atomic<std::thread::id> owner_;
    std::mutex mutex_;                  // guards what follows
    boost::asio::io_context* context_;  // null once closed
    std::vector<std::function<void()>> tasks_;
};

}  // namespace lavant::adapters::http
