#pragma once
// The text of response heads and of the server's own error answers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/http_server/request_reader.h"
#include "ports/http.h"

namespace lavant::adapters::http {

struct HeadFacts {
    bool http_1_0 = false;
    bool keep_alive = true;
    bool chunked = false;
    std::optional<std::uint64_t> length;  // nullopt: none is said
    std::string_view date;
};

// Control characters in header values become spaces, so that no value can begin a header of its own. Headers
// that are the server's business (Connection, Content-Length, Transfer-Encoding, Date) are left out.
void append_head(std::string* text, const ports::HttpResponse& response, const HeadFacts& facts);

bool asks_to_close(const ports::HttpResponse& response);
ports::HttpResponse make_refusal(const Refusal& refusal);

}  // namespace lavant::adapters::http
