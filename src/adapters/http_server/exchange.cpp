#include "adapters/http_server/exchange.h"

#include <unistd.h>

#include <utility>

#include "adapters/http_server/connection.h"
#include "adapters/http_server/response_text.h"
#include "base/log.h"

namespace lavant::adapters::http {

Stream::Stream(std::weak_ptr<Connection> connection, std::shared_ptr<Mailbox> mailbox, std::size_t bytes_max)
    : connection_(std::move(connection)), mailbox_(std::move(mailbox)), bytes_max_(bytes_max) {}

void Stream::write(std::string bytes) {
    if (bytes.empty() || client_is_gone()) return;
    {
        const std::lock_guard lock(mutex_);
        if (finished_ || overflowed_) return;
        if (waiting_.load() + bytes.size() > bytes_max_) {
            overflowed_ = true;
        } else {
            waiting_.fetch_add(bytes.size());
            if (pending_.empty())
                pending_ = std::move(bytes);
            else
                pending_ += bytes;
        }
        // A stuck connection takes nothing, and so never clears woken_; of an overflow it must hear all the
        // same.
        if (woken_ && !overflowed_) return;
        woken_ = true;
    }
    wake();
}

void Stream::finish() {
    {
        const std::lock_guard lock(mutex_);
        if (finished_) return;
        finished_ = true;
        if (woken_) return;
        woken_ = true;
    }
    wake();
}

void Stream::wake() {
    mailbox_->deliver([weak = connection_] {
        if (const auto connection = weak.lock()) connection->stream_has_more();
    });
}

Stream::Portion Stream::take() {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    return {std::exchange(pending_, {}), finished_};
}

Exchange::Exchange(Origin origin) : origin_(std::move(origin)) {}

Exchange::~Exchange() {
    if (claim()) {
        log(Level::Error, "request_dropped_unanswered");
        answer(make_refusal(
                   {500, "InternalError", "the server dropped this request: try again, and look at its log"}),
               nullptr);
    }
    if (!origin_.body_file.empty()) ::unlink(origin_.body_file.c_str());
}

bool Exchange::claim() { return !answered_.exchange(true); }

void Exchange::respond(ports::HttpResponse response) {
    if (claim()) answer(std::move(response), nullptr);
}

std::shared_ptr<ports::ResponseStream> Exchange::stream(ports::HttpResponse head) {
    auto stream = std::make_shared<Stream>(origin_.connection, origin_.mailbox, origin_.stream_bytes_max);
    if (claim())
        answer(std::move(head), stream);
    else
        stream->mark_gone();
    return stream;
}

void Exchange::answer(ports::HttpResponse response, std::shared_ptr<Stream> stream) {
    if (origin_.mailbox->is_here()) {
        if (const auto connection = origin_.connection.lock())
            connection->answer(std::move(response), std::move(stream));
        else if (stream)
            stream->mark_gone();
        return;
    }
    const bool delivered = origin_.mailbox->deliver(
        [weak = origin_.connection, response = std::move(response), stream]() mutable {
            if (const auto connection = weak.lock())
                connection->answer(std::move(response), std::move(stream));
            else if (stream)
                stream->mark_gone();
        });
    if (!delivered && stream) stream->mark_gone();
}

}  // namespace lavant::adapters::http
