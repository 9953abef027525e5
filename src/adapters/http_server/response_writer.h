#pragma once
// Feeds one answer to a transport in slices: a body, a range of a file, or a stream. Never holds a whole
// file.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "adapters/http_server/exchange.h"
#include "adapters/http_server/transport.h"
#include "base/files.h"
#include "ports/http.h"

namespace lavant::adapters::http {

class ResponseWriter {
 public:
    struct Terms {
        bool is_head = false;  // the request was HEAD: no body
        bool http_1_0 = false;
        bool keep_alive = true;
        std::string_view date;
    };
    // Queues the head, with the body if it is small.
    void begin(ports::HttpResponse response, std::shared_ptr<Stream> stream, const Terms& terms,
               Transport* transport);

    enum class Progress { Queued, Waiting, Finished, Broken };
    // When everything queued was sent: queues the next slice. Waiting: the stream's writer has nothing yet.
    Progress feed(std::span<char> scratch, Transport* transport);

    bool is_streaming() const { return stream_ != nullptr; }
    bool is_forgotten() const {
        return stream_ != nullptr && stream_.use_count() == 1;
    }  // its writer dropped it
    bool is_overflowed() const { return stream_ != nullptr && stream_->is_overflowed(); }
    void cut();  // tells the stream's writer that the client is gone
    void reset();

 private:
    void append_file(std::string* text);
    bool open_range(const ports::FileBody& range);
    Progress feed_file(std::span<char> scratch, Transport* transport);
    Progress feed_stream(Transport* transport);

    bool is_head_ = false;
    bool chunked_ = false;
    std::string body_;
    std::size_t body_sent_ = 0;
    std::shared_ptr<const Fd> file_;  // shared with whoever gave it
    std::uint64_t file_offset_ = 0;
    std::uint64_t file_left_ = 0;
    std::shared_ptr<Stream> stream_;  // shared: with the writer
    bool stream_ended_ = false;
    std::size_t stream_in_flight_ = 0;
};

}  // namespace lavant::adapters::http
