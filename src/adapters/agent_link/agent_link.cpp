#include "adapters/agent_link/agent_link.h"

#include <fcntl.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <deque>
#include <optional>
#include <random>
#include <utility>

#include "adapters/agent_link/reactor.h"
#include "base/files.h"
#include "base/limits.h"
#include "net/client_tls.h"
#include "net/dial.h"
#include "net/target.h"

namespace lavant::adapters {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using net::Endpoints;
using net::Target;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr bool kDeflate = false;  // Frames are compact as they are; compressing would double the code.
constexpr Duration kStepTimeout = std::chrono::seconds(60);
constexpr std::size_t kBodyBytesMax = 64U << 20;  // of an answer that is not written to a file
constexpr std::size_t kChunkBytes = 64U << 10;
constexpr std::size_t kSessionsMax = 4;
constexpr int kRedirectsMax = 5;
constexpr std::size_t kUnsentBytesMax = 64U << 20;

// Tries one address after the other; `done(error_code)` once.
template <class Done>
void connect(beast::tcp_stream& stream, std::shared_ptr<const Endpoints> endpoints, std::size_t at,
             Done done) {
    if (at >= endpoints->size()) return done(error_code(asio::error::host_unreachable));
    if (!net::open_private(stream.socket(), (*endpoints)[at]))
        return connect(stream, endpoints, at + 1, std::move(done));
    stream.expires_after(kStepTimeout);
    stream.async_connect(
        (*endpoints)[at], [&stream, endpoints, at, done = std::move(done)](const error_code& error) mutable {
            if (error && at + 1 < endpoints->size() && error != asio::error::operation_aborted)
                return connect(stream, endpoints, at + 1, std::move(done));
            done(error);
        });
}

beast::tcp_stream& tcp_of(beast::tcp_stream& stream) { return stream; }
beast::tcp_stream& tcp_of(TlsStream& stream) { return stream.next_layer(); }

Error unreachable(const Target& target, const error_code& error) {
    return {ErrorCode::Unavailable, "cannot talk to " + target.authority() + ": " + error.message(), {}};
}

// --- WebSockets ---

class Socket : public std::enable_shared_from_this<Socket> {
    // One connection, kept by the operations that are under way on it.
    struct Wire {
        Wire(asio::io_context& context, asio::ssl::context& tls) : stream(context, tls) {}
        beast::tcp_stream& tcp() { return stream.next_layer().next_layer(); }
        websocket::stream<TlsStream, kDeflate> stream;
        websocket::response_type answer;
        beast::flat_buffer buffer;
        std::deque<std::string> unsent;
        std::size_t unsent_bytes = 0;
    };

    // A completion handler that goes on only if nothing failed and nobody ended or replaced this connection.
    template <class Next>
    auto step(Next next) {
        return [self = shared_from_this(), wire = wire_, next = std::move(next)](const error_code& error,
                                                                                 auto&&...) {
            if (wire != self->wire_) return;
            if (error) return self->fail();
            next();
        };
    }

 public:
    struct Plan {
        Target target;
        std::string bearer;
        Duration first_pause{};
        Duration longest_pause{};
    };
    Socket(agent_link::Reactor& reactor, asio::ssl::context& tls, Plan plan, ports::LinkHandler& handler)
        : reactor_(reactor),
          tls_(tls),
          plan_(std::move(plan)),
          handler_(&handler),
          random_(std::random_device{}()) {}

    void dial() {
        wire_ = std::make_shared<Wire>(reactor_.context(), tls_);
        const auto endpoints =
            std::make_shared<const Endpoints>(net::resolve(reactor_.context(), plan_.target));
        net::expect_host(wire_->stream.next_layer().native_handle(), plan_.target.host);
        connect(wire_->tcp(), endpoints, 0, step([this] { handshake(); }));
    }
    void send(std::string frame) {
        if (!is_up_) return;
        wire_->unsent_bytes += frame.size();
        wire_->unsent.push_back(std::move(frame));
        if (wire_->unsent_bytes > kUnsentBytesMax)
            return fail();  // It takes nothing; a new link begins afresh.
        if (wire_->unsent.size() == 1) write();
    }
    void end() {
        handler_ = nullptr;
        reactor_.cancel(timer_);
        if (wire_) wire_->tcp().close();
        wire_.reset();
    }

 private:
    void handshake() {
        wire_->tcp().expires_after(kStepTimeout);
        wire_->stream.next_layer().async_handshake(asio::ssl::stream_base::client,
                                                   step([this] { upgrade(); }));
    }
    void upgrade() {
        auto& stream = wire_->stream;
        wire_->tcp().expires_never();
        websocket::stream_base::timeout timeout{};
        timeout.handshake_timeout = std::chrono::seconds(30);
        timeout.idle_timeout = std::chrono::seconds(60);
        timeout.keep_alive_pings = true;
        stream.set_option(timeout);
        stream.set_option(
            websocket::stream_base::decorator([bearer = plan_.bearer](websocket::request_type& request) {
                request.set(http::field::authorization, "Bearer " + bearer);
                request.set(http::field::user_agent, "lavant-agent");
            }));
        stream.binary(true);
        stream.auto_fragment(false);
        stream.read_message_max(limits::kFrameBytes);
        stream.async_handshake(wire_->answer, plan_.target.authority(), plan_.target.path,
                               [self = shared_from_this(), wire = wire_](const error_code& error) {
                                   if (wire == self->wire_) self->upgraded(error);
                               });
    }
    void upgraded(const error_code& error) {
        if (!error) return came_up();
        const bool declined = error == websocket::error::upgrade_declined;
        const int status = static_cast<int>(wire_->answer.result_int());
        fail();
        if (declined) handler_->refused(status);
    }
    void came_up() {
        is_up_ = true;
        failures_ = 0;
        read();
        handler_->up();
    }
    void read() {
        wire_->stream.async_read(wire_->buffer, step([this] {
                                     const auto wire = wire_;
                                     const auto data = wire->buffer.cdata();
                                     handler_->received({static_cast<const char*>(data.data()), data.size()});
                                     if (wire != wire_) return;
                                     wire->buffer.consume(wire->buffer.size());
                                     read();
                                 }));
    }
    void write() {
        wire_->stream.async_write(asio::buffer(wire_->unsent.front()), step([this] {
                                      wire_->unsent_bytes -= wire_->unsent.front().size();
                                      wire_->unsent.pop_front();
                                      if (!wire_->unsent.empty()) write();
                                  }));
    }
    void fail() {
        wire_->tcp().close();
        wire_.reset();
        const bool was_up = std::exchange(is_up_, false);
        timer_ = reactor_.after(pause(), [self = shared_from_this()] {
            if (self->handler_ != nullptr) self->dial();
        });
        if (was_up) handler_->down();
    }
    Duration pause() {
        Duration longest = plan_.first_pause * (1LL << std::min(failures_++, 20));
        longest = std::min(longest, plan_.longest_pause);
        std::uniform_int_distribution<std::int64_t> jitter(longest.count() / 2, longest.count());
        return Duration(jitter(random_));
    }

    agent_link::Reactor& reactor_;
    asio::ssl::context& tls_;
    Plan plan_;
    ports::LinkHandler* handler_;  // null once ended
    std::mt19937 random_;
    std::shared_ptr<Wire> wire_;  // shared with its operations
    std::uint64_t timer_ = 0;
    int failures_ = 0;
    bool is_up_ = false;
};

class OwnedSocket final : public ports::KeptLink {
 public:
    explicit OwnedSocket(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {}
    ~OwnedSocket() override { socket_->end(); }
    void send(std::string frame) override { socket_->send(std::move(frame)); }

 private:
    std::shared_ptr<Socket> socket_;  // shared with its own callbacks
};

// --- HTTP ---

struct Exchange {
    ports::ClientRequest request;
    Target target;
    ports::ServerWire::Done done;
    int redirects = 0;
    bool to_server = true;
    bool again = false;  // was tried on a connection that had been kept too long
};

class Session;
// Told when a session is through with an exchange; the session may take another one if it is reusable.
using SessionDone = std::function<void(std::shared_ptr<Session>, Exchange, Result<ports::HttpResponse>)>;

class Session {
 public:
    virtual ~Session() = default;
    virtual void perform(Exchange exchange) = 0;
    virtual bool is_reusable() const = 0;
    virtual bool was_reused() const = 0;  // and no byte of an answer came
};

template <class Stream>
class SessionOver final : public Session, public std::enable_shared_from_this<SessionOver<Stream>> {
    template <class Next>
    auto step(Next next) {
        return [self = this->shared_from_this(), next = std::move(next)](const error_code& error, auto&&...) {
            if (error) return self->finish(lavant::fail(unreachable(self->exchange_.target, error)));
            next();
        };
    }

 public:
    template <class... Arguments>
    SessionOver(asio::io_context& context, SessionDone done, Arguments&... arguments)
        : context_(context), done_(std::move(done)), stream_(context, arguments...) {}

    void perform(Exchange exchange) override {
        exchange_ = std::move(exchange);
        response_ = {};
        reused_ = connected_;
        parser_.emplace();
        parser_->body_limit(boost::none);
        parser_->header_limit(static_cast<std::uint32_t>(limits::kHttpHeadBytes));
        if (connected_) return write();
        const auto endpoints = std::make_shared<const Endpoints>(net::resolve(context_, exchange_.target));
        connect(tcp_of(stream_), endpoints, 0, step([this] { secure(); }));
    }
    bool is_reusable() const override { return connected_; }
    bool was_reused() const override { return reused_ && response_.status == 0; }

 private:
    void secure() {
        if constexpr (std::is_same_v<Stream, TlsStream>) {
            net::expect_host(stream_.native_handle(), exchange_.target.host);
            stream_.async_handshake(asio::ssl::stream_base::client, step([this] { write(); }));
        } else {
            write();
        }
    }
    template <class Body>
    void fill_head(http::request<Body>& head) const {
        head.version(11);
        head.method_string(exchange_.request.method);
        head.target(exchange_.target.path);
        head.set(http::field::host, exchange_.target.authority());
        head.set(http::field::user_agent, "lavant-agent");
        for (const ports::Header& header : exchange_.request.headers) head.set(header.first, header.second);
    }
    void write() {
        connected_ = true;
        tcp_of(stream_).expires_after(kStepTimeout);
        if (exchange_.request.body_file.empty()) {
            text_.emplace();
            fill_head(*text_);
            text_->body() = exchange_.request.body;
            text_->prepare_payload();
            http::async_write(stream_, *text_, step([this] { read_head(); }));
            return;
        }
        file_.emplace();
        fill_head(*file_);
        error_code error;
        file_->body().open(exchange_.request.body_file.c_str(), beast::file_mode::scan, error);
        if (error)
            return finish(lavant::fail(ErrorCode::NotFound, "cannot read '" + exchange_.request.body_file +
                                                                "': " + error.message()));
        file_->prepare_payload();
        serializer_.emplace(*file_);
        write_some();
    }
    // In pieces, so that the time limit is one on progress and not on the whole file.
    void write_some() {
        tcp_of(stream_).expires_after(kStepTimeout);
        http::async_write_some(stream_, *serializer_, step([this] {
                                   if (serializer_->is_done()) return read_head();
                                   write_some();
                               }));
    }
    void read_head() {
        const int seconds = exchange_.request.timeout_s;
        tcp_of(stream_).expires_after(seconds > 0 ? std::chrono::seconds(seconds)
                                                  : std::chrono::seconds(600));
        http::async_read_header(stream_, buffer_, *parser_, step([this] { take_head(); }));
    }
    void take_head() {
        const auto& head = parser_->get();
        response_.status = static_cast<int>(head.result_int());
        for (const auto& field : head)
            response_.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
        const bool to_file = !exchange_.request.response_file.empty() && response_.status / 100 == 2;
        if (to_file) {
            Result<Fd> file =
                open_file(exchange_.request.response_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
            if (!file) return finish(lavant::fail(file.error()));
            sink_ = std::move(*file);
        }
        read_body();
    }
    void read_body() {
        if (parser_->is_done()) return finish(std::move(response_));
        tcp_of(stream_).expires_after(kStepTimeout);
        parser_->get().body().data = chunk_.data();
        parser_->get().body().size = chunk_.size();
        http::async_read(
            stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, std::size_t) {
                if (error == http::error::need_buffer) error = {};
                if (error) return self->finish(lavant::fail(unreachable(self->exchange_.target, error)));
                self->take_chunk();
            });
    }
    void take_chunk() {
        const std::string_view bytes(chunk_.data(), chunk_.size() - parser_->get().body().size);
        if (sink_) {
            const Result<void> written = write_all(sink_.get(), bytes);
            if (!written) return finish(lavant::fail(written.error()));
        } else {
            response_.body += bytes;
            if (response_.body.size() > kBodyBytesMax)
                return finish(
                    lavant::fail(ErrorCode::ResourceExhausted, "the answer is larger than it may be"));
        }
        read_body();
    }
    void finish(Result<ports::HttpResponse> result) {
        connected_ = connected_ && result && parser_->is_done() && parser_->keep_alive();
        if (!connected_) tcp_of(stream_).close();
        tcp_of(stream_).expires_never();
        sink_.reset();
        serializer_.reset();
        file_.reset();
        text_.reset();
        done_(this->shared_from_this(), std::move(exchange_), std::move(result));
    }

    asio::io_context& context_;
    SessionDone done_;
    Stream stream_;
    Exchange exchange_;
    ports::HttpResponse response_{.status = 0};
    beast::flat_buffer buffer_;
    std::optional<http::response_parser<http::buffer_body>> parser_;
    std::optional<http::request<http::string_body>> text_;
    std::optional<http::request<http::file_body>> file_;
    std::optional<http::request_serializer<http::file_body>> serializer_;
    std::string chunk_ = std::string(kChunkBytes, '\0');
    Fd sink_;
    bool connected_ = false;
    bool reused_ = false;
};

}  // namespace

// --- the whole ---

class AgentLink::Parts {
 public:
    Parts(AgentLinkSettings settings, Target server)
        : settings_(std::move(settings)), server_(std::move(server)), tls_(net::make_tls()) {
        tls_.load_verify_file(settings_.ca_file);
    }
    ~Parts() { waiting_.clear(); }

    agent_link::Reactor& reactor() { return reactor_; }

    std::unique_ptr<ports::KeptLink> keep_link(const std::string& path, const std::string& bearer,
                                               ports::LinkHandler& handler) {
        Socket::Plan plan{server_, bearer, settings_.first_pause, settings_.longest_pause};
        plan.target.path = path;
        auto socket = std::make_shared<Socket>(reactor_, tls_, std::move(plan), handler);
        reactor_.post([socket] { socket->dial(); });
        return std::make_unique<OwnedSocket>(std::move(socket));
    }
    void send(ports::ClientRequest request, Done done) {
        Exchange exchange{.request = std::move(request), .target = server_, .done = std::move(done)};
        exchange.to_server = exchange.request.url.starts_with('/');
        if (exchange.to_server) {
            exchange.target.path = exchange.request.url;
            waiting_.push_back(std::move(exchange));
            return pump();
        }
        const std::optional<Target> target = net::parse_target(exchange.request.url);
        if (!target) {
            reactor_.post([done = std::move(exchange.done), url = exchange.request.url] {
                done(lavant::fail(ErrorCode::InvalidArgument,
                                  "'" + url + "' is not an http or https address"));
            });
            return;
        }
        exchange.target = *target;
        perform_in_the_world(std::move(exchange));
    }

 private:
    SessionDone when_done() {
        return
            [this](std::shared_ptr<Session> session, Exchange exchange, Result<ports::HttpResponse> result) {
                performed(std::move(session), std::move(exchange), std::move(result));
            };
    }
    void pump() {
        while (!waiting_.empty() && (!idle_.empty() || sessions_ < kSessionsMax)) {
            std::shared_ptr<Session> session;
            if (idle_.empty()) {
                session = std::make_shared<SessionOver<TlsStream>>(reactor_.context(), when_done(), tls_);
                ++sessions_;
            } else {
                session = std::move(idle_.back());
                idle_.pop_back();
            }
            Exchange exchange = std::move(waiting_.front());
            waiting_.pop_front();
            session->perform(std::move(exchange));
        }
    }
    void perform_in_the_world(Exchange exchange) {
        std::shared_ptr<Session> session;
        if (exchange.target.tls) {
            // Hundreds of certificates: read when the first request needs them.
            if (!world_tls_) world_tls_ = net::make_world_tls();
            session = std::make_shared<SessionOver<TlsStream>>(reactor_.context(), when_done(), *world_tls_);
        } else {
            session = std::make_shared<SessionOver<beast::tcp_stream>>(reactor_.context(), when_done());
        }
        session->perform(std::move(exchange));
    }
    void performed(std::shared_ptr<Session> session, Exchange exchange, Result<ports::HttpResponse> result) {
        if (!exchange.to_server) return performed_in_the_world(std::move(exchange), std::move(result));
        const bool too_old = !result && session->was_reused() && !exchange.again;
        if (session->is_reusable()) {
            idle_.push_back(std::move(session));
        } else {
            --sessions_;
        }
        if (too_old) {  // The server closed it between two requests: once more on a fresh one.
            exchange.again = true;
            sessions_ -= idle_.size();
            idle_.clear();
            waiting_.push_front(std::move(exchange));
            return pump();
        }
        exchange.done(std::move(result));
        pump();
    }
    void performed_in_the_world(Exchange exchange, Result<ports::HttpResponse> result) {
        const bool moved =
            result && (result->status == 301 || result->status == 302 || result->status == 303 ||
                       result->status == 307 || result->status == 308);
        if (!moved || ++exchange.redirects > kRedirectsMax) return exchange.done(std::move(result));
        for (const ports::Header& header : result->headers) {
            if (!beast::iequals(header.first, "location")) continue;
            const std::optional<Target> next = net::follow(exchange.target, header.second);
            if (!next || (exchange.target.tls && !next->tls)) break;
            exchange.target = *next;
            return perform_in_the_world(std::move(exchange));
        }
        exchange.done(std::move(result));
    }

    AgentLinkSettings settings_;
    Target server_;
    asio::ssl::context tls_;
    std::optional<asio::ssl::context> world_tls_;
    std::deque<Exchange> waiting_;
    std::size_t sessions_ = 0;
    agent_link::Reactor reactor_;
    std::vector<std::shared_ptr<Session>> idle_;  // shared with their own callbacks
};

Result<std::unique_ptr<AgentLink>> AgentLink::make(const AgentLinkSettings& settings) {
    const std::optional<Target> server = net::parse_target(settings.server_url);
    if (!server || !server->tls)
        return lavant::fail(
            ErrorCode::InvalidArgument,
            "'" + settings.server_url + "' is not a server's address; write https://HOST:PORT");
    try {
        return std::unique_ptr<AgentLink>(new AgentLink(std::make_unique<Parts>(settings, *server)));
    } catch (const std::exception& error) {
        return lavant::fail(ErrorCode::InvalidArgument, "cannot read the certificate authority '" +
                                                            settings.ca_file + "': " + error.what());
    }
}

AgentLink::AgentLink(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
AgentLink::~AgentLink() = default;
void AgentLink::run() { parts_->reactor().run(); }
void AgentLink::stop() { parts_->reactor().stop(); }
void AgentLink::post(std::function<void()> task) { parts_->reactor().post(std::move(task)); }
AgentLink::Timer AgentLink::after(Duration delay, std::function<void()> task) {
    return parts_->reactor().after(delay, std::move(task));
}
void AgentLink::cancel(Timer timer) { parts_->reactor().cancel(timer); }
void AgentLink::when_readable(int fd, std::function<void()> task) {
    parts_->reactor().when_readable(fd, std::move(task));
}
void AgentLink::forget(int fd) { parts_->reactor().forget(fd); }
std::unique_ptr<ports::KeptLink> AgentLink::keep_link(const std::string& path, const std::string& bearer,
                                                      ports::LinkHandler& handler) {
    return parts_->keep_link(path, bearer, handler);
}
void AgentLink::send(ports::ClientRequest request, Done done) {
    parts_->send(std::move(request), std::move(done));
}

}  // namespace lavant::adapters
