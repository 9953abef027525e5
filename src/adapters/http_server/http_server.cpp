#include "adapters/http_server/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <vector>

#include "adapters/http_server/connection.h"
#include "adapters/http_server/worker.h"
#include "base/check.h"
#include "base/log.h"

namespace lavant::adapters {
namespace {

using http::Common;
using http::Connection;
using http::Worker;

constexpr int kBacklog = 1024;
constexpr int kAcceptsAtOnce = 64;
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no descriptors left

struct Address {
    sockaddr_storage bytes{};
    socklen_t length = 0;
};

std::string shown(const ServerSettings& settings) {
    const bool colons = settings.address.find(':') != std::string::npos;
    return (colons ? "[" + settings.address + "]" : settings.address) + ":" + std::to_string(settings.port);
}

Result<Address> resolve(const ServerSettings& settings) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int problem =
        ::getaddrinfo(settings.address.c_str(), std::to_string(settings.port).c_str(), &hints, &found);
    if (problem != 0 || found == nullptr)
        return fail(ErrorCode::InvalidArgument, "cannot listen on '" + settings.address +
                                                    "': " + ::gai_strerror(problem) +
                                                    "; give an address of this machine");
    Address address;
    address.length = found->ai_addrlen;
    std::memcpy(&address.bytes, found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
    return address;
}

Error listen_error(const ServerSettings& settings, int reason) {
    if (reason == EADDRINUSE)
        return {ErrorCode::Unavailable,
                "cannot listen on " + shown(settings) + ": port " + std::to_string(settings.port) +
                    " is in use; stop the process that holds it, or choose another port",
                {}};
    if (reason == EACCES)
        return {ErrorCode::PermissionDenied,
                "cannot listen on " + shown(settings) + ": port " + std::to_string(settings.port) +
                    " is reserved for root; choose one above 1023",
                {}};
    if (reason == EADDRNOTAVAIL)
        return {ErrorCode::InvalidArgument,
                "cannot listen on " + shown(settings) +
                    ": this machine does not have that address; choose one it has, or "
                    "0.0.0.0 for all",
                {}};
    return system_error("listen on " + shown(settings), reason);
}

Result<Fd> listen_on(const ServerSettings& settings) {
    LAVANT_TRY(const Address address, resolve(settings));
    Fd socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return fail(listen_error(settings, errno));
    const int yes = 1;
    const int no = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.bytes.ss_family == AF_INET6)
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.length) != 0 ||
        ::listen(socket.get(), kBacklog) != 0)
        return fail(listen_error(settings, errno));
    return socket;
}

// "127.0.0.1:5123", "[::1]:5123"
std::string name_of(const sockaddr_storage& from) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (from.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&from);
        ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
        return std::string(text.data()) + ":" + std::to_string(ntohs(v4->sin_port));
    }
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&from);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
}

int port_of(int socket) {
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) == 0,
          "a bound socket has a name");
    if (bound.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port);
}

}  // namespace

class HttpServer::Machine {
 public:
    Machine(ServerSettings settings, ports::HttpApplication& application)
        : common_(std::move(settings), application) {}

    Result<int> start();
    void stop(Duration grace);
    Result<void> load_certificate();
    ServerStats stats() const;

 private:
    using Descriptor = boost::asio::posix::stream_descriptor;
    void accept_when_ready();
    void accept_some();
    void welcome(Fd socket, std::string peer);

    Common common_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<Descriptor> listener_;  // these two on the first worker's thread
    std::unique_ptr<boost::asio::steady_timer> pause_;
    std::size_t next_worker_ = 0;
    bool running_ = false;
};

Result<int> HttpServer::Machine::start() {
    CHECK(!running_, "a server starts once");
    if (common_.settings.tls) LAVANT_TRY_VOID(load_certificate());
    LAVANT_TRY(Fd socket, listen_on(common_.settings));
    const int port = port_of(socket.get());
    for (int i = 0; i < std::max(1, common_.settings.io_threads); ++i)
        workers_.push_back(std::make_unique<Worker>(common_));
    listener_ = std::make_unique<Descriptor>(workers_.front()->context(), socket.get());
    socket.release();
    pause_ = std::make_unique<boost::asio::steady_timer>(workers_.front()->context());
    accept_when_ready();
    for (const auto& worker : workers_) worker->start();
    running_ = true;
    return port;
}

void HttpServer::Machine::accept_when_ready() {
    listener_->async_wait(Descriptor::wait_read, [this](boost::system::error_code problem) {
        if (!problem) accept_some();
    });
}

void HttpServer::Machine::accept_some() {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
        sockaddr_storage from{};
        socklen_t length = sizeof from;
        Fd socket(::accept4(listener_->native_handle(), reinterpret_cast<sockaddr*>(&from), &length,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket) {
            welcome(std::move(socket), name_of(from));
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log(Level::Error, "accept_failed",
                {{"why", std::strerror(errno)}, {"remedy", "raise ulimit -n"}});
            pause_->expires_after(kAcceptPause);
            pause_->async_wait([this](boost::system::error_code problem) {
                if (!problem) accept_when_ready();
            });
            return;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    }
    accept_when_ready();
}

void HttpServer::Machine::welcome(Fd socket, std::string peer) {
    if (common_.connections.load() >= common_.settings.limits.connections) {
        common_.refused.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    common_.connections.fetch_add(1);
    common_.accepted.fetch_add(1, std::memory_order_relaxed);
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    Worker& worker = *workers_[next_worker_++ % workers_.size()];
    const auto begin = [&worker, peer = std::move(peer)](Fd taken) {
        const auto connection = std::make_shared<Connection>(worker, std::move(taken), peer);
        worker.add(connection);
        connection->start();
    };
    if (worker.mailbox()->is_here()) {
        begin(std::move(socket));
        return;
    }
    const auto shared = std::make_shared<Fd>(std::move(socket));  // shared: tasks are copyable
    if (!worker.mailbox()->deliver([begin, shared] { begin(std::move(*shared)); }))
        common_.connections.fetch_sub(1);
}

void HttpServer::Machine::stop(Duration grace) {
    if (!running_) return;
    running_ = false;
    workers_.front()->mailbox()->deliver([this] {
        boost::system::error_code ignored;
        listener_->close(ignored);
        pause_->cancel();
    });
    for (const auto& worker : workers_) worker->mailbox()->deliver([&worker] { worker->drain_all(); });
    {
        std::unique_lock lock(common_.mutex);
        common_.all_gone.wait_for(lock, grace, [this] { return common_.connections.load() == 0; });
    }
    for (const auto& worker : workers_) worker->finish();
    listener_.reset();
    pause_.reset();
    workers_.clear();
}

Result<void> HttpServer::Machine::load_certificate() {
    LAVANT_TRY(auto loaded,
               http::TlsContext::load(common_.settings.certificate_file, common_.settings.key_file));
    const std::lock_guard lock(common_.mutex);
    common_.tls = std::move(loaded);
    return {};
}

ServerStats HttpServer::Machine::stats() const {
    return {.connections = common_.connections,
            .sockets = common_.sockets,
            .accepted = common_.accepted,
            .refused = common_.refused,
            .handshakes_failed = common_.handshakes_failed,
            .requests = common_.requests,
            .requests_malformed = common_.requests_malformed,
            .frames_in = common_.frames_in,
            .frames_out = common_.frames_out,
            .bytes_in = common_.bytes_in,
            .bytes_out = common_.bytes_out};
}

HttpServer::HttpServer(ServerSettings settings, ports::HttpApplication& application)
    : machine_(std::make_unique<Machine>(std::move(settings), application)) {}
HttpServer::~HttpServer() { machine_->stop(Duration{0}); }

Result<int> HttpServer::start() { return machine_->start(); }
void HttpServer::stop(Duration grace) { machine_->stop(grace); }
Result<void> HttpServer::reload_certificate() { return machine_->load_certificate(); }
ServerStats HttpServer::stats() const { return machine_->stats(); }

}  // namespace lavant::adapters
