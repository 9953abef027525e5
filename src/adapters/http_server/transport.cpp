#include "adapters/http_server/transport.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/check.h"

namespace lavant::adapters::http {
namespace {

constexpr std::size_t kKeptBytes = 128U << 10;  // a buffer that grew beyond this is given back
constexpr std::size_t kIdleBytes = 4U << 10;    // and by an idle connection beyond this
constexpr std::size_t kRecordBytes = 16U << 10;
constexpr std::size_t kRecordExtra = 64;  // head and tag of a TLS record, with room to spare

}  // namespace

Transport::Transport(boost::asio::io_context& context, Fd socket) : descriptor_(context, socket.get()) {
    wire_.socket = socket.release();
}

Transport::~Transport() { SSL_free(ssl_); }

ReadOutcome Transport::receive(char* into, std::size_t bytes_max, int flags) {
    while (true) {
        const ssize_t got = ::recv(wire_.socket, into, bytes_max, flags);
        if (got > 0) return {Io::Done, static_cast<std::size_t>(got)};
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {Io::WantRead, 0};
        return {Io::Closed, 0};
    }
}

ReadOutcome Transport::peek_byte(char* first) { return receive(first, 1, MSG_PEEK); }

void Transport::begin_tls(std::shared_ptr<const TlsContext> tls) {
    CHECK(ssl_ == nullptr, "TLS begins once");
    tls_ = std::move(tls);
    ssl_ = tls_->make_connection(&wire_);
}

Io Transport::classify(int result) {
    switch (SSL_get_error(ssl_, result)) {
        case SSL_ERROR_NONE:
            return Io::Done;
        case SSL_ERROR_WANT_READ:
            return Io::WantRead;
        case SSL_ERROR_WANT_WRITE:
            return Io::WantWrite;
        case SSL_ERROR_ZERO_RETURN:
            return Io::Closed;
        default:
            break;
    }
    ERR_clear_error();
    broken_ = true;
    return Io::Closed;
}

Io Transport::handshake() {
    ERR_clear_error();
    return classify(SSL_do_handshake(ssl_));
}

ReadOutcome Transport::read(std::span<char> into) {
    if (!is_open() || broken_) return {};
    ReadOutcome outcome;
    if (ssl_ == nullptr) {
        outcome = receive(into.data(), into.size(), 0);
    } else {
        ERR_clear_error();
        outcome.io = classify(SSL_read_ex(ssl_, into.data(), into.size(), &outcome.bytes));
    }
    bytes_read_ += outcome.bytes;
    return outcome;
}

void Transport::queue(std::string_view bytes) {
    if (!is_open() || broken_ || bytes.empty()) return;
    bytes_written_ += bytes.size();
    if (ssl_ == nullptr) {
        wire_.out.append(bytes);
        return;
    }
    if (bytes.size() > kRecordBytes)  // else it grows record by record
        wire_.out.reserve(wire_.out.size() + bytes.size() + (bytes.size() / kRecordBytes + 1) * kRecordExtra);
    while (!bytes.empty() && !broken_) {
        ERR_clear_error();
        std::size_t taken = 0;
        // The wire takes everything, so anything but success means that the connection is broken.
        if (classify(SSL_write_ex(ssl_, bytes.data(), bytes.size(), &taken)) != Io::Done) broken_ = true;
        bytes.remove_prefix(taken);
    }
}

Io Transport::flush() {
    if (!is_open()) return Io::Closed;
    while (bytes_queued() > 0) {
        const ssize_t count = ::send(wire_.socket, wire_.out.data() + sent_, bytes_queued(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Io::WantWrite;
        if (count < 0) {
            broken_ = true;
            return Io::Closed;
        }
        sent_ += static_cast<std::size_t>(count);
    }
    sent_ = 0;
    wire_.out.clear();
    if (wire_.out.capacity() > kKeptBytes) wire_.out.shrink_to_fit();
    return broken_ ? Io::Closed : Io::Done;
}

void Transport::release_buffer() {
    if (wire_.out.empty() && wire_.out.capacity() > kIdleBytes) wire_.out = {};
}

void Transport::finish_sending() {
    if (!is_open()) return;
    if (ssl_ != nullptr && !broken_ && SSL_is_init_finished(ssl_) == 1) {
        ERR_clear_error();
        SSL_shutdown(ssl_);
        ERR_clear_error();
    }
    flush();
    ::shutdown(wire_.socket, SHUT_WR);
}

void Transport::close() {
    boost::system::error_code ignored;
    descriptor_.close(ignored);
    wire_.socket = -1;
}

}  // namespace lavant::adapters::http
