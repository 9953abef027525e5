#include "adapters/http_server/connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "adapters/http_server/response_text.h"
#include "adapters/http_server/web_socket.h"
#include "base/log.h"

namespace lavant::adapters::http {
namespace {

constexpr std::size_t kPipelinedBytes = 64U << 10;  // kept while an answer is under way
constexpr std::size_t kKeptBytes = 16U << 10;       // of what was read, by a connection that waits
constexpr std::uint64_t kWriteBackBytes = 8U << 20;
constexpr int kStepsMax = 128;  // then others get their turn
constexpr Duration kLinger = std::chrono::seconds{2};
constexpr char kTlsHandshake = 0x16;  // the first byte of every TLS connection

bool may_have_body(const std::string& method) {
    return method == "PUT" || method == "POST" || method == "PATCH";
}

}  // namespace

Connection::Connection(Worker& worker, Fd socket, std::string peer)
    : worker_(worker),
      common_(worker.common()),
      transport_(std::make_unique<Transport>(worker.context(), std::move(socket))),
      peer_(std::move(peer)),
      reader_(worker.common().settings.limits.head_bytes) {}

Connection::~Connection() { drop_spool(); }

void Connection::start() {
    state_ = common_.settings.tls ? State::Sniff : State::Head;
    extend(common_.settings.limits.head);
    arm_read();
}

void Connection::pump() {
    if (pumping_) return;  // an answer given inside the handler: the loop below goes on with it
    pumping_ = true;
    const auto self = shared_from_this();
    int steps = 0;
    while (step())
        if (++steps == kStepsMax) break;
    pumping_ = false;
    if (state_ != State::Closed) count_bytes();
    if (steps == kStepsMax) boost::asio::post(worker_.context(), [self] { self->pump(); });
}

bool Connection::step() {
    switch (state_) {
        case State::Sniff:
            return step_sniff();
        case State::Handshake:
            return step_handshake();
        case State::Head:
        case State::Body:
            return step_read();
        case State::Write:
            return step_write();
        case State::Linger:
            return step_linger();
        case State::Answer:
        case State::Closed:
            return false;
    }
    return false;
}

// --- opening ---

bool Connection::step_sniff() {
    char first = 0;
    const ReadOutcome outcome = transport_->peek_byte(&first);
    if (outcome.io == Io::WantRead) {
        arm_read();
        return false;
    }
    if (outcome.io != Io::Done) {
        abort();
        return false;
    }
    if (first != kTlsHandshake) {
        refuse_plain_text();
        return true;
    }
    {
        const std::lock_guard lock(common_.mutex);
        transport_->begin_tls(common_.tls);
    }
    state_ = State::Handshake;
    return true;
}

bool Connection::step_handshake() {
    const Io io = transport_->handshake();
    const Io flushed = transport_->flush();  // also the alert that says why it failed
    if (io == Io::Closed || flushed == Io::Closed) {
        common_.handshakes_failed.fetch_add(1, std::memory_order_relaxed);
        abort();
        return false;
    }
    if (flushed == Io::WantWrite) {
        arm_write();
        return false;
    }
    if (io != Io::Done) {
        arm_read();
        return false;
    }
    state_ = State::Head;
    return true;
}

// --- reading ---

bool Connection::step_read() {
    if (!in_.empty()) {
        const RequestReader::Outcome outcome = reader_.take(in_);
        in_.erase(0, outcome.consumed);
        if (outcome.consumed > 0 && !store_body()) return true;
        switch (outcome.progress) {
            case RequestReader::Progress::HeadDone:
                return head_done();
            case RequestReader::Progress::Done:
                return hand_over();
            case RequestReader::Progress::Refused:
                common_.requests_malformed.fetch_add(1, std::memory_order_relaxed);
                refuse(reader_.refusal());
                return true;
            case RequestReader::Progress::NeedsMore:
                break;
        }
        if (!request_begun_ && state_ == State::Head && !in_.empty()) {
            request_begun_ = true;
            extend(common_.settings.limits.head);
        }
    }
    return read_more();
}

bool Connection::read_more() {
    auto& scratch = worker_.scratch();
    const ReadOutcome outcome = transport_->read(scratch);
    if (outcome.io == Io::Done) {
        in_.append(scratch.data(), outcome.bytes);
        return true;
    }
    if (outcome.io == Io::Closed) {
        abort();
        return false;
    }
    if (outcome.io == Io::WantWrite)
        arm_write();
    else
        arm_read();
    return false;
}

bool Connection::head_done() {
    ports::HttpRequest& request = reader_.request();
    request.peer = peer_;
    is_head_ = request.method == "HEAD";
    is_http_1_0_ = reader_.is_http_1_0();
    keep_alive_ = reader_.keep_alive();
    if (reader_.is_upgrade()) return upgrade();
    state_ = State::Body;
    if (reader_.content_length() == 0U && !may_have_body(request.method)) return hand_over();
    return begin_body();
}

bool Connection::begin_body() {
    const ports::BodyPlan plan = common_.application.plan_body(reader_.request());
    const auto length = reader_.content_length();
    if (length && *length > plan.bytes_max) {
        refuse({413, "RequestBodyTooLarge",
                "the body of the request has " + std::to_string(*length) +
                    " bytes; this route takes at most " + std::to_string(plan.bytes_max)});
        return true;
    }
    reader_.limit_body(plan.bytes_max);
    if (plan.to_file) {
        spool_path_ = common_.settings.temporary_folder + "/upload-" + std::to_string(::getpid()) + "-" +
                      std::to_string(common_.file_names.fetch_add(1));
        auto opened = open_file(spool_path_, O_WRONLY | O_CREAT | O_EXCL);
        if (!opened) {
            log(Level::Error, "upload_failed", {{"why", opened.error().message}});
            spool_path_.clear();
            refuse({507, "InsufficientStorage", "the server cannot store this body: look at its log"});
            return true;
        }
        spool_ = std::move(opened).value();
        spool_bytes_ = spool_started_ = 0;
    }
    if (length == 0U) return hand_over();
    if (reader_.expects_continue() && in_.empty()) {
        transport_->queue("HTTP/1.1 100 Continue\r\n\r\n");
        if (transport_->flush() == Io::WantWrite) arm_write();
    }
    window_bytes_ = 0;
    extend(common_.settings.limits.body);
    return true;
}

// Moves what was read into the spool, or counts it against the memory all bodies may take. False: refused.
bool Connection::store_body() {
    ports::HttpRequest& request = reader_.request();
    if (state_ != State::Body || request.body.empty()) return true;
    if (spool_) {
        auto written = write_all(spool_.get(), request.body);
        spool_bytes_ += request.body.size();
        request.body.clear();
        if (written && spool_bytes_ - spool_started_ >= kWriteBackBytes) start_write_back();
        if (written) return true;
        log(Level::Error, "upload_failed", {{"file", spool_path_}, {"why", written.error().message}});
        refuse({507, "InsufficientStorage", "the server cannot store this body: its disk may be full"});
        return false;
    }
    const std::uint64_t more = request.body.size() - charged_bytes_;
    charged_bytes_ = request.body.size();
    if (common_.body_bytes.fetch_add(more) + more <= common_.settings.limits.body_bytes) return true;
    refuse({503, "ServerBusy", "the server holds too many request bodies at once: try again in a moment"});
    return false;
}

// Whoever makes the file durable in the end finds most of it on the disk. On a thread of its own, as a busy
// disk makes the call wait.
void Connection::start_write_back() {
    const auto file = std::make_shared<Fd>(::fcntl(spool_.get(), F_DUPFD_CLOEXEC, 0));  // tasks are copyable
    const auto from = static_cast<off_t>(std::exchange(spool_started_, spool_bytes_));
    const auto bytes = static_cast<off_t>(spool_bytes_) - from;
    if (!*file) return;
    (void)common_.write_back.post(
        [file, from, bytes] { (void)::sync_file_range(file->get(), from, bytes, SYNC_FILE_RANGE_WRITE); });
}

bool Connection::hand_over() {
    common_.requests.fetch_add(1, std::memory_order_relaxed);
    ports::HttpRequest request = std::move(reader_.request());
    spool_.reset();
    request.body_file = spool_path_;
    if (in_.empty() && in_.capacity() > kKeptBytes) in_ = {};
    state_ = State::Answer;
    deadline_ = Tick::max();
    auto responder = std::make_shared<Exchange>(Exchange::Origin{
        weak_from_this(), worker_.mailbox(), common_.settings.limits.stream_bytes, std::move(spool_path_)});
    spool_path_.clear();
    common_.application.handle(std::move(request), std::move(responder));
    if (state_ == State::Answer) extend(std::chrono::seconds{1});  // see on_deadline()
    return state_ != State::Answer;
}

bool Connection::upgrade() {
    state_ = State::Answer;
    common_.requests.fetch_add(1, std::memory_order_relaxed);
    if (worker_.is_draining()) {
        answer(make_refusal({503, "Stopping", "the server is stopping: try again in a moment"}), nullptr);
        return true;
    }
    auto accepted = common_.application.accept_socket(reader_.request());
    if (!accepted) {
        answer(std::move(accepted).error(), nullptr);
        return true;
    }
    state_ = State::Closed;
    const auto socket =
        std::make_shared<WebSocket>(worker_, std::move(transport_), std::move(accepted).value());
    worker_.replace(shared_from_this(), socket);
    socket->accept(reader_.request(), std::move(in_));
    return false;
}

// --- answering ---

void Connection::refuse(const Refusal& refusal) {
    state_ = State::Answer;
    keep_alive_ = false;  // where the next request would begin is unknown
    drop_spool();
    if (worker_.may_log_refusal())
        log(Level::Info, "request_refused",
            {{"peer", peer_}, {"status", std::to_string(refusal.status)}, {"why", refusal.message}});
    answer(make_refusal(refusal), nullptr);
}

void Connection::refuse_plain_text() {
    keep_alive_ = false;
    state_ = State::Answer;
    ports::HttpResponse response;
    response.status = 400;
    response.headers = {{"Content-Type", "text/plain"}};
    response.body = "this port speaks HTTPS: use https:// in place of http://\n";
    answer(std::move(response), nullptr);
}

void Connection::answer(ports::HttpResponse response, std::shared_ptr<Stream> stream) {
    if (state_ != State::Answer) {
        if (stream) stream->mark_gone();
        return;
    }
    if (worker_.is_draining() || asks_to_close(response)) keep_alive_ = false;
    state_ = State::Write;
    deadline_ = Tick::max();
    if (stream && worker_.is_draining()) {
        stream->mark_gone();
        abort();
        return;
    }
    if (stream && is_http_1_0_) keep_alive_ = false;  // such a body ends with the connection
    const ResponseWriter::Terms terms{is_head_, is_http_1_0_, keep_alive_, worker_.http_date()};
    writer_.begin(std::move(response), std::move(stream), terms, transport_.get());
    pump();
}

bool Connection::step_write() {
    const Io io = transport_->flush();
    if (io == Io::Closed) {
        abort();
        return false;
    }
    if (io == Io::WantWrite) {
        if (deadline_ == Tick::max()) {
            queued_before_ = transport_->bytes_queued();
            extend(common_.settings.limits.write);
        }
        arm_write();
        return false;
    }
    deadline_ = Tick::max();
    switch (writer_.feed(worker_.scratch(), transport_.get())) {
        case ResponseWriter::Progress::Queued:
            return true;
        case ResponseWriter::Progress::Finished:
            return finish_exchange();
        case ResponseWriter::Progress::Broken:
            abort();
            return false;
        case ResponseWriter::Progress::Waiting:
            break;
    }
    transport_->release_buffer();
    arm_read();  // to learn that the client left
    extend(std::chrono::seconds{1});
    return false;
}

void Connection::stream_has_more() {
    if (!writer_.is_overflowed()) return pump();
    log(Level::Warning, "stream_cut", {{"peer", peer_}, {"why", "the client takes too little"}});
    abort();
}

bool Connection::finish_exchange() {
    writer_.reset();
    common_.body_bytes.fetch_sub(std::exchange(charged_bytes_, 0));
    if (!keep_alive_ || worker_.is_draining()) {
        begin_linger();
        return true;
    }
    reader_.start_next();
    request_begun_ = false;
    is_head_ = is_http_1_0_ = false;  // a refusal may come before the next head is known
    state_ = State::Head;
    extend(common_.settings.limits.idle);
    if (in_.empty() && !transport_->holds_input()) {
        transport_->release_buffer();
        arm_read();
        return false;
    }
    return true;
}

// The client gets time to read the answer: closing with unread input would destroy it.
void Connection::begin_linger() {
    transport_->finish_sending();
    state_ = State::Linger;
    in_ = {};
    extend(kLinger);
}

bool Connection::step_linger() {
    const ReadOutcome outcome = transport_->read(worker_.scratch());
    if (outcome.io == Io::Done) return true;
    if (outcome.io == Io::WantRead && !worker_.is_draining())
        arm_read();
    else
        abort();
    return false;
}

// --- waiting ---

void Connection::arm_read() {
    if (read_armed_) return;
    read_armed_ = true;
    transport_->wait_readable([self = shared_from_this()](boost::system::error_code problem) {
        self->read_armed_ = false;
        if (problem || self->state_ == State::Closed) return;
        if (self->state_ == State::Answer || self->state_ == State::Write) self->watch_client();
        self->pump();
    });
}

void Connection::arm_write() {
    if (write_armed_) return;
    write_armed_ = true;
    transport_->wait_writable([self = shared_from_this()](boost::system::error_code problem) {
        self->write_armed_ = false;
        if (problem || self->state_ == State::Closed) return;
        self->pump();
    });
}

// While an answer is under way: keeps what the client sends ahead, and notices when it leaves.
void Connection::watch_client() {
    auto& scratch = worker_.scratch();
    while (in_.size() < kPipelinedBytes) {
        const ReadOutcome outcome = transport_->read({scratch.data(), kPipelinedBytes - in_.size()});
        if (outcome.io == Io::Done) {
            in_.append(scratch.data(), outcome.bytes);
            continue;
        }
        if (outcome.io == Io::Closed)
            abort();
        else
            arm_read();
        return;
    }
}

void Connection::extend(Duration span) { deadline_ = std::chrono::steady_clock::now() + span; }

void Connection::tick(Tick now) {
    if (now >= deadline_) on_deadline();
}

void Connection::on_deadline() {
    const auto self = shared_from_this();
    const ServerLimits& limits = common_.settings.limits;
    switch (state_) {
        case State::Answer:  // a long one: worth knowing whether anybody still waits for it
            deadline_ = Tick::max();
            arm_read();
            return;
        case State::Body:
            if (reader_.request().body_bytes - window_bytes_ >= limits.body_bytes_min) {
                window_bytes_ = reader_.request().body_bytes;
                extend(limits.body);
                return;
            }
            refuse({408, "RequestTimeout", "the body of the request came too slowly: check the network"});
            return;
        case State::Head:
            if (!request_begun_) break;
            refuse({408, "RequestTimeout", "the head of the request did not come in time"});
            return;
        case State::Write:
            if (transport_->bytes_queued() == 0 && writer_.is_streaming() && !writer_.is_forgotten()) {
                extend(std::chrono::seconds{1});
                return;
            }
            if (transport_->bytes_queued() < queued_before_ && transport_->bytes_queued() > 0) {
                queued_before_ = transport_->bytes_queued();
                extend(limits.write);
                return;
            }
            break;  // stuck, or a stream whose writer forgot to finish it
        case State::Sniff:
        case State::Handshake:
        case State::Linger:
        case State::Closed:
            break;
    }
    abort();
}

// --- closing ---

void Connection::drain() {
    if (state_ == State::Sniff || state_ == State::Handshake ||
        (state_ == State::Write && writer_.is_streaming())) {
        abort();
        return;
    }
    if (state_ != State::Head || request_begun_ || !in_.empty()) return;
    begin_linger();
    pump();
}

void Connection::abort() {
    if (state_ == State::Closed) return;
    state_ = State::Closed;
    count_bytes();
    writer_.cut();
    writer_.reset();
    common_.body_bytes.fetch_sub(std::exchange(charged_bytes_, 0));
    drop_spool();
    transport_->close();
    worker_.remove(shared_from_this());
}

void Connection::drop_spool() {
    spool_.reset();
    if (!spool_path_.empty()) ::unlink(spool_path_.c_str());
    spool_path_.clear();
}

void Connection::count_bytes() {
    common_.bytes_in.fetch_add(
        transport_->bytes_read() - std::exchange(counted_in_, transport_->bytes_read()),
        std::memory_order_relaxed);
    common_.bytes_out.fetch_add(
        transport_->bytes_written() - std::exchange(counted_out_, transport_->bytes_written()),
        std::memory_order_relaxed);
}

}  // namespace lavant::adapters::http
