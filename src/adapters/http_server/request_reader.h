#pragma once
// Turns the bytes of one connection into requests. Refuses what is malformed, ambiguous or too large.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ports/http.h"

namespace lavant::adapters::http {

// Why a request is not served, and what the client is told.
struct Refusal {
    int status = 400;
    std::string code;
    std::string message;
};

class RequestReader {
 public:
    explicit RequestReader(std::size_t head_bytes_max);
    ~RequestReader();

    enum class Progress { NeedsMore, HeadDone, Done, Refused };
    struct Outcome {
        Progress progress = Progress::NeedsMore;
        std::size_t consumed = 0;
    };
    // Give it all bytes not consumed so far. It stops once after the head (HeadDone) and at the end (Done);
    // body bytes are appended to request().body, where the caller may take them away at any time.
    Outcome take(std::string_view bytes);
    void start_next();  // after Done: forget this request

    // Valid from HeadDone on.
    ports::HttpRequest& request();
    std::optional<std::uint64_t> content_length() const;  // nullopt: chunked
    bool expects_continue() const;
    bool is_upgrade() const;  // to a WebSocket
    bool keep_alive() const;
    bool is_http_1_0() const;
    void limit_body(std::uint64_t bytes_max);

    const Refusal& refusal() const;  // after Refused

 private:
    class Parser;
    std::size_t head_bytes_max_;
    std::unique_ptr<Parser> parser_;
};

}  // namespace lavant::adapters::http
