#include "adapters/http_server/web_socket.h"

#include <boost/asio/compose.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/log.h"

namespace lavant::adapters::http {
namespace {

namespace beast = boost::beast;
namespace net = boost::asio;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

constexpr std::size_t kBatchBytes = 256U << 10;  // laid into the transport at a time
constexpr std::size_t kControlBytes =
    64U << 10;  // queued: above this Beast waits with pongs, and so stops reading
constexpr std::size_t kKeptBytes = 128U << 10;

template <class Buffers>
auto first_of(const Buffers& buffers) {
    auto at = net::buffer_sequence_begin(buffers);
    const auto end = net::buffer_sequence_end(buffers);
    while (at != end && (*at).size() == 0) ++at;
    using Buffer = std::decay_t<decltype(*at)>;
    return at == end ? Buffer{} : Buffer{*at};
}

// The transport in the shape that Beast's WebSocket wants.
class Pipe {
 public:
    using executor_type = net::io_context::executor_type;

    Pipe(Transport* transport, std::string received, std::function<void()> flush)
        : transport_(transport), received_(std::move(received)), flush_(std::move(flush)) {}

    executor_type get_executor() { return transport_->get_executor(); }
    Transport& transport() { return *transport_; }
    bool holds_input() const { return taken_ < received_.size() || transport_->holds_input(); }
    ReadOutcome read(net::mutable_buffer into) {
        const std::span<char> space(static_cast<char*>(into.data()), into.size());
        if (taken_ == received_.size()) return transport_->read(space);
        const std::size_t count = received_.copy(space.data(), space.size(), taken_);
        taken_ += count;
        return {Io::Done, count};
    }
    void write(net::const_buffer bytes) {
        transport_->queue({static_cast<const char*>(bytes.data()), bytes.size()});
        flush_();
    }

    template <class Buffers, class Handler>
    auto async_read_some(const Buffers& buffers, Handler&& handler) {
        return net::async_compose<Handler, void(error_code, std::size_t)>(ReadOp{this, first_of(buffers)},
                                                                          handler, get_executor());
    }
    template <class Buffers, class Handler>
    auto async_write_some(const Buffers& buffers, Handler&& handler) {
        return net::async_compose<Handler, void(error_code, std::size_t)>(WriteOp{this, first_of(buffers)},
                                                                          handler, get_executor());
    }

    friend void beast_close_socket(Pipe& pipe) { pipe.transport_->close(); }
    friend void teardown(beast::role_type, Pipe& pipe, error_code&) { pipe.transport_->finish_sending(); }
    template <class Handler>
    friend void async_teardown(beast::role_type, Pipe& pipe, Handler&& handler) {
        pipe.transport_->finish_sending();
        net::post(pipe.get_executor(),
                  beast::bind_front_handler(std::forward<Handler>(handler), error_code{}));
    }

 private:
    // Completes through the executor when there was nothing to wait for: a handler never runs inside its
    // initiation.
    struct ReadOp {
        Pipe* pipe;
        net::mutable_buffer into;
        bool waited = false;
        bool posted = false;
        ReadOutcome outcome{};

        template <class Self>
        void operator()(Self& self, error_code problem = {}) {
            if (!posted) {
                if (problem) {
                    self.complete(problem, 0);
                    return;
                }
                Transport& transport = pipe->transport();
                const bool look = waited || pipe->holds_input() || !transport.is_open();
                outcome = look ? pipe->read(into) : ReadOutcome{Io::WantRead, 0};
                if (outcome.io == Io::WantRead || outcome.io == Io::WantWrite) {
                    waited = true;
                    transport.wait_readable(std::move(self));
                    return;
                }
                if (!waited) {
                    posted = true;
                    auto executor = pipe->get_executor();
                    net::post(executor, std::move(self));
                    return;
                }
            }
            if (outcome.io == Io::Done)
                self.complete({}, outcome.bytes);
            else
                self.complete(net::error::eof, 0);
        }
    };

    struct WriteOp {
        Pipe* pipe;
        net::const_buffer from;
        bool written = false;
        bool posted = false;

        template <class Self>
        void operator()(Self& self, error_code problem = {}) {
            Transport& transport = pipe->transport();
            if (!problem && !written) {
                written = true;
                pipe->write(from);
            }
            if (!problem && transport.bytes_queued() > kControlBytes) {
                posted = true;
                transport.wait_writable(std::move(self));
                return;
            }
            if (!posted) {
                posted = true;
                auto executor = pipe->get_executor();
                net::post(executor, std::move(self));
                return;
            }
            self.complete(problem, problem ? 0 : from.size());
        }
    };

    Transport* transport_;
    std::string received_;  // before the upgrade was through
    std::size_t taken_ = 0;
    std::function<void()> flush_;
};

// A whole message in one binary frame; a server's frames are not masked.
void append_frame(std::string* text, std::string_view payload) {
    constexpr char kFinalBinary = static_cast<char>(0x82);
    const std::size_t size = payload.size();
    text->push_back(kFinalBinary);
    int length_bytes = 0;
    if (size < 126) {
        text->push_back(static_cast<char>(size));
    } else {
        length_bytes = size <= 0xffff ? 2 : 8;
        text->push_back(length_bytes == 2 ? '\x7e' : '\x7f');
    }
    for (int i = length_bytes - 1; i >= 0; --i) text->push_back(static_cast<char>((size >> (8 * i)) & 0xffU));
    text->append(payload);
}

}  // namespace

struct WebSocket::Wire {
    Wire(Transport* transport, std::string received, std::function<void()> flush)
        : stream(transport, std::move(received), std::move(flush)) {}
    websocket::stream<Pipe, false> stream;
    beast::flat_buffer incoming;
};

// --- the application's end ---

Peer::Peer(std::weak_ptr<WebSocket> socket, std::shared_ptr<Mailbox> mailbox, std::size_t bytes_max)
    : socket_(std::move(socket)), mailbox_(std::move(mailbox)), bytes_max_(bytes_max) {}

void Peer::send(std::string frame) {
    {
        const std::lock_guard lock(mutex_);
        if (gone_ || pending_.closing || overflowed_) return;
        bytes_waiting_ += frame.size();
        if (bytes_waiting_ > bytes_max_)
            overflowed_ = true;
        else
            pending_.frames.push_back(std::move(frame));
        // A stuck socket takes nothing, and so never clears woken_; of an overflow it must hear all the same.
        if (woken_ && !overflowed_) return;
        woken_ = true;
    }
    wake();
}

void Peer::close() {
    {
        const std::lock_guard lock(mutex_);
        if (gone_) return;
        pending_.closing = true;
        if (woken_) return;
        woken_ = true;
    }
    wake();
}

void Peer::wake() {
    mailbox_->deliver([weak = socket_] {
        if (const auto socket = weak.lock()) socket->peer_has_more();
    });
}

Peer::Portion Peer::take() {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    Portion portion = std::exchange(pending_, {});
    pending_.closing = portion.closing;
    return portion;
}

void Peer::sent(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_waiting_ -= bytes;
}

void Peer::mark_gone() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    pending_ = {};
}

// --- the thread's end ---

WebSocket::WebSocket(Worker& worker, std::unique_ptr<Transport> transport,
                     std::unique_ptr<ports::SocketHandler> handler)
    : worker_(worker),
      common_(worker.common()),
      transport_(std::move(transport)),
      handler_(std::move(handler)),
      counted_in_(transport_->bytes_read()),
      counted_out_(transport_->bytes_written()) {}

WebSocket::~WebSocket() = default;

void WebSocket::accept(const ports::HttpRequest& head, std::string received) {
    common_.sockets.fetch_add(1);
    const ServerLimits& limits = common_.settings.limits;
    peer_ = std::make_shared<Peer>(weak_from_this(), worker_.mailbox(), limits.socket_bytes);
    wire_ = std::make_unique<Wire>(transport_.get(), std::move(received), [this] { send_more(); });
    websocket::stream_base::timeout patience{};
    patience.handshake_timeout = limits.head;
    patience.idle_timeout = 2 * limits.ping;
    patience.keep_alive_pings = true;
    wire_->stream.set_option(patience);
    wire_->stream.read_message_max(limits.frame_bytes);

    beast::http::request<beast::http::empty_body> request;
    request.version(11);
    request.method_string(head.method);
    request.target(head.path);
    for (const auto& [name, value] : head.headers) request.insert(name, value);
    wire_->stream.async_accept(request, [self = shared_from_this()](error_code problem) {
        if (problem)
            self->end();
        else
            self->opened();
    });
}

void WebSocket::opened() {
    open_ = true;
    handler_->opened(peer_);
    read_next();
    if (worker_.is_draining()) drain();
}

void WebSocket::read_next() {
    wire_->stream.async_read(wire_->incoming, [self = shared_from_this()](error_code problem, std::size_t) {
        if (problem) {
            self->end();
            return;
        }
        beast::flat_buffer& incoming = self->wire_->incoming;
        self->common_.frames_in.fetch_add(1, std::memory_order_relaxed);
        self->handler_->received(beast::buffers_to_string(incoming.data()));
        incoming.consume(incoming.size());
        if (incoming.capacity() > kKeptBytes) incoming.shrink_to_fit();
        self->count_bytes();
        self->read_next();
    });
}

void WebSocket::peer_has_more() {
    if (peer_->is_overflowed() && !ended_) {
        log(Level::Warning, "websocket_cut", {{"why", "the other end takes too little"}});
        abort();
        return;
    }
    if (!write_armed_ && !ended_) send_more();
}

// Sends what is queued and, when that is through, lays down what came meanwhile.
void WebSocket::send_more() {
    while (!ended_) {
        const Io io = transport_->flush();
        if (io == Io::Closed) {
            abort();
            return;
        }
        if (io == Io::WantWrite) {
            if (write_armed_) return;
            write_armed_ = true;
            transport_->wait_writable([self = shared_from_this()](error_code problem) {
                self->write_armed_ = false;
                if (!problem) self->send_more();
            });
            return;
        }
        peer_->sent(std::exchange(in_flight_, 0));
        lay_frames();
        if (transport_->bytes_queued() == 0) break;
    }
    if (close_wanted_ && !ended_) close(false);
}

void WebSocket::lay_frames() {
    if (!open_ || closing_) return;
    Peer::Portion portion = peer_->take();
    close_wanted_ = portion.closing;
    for (std::string& frame : portion.frames) outgoing_.push_back(std::move(frame));
    std::string batch;
    while (!outgoing_.empty() && batch.size() < kBatchBytes) {
        append_frame(&batch, outgoing_.front());
        in_flight_ += outgoing_.front().size();
        outgoing_.pop_front();
        common_.frames_out.fetch_add(1, std::memory_order_relaxed);
    }
    transport_->queue(batch);
}

void WebSocket::close(bool going_away) {
    if (closing_) return;
    closing_ = true;
    const auto code = going_away ? websocket::close_code::going_away : websocket::close_code::normal;
    wire_->stream.async_close(code, [self = shared_from_this()](error_code) {});
}

void WebSocket::end() {
    if (ended_) return;
    ended_ = true;
    count_bytes();
    peer_->mark_gone();
    transport_->finish_sending();
    transport_->close();
    if (open_) handler_->closed();
    common_.sockets.fetch_sub(1);
    worker_.remove(shared_from_this());
}

void WebSocket::tick(Tick now) {
    const std::size_t queued = transport_->bytes_queued();
    if (queued == 0 || queued != stuck_at_) {
        stuck_since_ = now;
        stuck_at_ = queued;
        return;
    }
    if (now - stuck_since_ > common_.settings.limits.write) abort();
}

// One whose upgrade is not through yet says good-bye in opened().
void WebSocket::drain() {
    if (open_) close(true);
}

// The pending accept or read then fails, and ends it.
void WebSocket::abort() { transport_->close(); }

void WebSocket::count_bytes() {
    common_.bytes_in.fetch_add(
        transport_->bytes_read() - std::exchange(counted_in_, transport_->bytes_read()),
        std::memory_order_relaxed);
    common_.bytes_out.fetch_add(
        transport_->bytes_written() - std::exchange(counted_out_, transport_->bytes_written()),
        std::memory_order_relaxed);
}

}  // namespace lavant::adapters::http
