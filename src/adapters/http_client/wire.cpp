#include "adapters/http_client/wire.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>

#include "net/client_tls.h"

namespace lavant::adapters::http_client {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_to(Deadline until) {
    if (!until) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, INT_MAX));
}

Deadline share_of(Deadline until, std::size_t parts) {
    if (!until) return until;
    return Clock::now() + (*until - Clock::now()) / static_cast<long>(parts);
}

Fd open_socket(const net::Endpoints::value_type& endpoint) {
    Fd socket(::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    net::set_options(socket.get());
    return socket;
}

}  // namespace

Wire::~Wire() {
    if (tls_ == nullptr) return;
    ERR_clear_error();
    (void)SSL_shutdown(tls_);  // Says good-bye; nobody waits for the answer.
    SSL_free(tls_);
}

bool Wire::wait_on(int socket, int events, int stop_fd, Deadline until) {
    while (true) {
        ::pollfd waiting[] = {{socket, static_cast<short>(events), 0}, {stop_fd, POLLIN, 0}};
        const int ready = ::poll(waiting, std::size(waiting), milliseconds_to(until));
        if (ready > 0) return waiting[1].revents == 0;
        if (ready == 0 || errno != EINTR) return false;
    }
}

Step Wire::dial(const net::Endpoints& endpoints, Deadline until, int stop_fd, std::unique_ptr<Wire>& made) {
    Step last = Step::Broken;
    for (std::size_t at = 0; at < endpoints.size(); ++at) {
        Fd socket = open_socket(endpoints[at]);
        if (!socket) continue;
        const int begun =
            ::connect(socket.get(), endpoints[at].data(), static_cast<socklen_t>(endpoints[at].size()));
        if (begun != 0 && errno != EINPROGRESS) continue;
        if (!wait_on(socket.get(), POLLOUT, stop_fd, share_of(until, endpoints.size() - at))) {
            last = Step::TimedOut;
            continue;
        }
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
            last = Step::Broken;
            continue;
        }
        made = std::make_unique<Wire>(std::move(socket), stop_fd);
        return Step::Moved;
    }
    return last;
}

Wire::Refusal Wire::secure(ssl_ctx_st* context, const std::string& host, Deadline until) {
    tls_ = SSL_new(context);
    if (tls_ == nullptr || SSL_set_fd(tls_, socket_.get()) != 1) return {Step::Broken, false, "no memory"};
    SSL_set_mode(tls_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_read_ahead(tls_, 1);  // one system call for a record, not two
    net::expect_host(tls_, host);
    while (true) {
        ERR_clear_error();
        const int done = SSL_connect(tls_);
        if (done == 1) return {};
        int needs = 0;
        const Moved moved = settle(done, needs);
        if (moved.step == Step::Later && wait(needs, until)) continue;
        if (moved.step == Step::Later) return {Step::TimedOut, false, {}};
        const long verdict = SSL_get_verify_result(tls_);
        if (verdict != X509_V_OK) return {Step::Broken, true, X509_verify_cert_error_string(verdict)};
        const char* reason = ERR_reason_error_string(ERR_peek_error());
        return {Step::Broken, false, reason == nullptr ? "the connection was closed" : reason};
    }
}

Moved Wire::settle(long count, int& needs) {
    if (count > 0) return {Step::Moved, static_cast<std::size_t>(count)};
    if (tls_ == nullptr) {
        if (count == 0) return {Step::Ended, 0};
        return {errno == EAGAIN || errno == EINTR ? Step::Later : Step::Broken, 0};
    }
    switch (SSL_get_error(tls_, static_cast<int>(count))) {
        case SSL_ERROR_WANT_READ:
            needs = POLLIN;
            return {Step::Later, 0};
        case SSL_ERROR_WANT_WRITE:
            needs = POLLOUT;
            return {Step::Later, 0};
        case SSL_ERROR_ZERO_RETURN:
            return {Step::Ended, 0};
        default:
            return {Step::Broken, 0};
    }
}

Moved Wire::read(std::span<char> into) {
    ERR_clear_error();
    const std::size_t bytes = std::min<std::size_t>(into.size(), INT_MAX);
    const long count = tls_ != nullptr ? SSL_read(tls_, into.data(), static_cast<int>(bytes))
                                       : ::recv(socket_.get(), into.data(), bytes, 0);
    return settle(count, read_needs_);
}

Moved Wire::write(std::string_view bytes) {
    if (bytes.empty()) return {Step::Moved, 0};
    ERR_clear_error();
    const std::size_t size = std::min<std::size_t>(bytes.size(), INT_MAX);
    const long count = tls_ != nullptr ? SSL_write(tls_, bytes.data(), static_cast<int>(size))
                                       : ::send(socket_.get(), bytes.data(), size, MSG_NOSIGNAL);
    const Moved moved = settle(count, write_needs_);
    return moved.step == Step::Ended ? Moved{Step::Broken, 0} : moved;
}

bool Wire::is_quiet() const {
    ::pollfd now{socket_.get(), POLLIN, 0};
    return ::poll(&now, 1, 0) == 0 && (tls_ == nullptr || SSL_has_pending(tls_) == 0);
}

}  // namespace lavant::adapters::http_client
