#include "adapters/http_server/response_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"

namespace lavant::adapters::http {
namespace {

struct Reason {
    int status;
    std::string_view text;
};
constexpr Reason kReasons[] = {
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Payload Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

std::string_view reason_of(int status) {
    const auto* found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                     [status](const Reason& reason) { return reason.status == status; });
    return found == std::end(kReasons) ? "Status" : found->text;
}

bool is_ours(std::string_view name) {
    constexpr std::array<std::string_view, 4> kOurs = {"connection", "content-length", "transfer-encoding",
                                                       "date"};
    return std::any_of(kOurs.begin(), kOurs.end(),
                       [name](std::string_view ours) { return equals_ignoring_case(name, ours); });
}

void append_clean(std::string* text, std::string_view value) {
    const std::size_t start = text->size();
    text->append(value);
    for (std::size_t i = start; i < text->size(); ++i) {
        const auto c = static_cast<unsigned char>((*text)[i]);
        if ((c < 0x20 && c != '\t') || c == 0x7f) (*text)[i] = ' ';
    }
}

}  // namespace

void append_head(std::string* text, const ports::HttpResponse& response, const HeadFacts& facts) {
    text->append("HTTP/1.1 ");
    text->append(std::to_string(response.status));
    text->push_back(' ');
    text->append(reason_of(response.status));
    text->append("\r\nDate: ");
    text->append(facts.date);
    for (const auto& [name, value] : response.headers) {
        if (name.empty() || is_ours(name)) continue;
        text->append("\r\n");
        append_clean(text, name);
        text->append(": ");
        append_clean(text, value);
    }
    if (facts.chunked) text->append("\r\nTransfer-Encoding: chunked");
    if (facts.length) {
        text->append("\r\nContent-Length: ");
        text->append(std::to_string(*facts.length));
    }
    if (!facts.keep_alive) text->append("\r\nConnection: close");
    if (facts.keep_alive && facts.http_1_0) text->append("\r\nConnection: keep-alive");
    text->append("\r\n\r\n");
}

bool asks_to_close(const ports::HttpResponse& response) {
    return std::any_of(response.headers.begin(), response.headers.end(), [](const ports::Header& header) {
        return equals_ignoring_case(header.first, "connection") &&
               equals_ignoring_case(header.second, "close");
    });
}

ports::HttpResponse make_refusal(const Refusal& refusal) {
    ports::HttpResponse response;
    response.status = refusal.status;
    response.headers = {{"Content-Type", "application/json"}};
    response.body = "{\"error\":{\"code\":" + json_quote(refusal.code) +
                    ",\"message\":" + json_quote(refusal.message) + "}}";
    return response;
}

}  // namespace lavant::adapters::http
