#pragma once
// What is sent of a request: its head, then its body from memory or from a file, piece by piece.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "ports/http.h"

namespace lavant::adapters::http_client {

class Upload {
 public:
    // The body stays the request's. `head` ends before the lines that say how long the body is.
    static Result<Upload> of(const ports::ClientRequest& request, std::string head);

    [[nodiscard]] Result<std::string_view> next();  // what is to be sent now; "" at the end
    void sent(std::size_t bytes) { at_ += bytes; }
    bool is_done() const { return at_ == head_.size() + body_bytes_; }

 private:
    std::string head_;
    std::string_view body_;
    std::string path_;
    Fd file_;
    std::uint64_t body_bytes_ = 0;
    std::uint64_t at_ = 0;  // counted from the head's first byte
    std::string piece_;     // of the file
    std::uint64_t piece_at_ = 0;
};

}  // namespace lavant::adapters::http_client
