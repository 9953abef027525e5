#include "adapters/http_client/answer.h"

#include <boost/beast/http/basic_parser.hpp>

#include "base/limits.h"

namespace lavant::adapters::http_client {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::string_view;
using beast::http::error;

constexpr std::size_t kHeadersMax = 500;

std::string_view to_std(string_view text) { return {text.data(), text.size()}; }

}  // namespace

// Writes straight into our own response: no second copy of the fields.
class Answer::Parser final : public beast::http::basic_parser<false> {
 public:
    Parser(bool has_no_body, const Sink& sink) : sink_(sink) {
        header_limit(static_cast<std::uint32_t>(limits::kHttpHeadBytes));
        body_limit(boost::none);
        eager(true);
        skip(has_no_body);
    }
    // An unfinished chunked body has at least five bytes to come; Beast asserts that it sees them together.
    std::size_t bytes_needed() const { return is_header_done() && chunked() ? 5 : 1; }

    ports::HttpResponse response{.status = 0};
    bool stopped = false;

 protected:
    void on_request_impl(beast::http::verb, string_view, string_view, int, error_code&) override {}
    void on_response_impl(int code, string_view, int, error_code&) override { response.status = code; }
    void on_field_impl(beast::http::field, string_view name, string_view value, error_code&) override {
        if (response.headers.size() < kHeadersMax) response.headers.emplace_back(to_std(name), to_std(value));
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view bytes, error_code& problem) override {
        return pass_on(bytes, problem);
    }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& problem) override {
        return pass_on(bytes, problem);
    }
    void on_finish_impl(error_code&) override {}

 private:
    std::size_t pass_on(string_view bytes, error_code& problem) {
        stopped = !sink_(response, to_std(bytes));
        if (stopped) problem = error::end_of_stream;
        return bytes.size();
    }
    const Sink& sink_;
};

Answer::Answer(bool has_no_body, Sink sink) : has_no_body_(has_no_body), sink_(std::move(sink)) { start(); }
Answer::~Answer() = default;

void Answer::start() { parser_ = std::make_unique<Parser>(has_no_body_, sink_); }

Answer::Progress Answer::take(std::string_view bytes) {
    unread_ += bytes;
    std::size_t used = 0;
    const auto leave = [&](Progress progress) {
        unread_.erase(0, used);
        return progress;
    };
    while (true) {
        if (parser_->is_done()) {
            if (parser_->response.status / 100 != 1) return leave(Progress::Done);
            start();  // 100 Continue and the like: the answer comes after it.
        }
        const std::string_view rest = std::string_view(unread_).substr(used);
        if (rest.size() < parser_->bytes_needed()) return leave(Progress::NeedsMore);
        error_code problem;
        const std::size_t count = parser_->put(boost::asio::const_buffer(rest.data(), rest.size()), problem);
        used += count;
        if (parser_->stopped) return leave(Progress::Stopped);
        if (problem && problem != error::need_more) return leave(Progress::Malformed);
        // A line without end, of the head or of a chunk.
        if (count == 0 && rest.size() > limits::kHttpHeadBytes) return leave(Progress::Malformed);
        if (count == 0) return leave(Progress::NeedsMore);
    }
}

Answer::Progress Answer::end() {
    error_code problem;
    if (has_begun()) parser_->put_eof(problem);
    return has_begun() && !problem && parser_->is_done() ? Progress::Done : Progress::Malformed;
}

bool Answer::has_begun() const { return parser_->got_some(); }
bool Answer::may_keep_connection() const {
    return parser_->is_done() && parser_->keep_alive() && unread_.empty();
}
ports::HttpResponse& Answer::response() { return parser_->response; }

}  // namespace lavant::adapters::http_client
