#pragma once
// Timers and descriptors over one io_context that only one thread touches.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>

#include "base/time.h"

namespace lavant::adapters::agent_link {

class Reactor {
 public:
    boost::asio::io_context& context() { return context_; }
    void run();
    void stop() { context_.stop(); }
    void post(std::function<void()> task);
    std::uint64_t after(Duration delay, std::function<void()> task);
    void cancel(std::uint64_t timer) { timers_.erase(timer); }
    void when_readable(int fd, std::function<void()> task);
    void forget(int fd);
    ~Reactor();

 private:
    using Descriptor = boost::asio::posix::stream_descriptor;
    boost::asio::io_context context_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    std::uint64_t last_timer_ = 0;
    std::map<std::uint64_t, std::unique_ptr<boost::asio::steady_timer>> timers_;
    std::map<int, std::unique_ptr<Descriptor>> descriptors_;
};

}  // namespace lavant::adapters::agent_link
