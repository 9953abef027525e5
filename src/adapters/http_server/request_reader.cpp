#include "adapters/http_server/request_reader.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "base/text.h"

namespace lavant::adapters::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::string_view;
using beast::http::error;
using beast::http::field;

constexpr std::size_t kHeaders = 200;

std::string_view to_std(string_view text) { return {text.data(), text.size()}; }

// A line of a head that goes on in the next one: what is in front of us may read it in another way.
bool has_folded_line(std::string_view head) {
    for (std::size_t end = head.find('\n'); end != std::string_view::npos; end = head.find('\n', end + 1))
        if (end + 1 < head.size() && (head[end + 1] == ' ' || head[end + 1] == '\t')) return true;
    return false;
}

Refusal bad_request(std::string message) { return {400, "BadRequest", std::move(message)}; }

}  // namespace

// Writes straight into our own request: no second copy of the fields.
class RequestReader::Parser final : public beast::http::basic_parser<true> {
 public:
    explicit Parser(std::size_t head_bytes_max) {
        header_limit(static_cast<std::uint32_t>(head_bytes_max));
        body_limit(boost::none);  // known only when the application has seen the head
    }

    ports::HttpRequest request;
    Refusal refusal;
    bool refused = false;
    bool expects_continue = false;
    bool head_told = false;
    std::size_t head_bytes = 0;
    std::uint64_t body_bytes_max = 0;
    int version = 11;

    void explain(error_code problem) {
        if (refused) return;
        refused = true;
        if (problem == error::header_limit) {
            refusal = {431, "HeadTooLarge", "the head of the request is larger than this server takes"};
        } else if (problem == error::body_limit) {
            refusal = {413, "RequestBodyTooLarge",
                       "the body of the request is larger than the " + std::to_string(body_bytes_max) +
                           " bytes this route takes"};
        } else {
            refusal = bad_request("the request is not valid HTTP/1.1: " + problem.message());
        }
    }
    // An unfinished chunked body has at least five bytes to come; Beast asserts that it sees them together.
    std::size_t bytes_needed() const { return is_header_done() && chunked() ? 5 : 1; }
    void refuse(Refusal why, error_code* problem) {
        refused = true;
        refusal = std::move(why);
        *problem = error::bad_value;
    }

 protected:
    void on_request_impl(beast::http::verb, string_view method, string_view target, int http_version,
                         error_code& problem) override {
        version = http_version;
        if (version != 10 && version != 11) {
            refuse({505, "HttpVersionNotSupported", "this server speaks HTTP/1.1"}, &problem);
            return;
        }
        request.method = to_std(method);
        std::string_view rest = to_std(target);
        if (const std::size_t scheme = rest.find("://");
            !rest.starts_with('/') && scheme != std::string_view::npos) {
            const std::size_t path = rest.find_first_of("/?", scheme + 3);
            rest = path == std::string_view::npos ? std::string_view("/") : rest.substr(path);
        }
        const std::size_t question = rest.find('?');
        request.path = rest.substr(0, question);
        if (question != std::string_view::npos) request.query = rest.substr(question + 1);
        request.headers.reserve(12);
    }
    void on_response_impl(int, string_view, int, error_code&) override {}
    void on_field_impl(field, string_view name, string_view value, error_code& problem) override {
        if (is_header_done_) return;  // trailers are dropped: nothing may overrule the head
        if (request.headers.size() >= kHeaders) {
            refuse(
                {431, "HeadTooLarge", "the request has more than " + std::to_string(kHeaders) + " headers"},
                &problem);
            return;
        }
        request.headers.emplace_back(to_std(name), to_std(value));
    }
    void on_header_impl(error_code& problem) override {
        is_header_done_ = true;
        int hosts = 0;
        bool other_encoding = false;
        for (const auto& [name, value] : request.headers) {
            if (equals_ignoring_case(name, "host")) ++hosts;
            if (equals_ignoring_case(name, "transfer-encoding"))
                other_encoding = other_encoding || !equals_ignoring_case(value, "chunked");
            if (equals_ignoring_case(name, "expect"))
                expects_continue = equals_ignoring_case(value, "100-continue");
        }
        if (hosts > 1 || (hosts == 0 && version == 11))
            refuse(bad_request("the request needs exactly one Host header"), &problem);
        if (other_encoding)
            refuse({501, "NotImplemented", "of the transfer encodings this server takes chunked only"},
                   &problem);
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view bytes, error_code& problem) override {
        return take_body(bytes, &problem);
    }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& problem) override {
        return take_body(bytes, &problem);
    }
    void on_finish_impl(error_code&) override {}

 private:
    std::size_t take_body(string_view bytes, error_code* problem) {
        if (bytes.size() > body_bytes_max - request.body_bytes) {
            *problem = error::body_limit;
            return 0;
        }
        request.body_bytes += bytes.size();
        request.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    bool is_header_done_ = false;
};

RequestReader::RequestReader(std::size_t head_bytes_max)
    : head_bytes_max_(head_bytes_max), parser_(std::make_unique<Parser>(head_bytes_max)) {}
RequestReader::~RequestReader() = default;

void RequestReader::start_next() { parser_ = std::make_unique<Parser>(head_bytes_max_); }

RequestReader::Outcome RequestReader::take(std::string_view bytes) {
    Parser& parser = *parser_;
    Outcome outcome;
    const auto stop = [&](Progress progress) {
        outcome.progress = progress;
        return outcome;
    };
    while (true) {
        if (parser.is_header_done() && !parser.head_told) {
            parser.head_told = true;
            return stop(Progress::HeadDone);
        }
        if (parser.is_done()) return stop(Progress::Done);
        if (!parser.got_some())
            while (bytes.substr(outcome.consumed).starts_with("\r\n")) outcome.consumed += 2;
        const std::string_view rest = bytes.substr(outcome.consumed);
        if (rest.size() < parser.bytes_needed() || (!parser.got_some() && rest == "\r"))
            return stop(Progress::NeedsMore);
        error_code problem;
        const bool in_head = !parser.is_header_done();
        const std::size_t count = parser.put(boost::asio::const_buffer(rest.data(), rest.size()), problem);
        outcome.consumed += count;
        if (!parser.head_told) parser.head_bytes += count;
        if (in_head && !parser.refused && has_folded_line(rest.substr(0, count)))
            parser.refuse(bad_request("the request is not valid HTTP/1.1: a header goes over two lines"),
                          &problem);
        if (parser.head_bytes > head_bytes_max_)
            problem = error::header_limit;  // Beast forgets what it consumed
        if (problem && problem != error::need_more) {
            parser.explain(problem);
            return stop(Progress::Refused);
        }
        if (problem == error::need_more && rest.size() - count > head_bytes_max_) {
            parser.explain(error::bad_chunk);  // a chunk's own line without end
            return stop(Progress::Refused);
        }
        if (problem == error::need_more && count == 0) return stop(Progress::NeedsMore);
    }
}

ports::HttpRequest& RequestReader::request() { return parser_->request; }

std::optional<std::uint64_t> RequestReader::content_length() const {
    if (parser_->chunked()) return std::nullopt;
    return parser_->content_length().value_or(0);
}

bool RequestReader::expects_continue() const { return parser_->expects_continue && parser_->version == 11; }
bool RequestReader::is_upgrade() const {
    return parser_->upgrade() &&
           beast::http::token_list{std::string(parser_->request.header("Upgrade"))}.exists("websocket");
}
bool RequestReader::keep_alive() const { return parser_->keep_alive(); }
bool RequestReader::is_http_1_0() const { return parser_->version == 10; }

void RequestReader::limit_body(std::uint64_t bytes_max) {
    parser_->body_bytes_max = bytes_max;
    if (const auto length = content_length(); length && *length <= bytes_max)
        parser_->request.body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, 64U << 10)));
}

const Refusal& RequestReader::refusal() const { return parser_->refusal; }

}  // namespace lavant::adapters::http
