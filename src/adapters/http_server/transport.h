#pragma once
// One accepted socket, with or without TLS, never blocking. Reads and writes are tried at once; who is told
// to wait arms a wait. What is to be sent is encrypted into one buffer and leaves with as few system calls as
// possible.

#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "adapters/http_server/tls_context.h"
#include "base/files.h"

namespace lavant::adapters::http {

enum class Io {
    Done,
    WantRead,
    WantWrite,
    Closed
};  // Closed: by the peer, or broken; nothing more will come

struct ReadOutcome {
    Io io = Io::Closed;
    std::size_t bytes = 0;
};

class Transport {
 public:
    using Descriptor = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

    Transport(boost::asio::io_context& context, Fd socket);
    ~Transport();
    Transport(const Transport&) = delete;  // the TLS object keeps its address
    Transport& operator=(const Transport&) = delete;

    ReadOutcome peek_byte(char* first);
    void begin_tls(std::shared_ptr<const TlsContext> tls);
    bool is_tls() const { return ssl_ != nullptr; }
    Io handshake();

    ReadOutcome read(std::span<char> into);
    // Bytes were received that read() has not handed out: waiting for the socket would miss them.
    bool holds_input() const { return ssl_ != nullptr && SSL_has_pending(ssl_) == 1; }

    void queue(std::string_view bytes);
    Io flush();
    void release_buffer();  // nothing is to be sent for a while: idle connections hold no memory
    std::size_t bytes_queued() const { return wire_.out.size() - sent_; }
    std::uint64_t bytes_read() const { return bytes_read_; }
    std::uint64_t bytes_written() const { return bytes_written_; }

    // `handler(error_code)` runs when the socket is ready, or with an error after close().
    template <class Handler>
    void wait_readable(Handler&& handler) {
        descriptor_.async_wait(Descriptor::wait_read, std::forward<Handler>(handler));
    }
    template <class Handler>
    void wait_writable(Handler&& handler) {
        descriptor_.async_wait(Descriptor::wait_write, std::forward<Handler>(handler));
    }
    auto get_executor() { return descriptor_.get_executor(); }

    void
    finish_sending();  // TLS and TCP are told that nothing more comes; what is queued must be flushed before
    void close();
    bool is_open() const { return descriptor_.is_open(); }

 private:
    Io classify(int result);
    ReadOutcome receive(char* into, std::size_t bytes_max, int flags);

    Descriptor descriptor_;
    std::shared_ptr<const TlsContext> tls_;  // shared: see TlsContext
    SSL* ssl_ = nullptr;
    TlsWire wire_;  // what is to be sent, encrypted already
    std::size_t sent_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::uint64_t bytes_written_ = 0;
    bool broken_ = false;
};

}  // namespace lavant::adapters::http
