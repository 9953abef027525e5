#include "adapters/http_server/response_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "adapters/http_server/response_text.h"
#include "base/log.h"

namespace lavant::adapters::http {
namespace {

constexpr std::size_t kSliceBytes = 64U << 10;  // of a long body
constexpr std::size_t kJoinBytes = 16U << 10;   // a body up to this leaves in one record with its head

bool has_no_body(int status) { return status == 204 || status == 304 || status / 100 == 1; }

}  // namespace

void ResponseWriter::begin(ports::HttpResponse response, std::shared_ptr<Stream> stream, const Terms& terms,
                           Transport* transport) {
    reset();
    stream_ = std::move(stream);
    is_head_ = terms.is_head;
    chunked_ = stream_ != nullptr && !terms.http_1_0 && !is_head_;
    const bool no_body = has_no_body(response.status);
    if (response.file && !no_body && !is_head_ && !open_range(*response.file))
        response = make_refusal(
            {500, "InternalError", "the server cannot read this file any more: look at its log"});

    HeadFacts facts{terms.http_1_0, terms.keep_alive, chunked_, std::nullopt, terms.date};
    if (is_head_ && response.content_length) {
        facts.length = response.content_length;
    } else if (!no_body && !stream_) {
        facts.length = response.file ? response.file->bytes : response.body.size();
    }
    if (no_body || is_head_ || stream_ || file_) response.body.clear();
    const bool join = response.body.size() <= kJoinBytes;
    const bool join_file = file_left_ <= kJoinBytes;
    std::string text;
    text.reserve(1024 + (join ? response.body.size() : 0) + (join_file ? file_left_ : 0));
    append_head(&text, response, facts);
    if (join)
        text += response.body;
    else
        body_ = std::move(response.body);
    if (join_file) append_file(&text);
    transport->queue(text);
}

// What cannot be read now is fed later, or fails there.
void ResponseWriter::append_file(std::string* text) {
    if (file_left_ == 0) return;
    const std::size_t before = text->size();
    text->resize(before + static_cast<std::size_t>(file_left_));
    const ssize_t got = ::pread(file_->get(), text->data() + before, static_cast<std::size_t>(file_left_),
                                static_cast<off_t>(file_offset_));
    const std::size_t taken = got > 0 ? static_cast<std::size_t>(got) : 0;
    text->resize(before + taken);
    file_offset_ += taken;
    file_left_ -= taken;
}

// False: the file is not there any more, or shorter than was promised.
bool ResponseWriter::open_range(const ports::FileBody& range) {
    Result<std::shared_ptr<const Fd>> opened = range.file;
    if (!range.file)
        opened = open_file(range.path, O_RDONLY).map([](Fd file) {
            return std::make_shared<const Fd>(std::move(file));
        });
    struct stat found {};
    if (opened && ::fstat((*opened)->get(), &found) == 0 && S_ISREG(found.st_mode) &&
        range.offset <= static_cast<std::uint64_t>(found.st_size) &&
        range.bytes <= static_cast<std::uint64_t>(found.st_size) - range.offset) {
        file_ = std::move(opened).value();
        file_offset_ = range.offset;
        file_left_ = range.bytes;
        return true;
    }
    log(Level::Error, "response_file_unreadable",
        {{"file", range.path}, {"why", opened ? "it became shorter" : opened.error().message}});
    return false;
}

ResponseWriter::Progress ResponseWriter::feed(std::span<char> scratch, Transport* transport) {
    if (file_left_ > 0) return feed_file(scratch, transport);
    if (stream_) return feed_stream(transport);
    if (body_sent_ >= body_.size()) return Progress::Finished;
    const std::string_view slice = std::string_view(body_).substr(body_sent_, kSliceBytes);
    transport->queue(slice);
    body_sent_ += slice.size();
    return Progress::Queued;
}

ResponseWriter::Progress ResponseWriter::feed_file(std::span<char> scratch, Transport* transport) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(file_left_, scratch.size()));
    ssize_t got = 0;
    do {
        got = ::pread(file_->get(), scratch.data(), wanted, static_cast<off_t>(file_offset_));
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return Progress::Broken;  // the length was promised already: only a cut tells the client
    transport->queue({scratch.data(), static_cast<std::size_t>(got)});
    file_offset_ += static_cast<std::uint64_t>(got);
    file_left_ -= static_cast<std::uint64_t>(got);
    return Progress::Queued;
}

ResponseWriter::Progress ResponseWriter::feed_stream(Transport* transport) {
    stream_->taken_by_client(std::exchange(stream_in_flight_, 0));
    if (stream_ended_) return Progress::Finished;
    const Stream::Portion portion = stream_->take();
    stream_ended_ = portion.finished;
    stream_in_flight_ = portion.bytes.size();
    if (chunked_) {
        std::string text;
        if (!portion.bytes.empty()) {
            std::array<char, 20> size{};
            char* const end =
                std::to_chars(size.data(), size.data() + size.size(), portion.bytes.size(), 16).ptr;
            text.append(size.data(), end).append("\r\n").append(portion.bytes).append("\r\n");
        }
        if (stream_ended_) text += "0\r\n\r\n";
        transport->queue(text);
    } else if (!is_head_) {
        transport->queue(portion.bytes);
    }
    return stream_in_flight_ > 0 || stream_ended_ ? Progress::Queued : Progress::Waiting;
}

void ResponseWriter::cut() {
    if (stream_) stream_->mark_gone();
}

void ResponseWriter::reset() {
    body_ = {};
    body_sent_ = 0;
    file_.reset();
    file_left_ = 0;
    stream_.reset();
    stream_ended_ = false;
    stream_in_flight_ = 0;
}

}  // namespace lavant::adapters::http
