#pragma once
// One I/O thread with its connections. Everything but start(), finish() and the mailbox happens on that
// thread.

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "adapters/http_server/http_server.h"
#include "adapters/http_server/mailbox.h"
#include "adapters/http_server/tls_context.h"
#include "base/executor.h"

namespace lavant::adapters::http {

using Tick = std::chrono::steady_clock::time_point;

inline constexpr std::size_t kWriteBacksMax = 64;  // further ones are left to the kernel

// What all threads of a server see.
struct Common {
    Common(ServerSettings chosen, ports::HttpApplication& behind)
        : settings(std::move(chosen)), application(behind) {}

    const ServerSettings settings;
    ports::HttpApplication& application;

    std::atomic<std::int64_t> connections{0};
    std::atomic<std::int64_t> sockets{0};
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> handshakes_failed{0};
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> requests_malformed{0};
    std::atomic<std::uint64_t> frames_in{0};
    std::atomic<std::uint64_t> frames_out{0};
    std::atomic<std::uint64_t> bytes_in{0};
    std::atomic<std::uint64_t> bytes_out{0};
    std::atomic<std::uint64_t> body_bytes{0};  // request bodies in memory
    std::atomic<std::uint64_t> file_names{0};

    Executor write_back{1, kWriteBacksMax};  // begins to write long uploads to the disk while they come

    std::mutex mutex;                       // guards tls; and is the lock of all_gone
    std::shared_ptr<const TlsContext> tls;  // shared: see TlsContext
    std::condition_variable all_gone;       // connections reached zero
};

// A connection as its thread sees it: HTTP or, after an upgrade, a WebSocket.
class Client {
 public:
    virtual ~Client() = default;
    virtual void tick(Tick now) = 0;  // now and then: check time-outs
    virtual void drain() = 0;         // finish what is under way, begin nothing new
    virtual void abort() = 0;
};

class Worker {
 public:
    explicit Worker(Common& common);
    ~Worker();

    void start();
    void finish();  // from another thread: aborts what is left, returns when the thread is gone

    boost::asio::io_context& context() { return context_; }
    const std::shared_ptr<Mailbox>& mailbox() { return mailbox_; }
    Common& common() { return common_; }

    void add(std::shared_ptr<Client> client);  // shared: with the handlers that wait on its socket
    void remove(const std::shared_ptr<Client>& client);
    void replace(const std::shared_ptr<Client>& old, std::shared_ptr<Client> next);
    void drain_all();
    void abort_all();
    bool is_draining() const { return draining_; }

    std::string_view http_date();
    bool may_log_refusal();  // a few in a second: nobody may fill the log from outside
    std::vector<char>& scratch() { return scratch_; }  // for one read, by whoever reads now

 private:
    void arm_ticker();
    template <class Visit>
    void for_each(Visit visit);

    Common& common_;
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::shared_ptr<Mailbox> mailbox_;  // shared: see Mailbox
    boost::asio::steady_timer ticker_;
    bool ticking_ = false;
    bool draining_ = false;
    std::unordered_set<std::shared_ptr<Client>> clients_;
    std::vector<char> scratch_;
    std::int64_t refusal_second_ = -1;
    int refusals_logged_ = 0;  // in that second
    std::int64_t date_second_ = -1;
    std::string date_;
    std::thread thread_;
};

}  // namespace lavant::adapters::http
