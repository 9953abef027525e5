#include "adapters/http_server/response_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace lavant::adapters::http {
namespace {

std::string_view reason_of(int status) {
    switch (status) {
        case 101:
            return "Switching Protocols";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Payload Too Large";
        case 415:
            return "Unsupported Media Type";
        case 416:
            return "Range Not Satisfiable";
        case 422:
            return "Unprocessable Entity";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        case 507:
            return "Insufficient Storage";
        default:
            return "Status";
    }
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
