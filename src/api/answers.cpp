#include "api/answers.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace lavant::api {
namespace {

struct Row {
    int status;
    std::string_view arm;
    std::string_view storage;
};

Row row_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::InvalidArgument:
            return {400, "BadRequest", "InvalidInput"};
        case ErrorCode::Unauthenticated:
            return {401, "Unauthorized", "NoAuthenticationInformation"};
        case ErrorCode::PermissionDenied:
            return {403, "Forbidden", "AuthorizationFailure"};
        case ErrorCode::NotFound:
            return {404, "ResourceNotFound", "ResourceNotFound"};
        case ErrorCode::AlreadyExists:
            return {409, "ResourceExists", "BlobAlreadyExists"};
        case ErrorCode::Conflict:
            return {409, "Conflict", "Conflict"};
        case ErrorCode::ResourceExhausted:
            return {429, "TooManyRequests", "ServerBusy"};
        case ErrorCode::Unavailable:
            return {503, "ServiceUnavailable", "ServerBusy"};
        case ErrorCode::DeadlineExceeded:
            return {504, "Timeout", "OperationTimedOut"};
        case ErrorCode::Internal:
            break;
    }
    return {500, "InternalServerError", "InternalError"};
}

std::string error_body(std::string_view code, const Error& error) {
    std::string body = R"({"error":{"code":")";
    body += code;
    body += R"(","message":)";
    std::string message = error.message;
    for (const FieldProblem& problem : error.fields) {
        const std::string line = problem.path + ": " + problem.message;
        if (error.message.find(line) == std::string::npos) message += "\n  " + line;
    }
    body += json_quote(message);
    body += R"(,"details":[)";
    bool first = true;
    for (const FieldProblem& problem : error.fields) {
        if (!std::exchange(first, false)) body += ',';
        body += R"({"code":"InvalidField","target":)" + json_quote(problem.path) + R"(,"message":)" +
                json_quote(problem.message) + '}';
    }
    body += "]}}";
    return body;
}

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD, for what XML cannot hold

// Of U+FFFE and U+FFFF, which are UTF-8 and yet no characters of XML.
bool is_no_character(std::string_view text) {
    return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

// `text` is UTF-8.
void append_escaped(std::string& out, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&apos;";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') {
                    out += kReplacement;
                } else if (is_no_character(text.substr(i))) {
                    out += kReplacement;
                    i += 2;
                } else {
                    out += c;
                }
        }
    }
}

}  // namespace

int status_of(ErrorCode code) { return row_of(code).status; }
std::string_view arm_code_of(ErrorCode code) { return row_of(code).arm; }

ports::HttpResponse json_response(int status, std::string body) {
    ports::HttpResponse response;
    response.status = status;
    response.headers.emplace_back("Content-Type", "application/json");
    response.body = std::move(body);
    return response;
}

ports::HttpResponse json_response(int status, const wire::Json& body) {
    return json_response(status, body.dump());
}

ports::HttpResponse text_response(int status, std::string body) {
    ports::HttpResponse response;
    response.status = status;
    response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.body = std::move(body);
    return response;
}

ports::HttpResponse error_response(const Error& error) {
    const Row row = row_of(error.code);
    ports::HttpResponse response = json_response(row.status, error_body(row.arm, error));
    // One, not zero: clients take zero for "not given" and then wait for half a minute.
    if (row.status == 429 || row.status == 503) response.headers.emplace_back("Retry-After", "1");
    if (row.status == 401) response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="lavant")");
    return response;
}

ports::HttpResponse no_room_response(const Error& error) {
    return json_response(507, error_body("InsufficientStorage", error));
}

std::string xml_escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (true) {
        const std::size_t valid = valid_utf8_bytes(text);
        append_escaped(out, text.substr(0, valid));
        if (valid == text.size()) return out;
        out += kReplacement;
        text.remove_prefix(valid + 1);
    }
}

ports::HttpResponse storage_error(int status, std::string_view code, std::string_view message) {
    ports::HttpResponse response;
    response.status = status;
    response.headers.emplace_back("Content-Type", "application/xml");
    response.headers.emplace_back("x-ms-error-code", code);
    response.body = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>";
    response.body += code;
    response.body += "</Code><Message>" + xml_escape(message) + "</Message></Error>";
    if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

ports::HttpResponse storage_error(const Error& error) {
    const Row row = row_of(error.code);
    return storage_error(row.status, row.storage, error.message);
}

}  // namespace lavant::api
