#pragma once
// Reads one answer out of the bytes that come.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ports/http.h"

namespace lavant::adapters::http_client {

class Answer {
 public:
    // Gets the bytes of the body; false: no more are wanted.
    using Sink = std::function<bool(const ports::HttpResponse& head, std::string_view bytes)>;
    enum class Progress { NeedsMore, Done, Stopped, Malformed };

    Answer(bool has_no_body, Sink sink);
    ~Answer();
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;

    Progress take(std::string_view bytes);
    Progress end();  // Nothing more comes: Done where the end of the connection ends the body.
    bool has_begun() const;
    bool may_keep_connection() const;
    ports::HttpResponse& response();

 private:
    class Parser;
    void start();

    bool has_no_body_;
    Sink sink_;
    std::unique_ptr<Parser> parser_;
    std::string unread_;
};

}  // namespace lavant::adapters::http_client
