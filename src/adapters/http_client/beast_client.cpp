#include "adapters/http_client/beast_client.h"

#include <fcntl.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <optional>
#include <utility>

#include "adapters/http_client/answer.h"
#include "adapters/http_client/proxy.h"
#include "adapters/http_client/upload.h"
#include "adapters/http_client/wire.h"
#include "base/files.h"
#include "base/text.h"
#include "net/client_tls.h"

namespace lavant::adapters {
namespace {

using http_client::Answer;
using http_client::Deadline;
using http_client::Moved;
using http_client::Proxy;
using http_client::Step;
using http_client::Upload;
using http_client::Wire;
using net::Target;
using ports::ClientRequest;
using ports::HttpResponse;

constexpr std::size_t kReadBytes = 64U << 10;

Deadline in_seconds(int seconds) {
    if (seconds <= 0) return std::nullopt;
    return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
}
Deadline earlier(Deadline a, Deadline b) { return !a ? b : !b ? a : std::min(*a, *b); }

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

// Without the query, which may hold a signature.
Error cannot(const ClientRequest& request, ErrorCode code, const std::string& why) {
    const std::string url = request.url.substr(0, std::min<std::size_t>(request.url.find('?'), 300));
    return {code, "cannot " + request.method + " " + url + ": " + why, {}};
}

bool is_clean(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

Result<void> check(const ClientRequest& request, const ClientSettings& settings) {
    bool clean =
        !request.method.empty() && request.method.find(' ') == std::string::npos && is_clean(request.method);
    for (const auto& [name, value] : request.headers) {
        clean = clean && !name.empty() && name.find_first_of(" :") == std::string::npos && is_clean(name) &&
                is_clean(value);
        if (!settings.verify && equals_ignoring_case(name, "authorization"))
            return fail(cannot(request, ErrorCode::InvalidArgument,
                               "a connection that checks no certificate carries no credentials"));
    }
    if (!clean)
        return fail(cannot(request, ErrorCode::InvalidArgument,
                           "its method or one of its headers has a line break or a blank in it"));
    return {};
}

// Safe to send twice: once more makes no difference. Of a conditional one the second answer would contradict
// the first.
bool is_idempotent(const ClientRequest& request) {
    const std::string& method = request.method;
    const bool conditional = std::ranges::any_of(request.headers, [](const ports::Header& one) {
        return equals_ignoring_case(one.first, "If-None-Match");
    });
    return !conditional && (method == "GET" || method == "HEAD" || method == "PUT" || method == "OPTIONS");
}

std::string head_of(const ClientRequest& request, const Target& target, const Proxy* forwards,
                    const std::string& user_agent) {
    std::string head = request.method + " ";
    if (forwards != nullptr) head += "http://" + target.authority();
    head += target.path + " HTTP/1.1\r\nHost: " + target.authority() + "\r\nUser-Agent: " + user_agent +
            "\r\nAccept: */*\r\n";
    if (forwards != nullptr && !forwards->authorization.empty())
        head += "Proxy-Authorization: " + forwards->authorization + "\r\n";
    for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
    return head;
}

// Where the bytes of a body go.
class Body {
 public:
    Body(const ClientRequest& request, std::size_t bytes_max) : request_(request), bytes_max_(bytes_max) {}

    bool take(const HttpResponse& head, std::string_view bytes) {
        const bool good = head.status / 100 == 2;
        if (good && request_.on_bytes) return request_.on_bytes(bytes);
        if (good && !request_.response_file.empty()) return store(bytes);
        if (text.size() + bytes.size() > bytes_max_) {
            error = {ErrorCode::ResourceExhausted,
                     "the answer to " + request_.method + " " +
                         request_.url.substr(0, std::min<std::size_t>(request_.url.find('?'), 300)) +
                         " is larger than " + std::to_string(bytes_max_) + " bytes; is it a Lavant server?",
                     {}};
            return false;
        }
        text += bytes;
        return true;
    }
    // An empty body makes an empty file.
    void end(const HttpResponse& head) {
        if (head.status / 100 == 2 && !request_.response_file.empty() && !file_) (void)store({});
    }

    std::string text;
    Error error{};  // with a message where something went wrong on this side

 private:
    bool store(std::string_view bytes) {
        if (!file_) {
            auto opened = open_file(request_.response_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
            if (!opened) {
                error = std::move(opened).error();
                return false;
            }
            file_ = std::move(opened).value();
        }
        auto written = write_all(file_.get(), bytes);
        if (!written) error = in("'" + request_.response_file + "'")(std::move(written).error());
        return written.has_value();
    }
    const ClientRequest& request_;
    std::size_t bytes_max_;
    Fd file_;
};

enum class Ending { Answered, Stopped, Lost, TimedOut, Malformed };

// Sends and reads until the answer is complete. A server may answer before it has taken the whole body, and
// closes then: what it said is worth more than that it closed.
Result<Ending> converse(Wire& wire, Upload& upload, Answer& answer, Deadline until) {
    std::array<char, kReadBytes> bytes;  // NOLINT: filled before it is read
    bool takes_more = true;
    while (true) {
        if (takes_more && !upload.is_done()) {
            LAVANT_TRY(const std::string_view piece, upload.next());
            const Moved moved = wire.write(piece);
            upload.sent(moved.bytes);
            takes_more = moved.step != Step::Broken;
            if (moved.step == Step::Moved) continue;
        }
        const Moved moved = wire.read(bytes);
        if (moved.step == Step::Later) {
            const bool sending = takes_more && !upload.is_done();
            if (sending ? wire.wait_for_either(until) : wire.wait_to_read(until)) continue;
            return Ending::TimedOut;
        }
        Answer::Progress progress = Answer::Progress::Malformed;
        if (moved.step == Step::Moved) {
            progress = answer.take({bytes.data(), moved.bytes});
        } else if (moved.step == Step::Ended) {
            progress = answer.end();
        }
        if (progress == Answer::Progress::NeedsMore) continue;
        if (progress == Answer::Progress::Done) return Ending::Answered;
        if (progress == Answer::Progress::Stopped) return Ending::Stopped;
        return moved.step == Step::Moved ? Ending::Malformed : Ending::Lost;
    }
}

}  // namespace

class BeastClient::Parts {
 public:
    explicit Parts(ClientSettings settings) : settings_(std::move(settings)) {}

    Result<HttpResponse> send(const ClientRequest& request);

 private:
    Result<void> dial(const ClientRequest& request, const Target& target, Deadline until);
    Result<void> reach(const ClientRequest& request, const Target& target, Deadline until);
    Result<void> pass_proxy(const ClientRequest& request, const Target& target, Deadline until);
    Result<void> secure(const ClientRequest& request, const Target& target, Deadline until);
    Result<void> prepare_tls(const ClientRequest& request);
    Error failed(const ClientRequest& request, const Target& target, Ending ending) const;

    ClientSettings settings_;
    boost::asio::io_context names_;  // for the resolver's sake
    std::optional<boost::asio::ssl::context> tls_;
    std::optional<Proxy> proxy_;
    std::unique_ptr<Wire> wire_;
    Target there_;  // the other end of `wire_`
};

Result<void> BeastClient::Parts::prepare_tls(const ClientRequest& request) {
    if (tls_) return {};
    boost::system::error_code error;
    if (!settings_.verify) {
        tls_ = net::make_tls();
        (void)tls_->set_verify_mode(boost::asio::ssl::verify_none, error);
    } else if (settings_.ca_file.empty()) {
        tls_ = net::make_world_tls();
    } else {
        tls_ = net::make_tls();
        (void)tls_->load_verify_file(settings_.ca_file, error);
    }
    if (!error) return {};
    tls_.reset();
    return fail(cannot(request, ErrorCode::Unavailable,
                       "the CA file '" + settings_.ca_file + "' cannot be read; check its path"));
}

Result<void> BeastClient::Parts::reach(const ClientRequest& request, const Target& target, Deadline until) {
    const net::Endpoints endpoints = net::resolve(names_, target);
    const std::string host = target.authority();
    if (endpoints.empty())
        return fail(cannot(request, ErrorCode::Unavailable,
                           "the host name '" + target.host + "' is unknown; check the URL"));
    const Step step = Wire::dial(endpoints, until, settings_.stop_fd, wire_);
    if (step == Step::Moved) return {};
    return fail(
        cannot(request, step == Step::TimedOut ? ErrorCode::DeadlineExceeded : ErrorCode::Unavailable,
               "nothing answers at " + host + "; check that the server runs and that the URL is right"));
}

Result<void> BeastClient::Parts::pass_proxy(const ClientRequest& request, const Target& target,
                                            Deadline until) {
    const std::string place = target.authority().ends_with(":" + target.port)
                                  ? target.authority()
                                  : target.authority() + ":" + target.port;
    std::string head = "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n";
    if (!proxy_->authorization.empty()) head += "Proxy-Authorization: " + proxy_->authorization + "\r\n";
    LAVANT_TRY(Upload upload, Upload::of({.method = "CONNECT"}, std::move(head)));
    Answer answer(true, [](const HttpResponse&, std::string_view) { return false; });
    LAVANT_TRY(const Ending ending, converse(*wire_, upload, answer, until));
    if (ending == Ending::Answered && answer.response().status / 100 == 2) return {};
    const std::string said = ending == Ending::Answered
                                 ? "answers with status " + std::to_string(answer.response().status)
                                 : "does not answer as a proxy does";
    return fail(cannot(request, ErrorCode::Unavailable,
                       "the proxy " + proxy_->target.authority() + " " + said +
                           "; check https_proxy, or name the host in no_proxy"));
}

Result<void> BeastClient::Parts::secure(const ClientRequest& request, const Target& target, Deadline until) {
    LAVANT_TRY_VOID(prepare_tls(request));
    const Wire::Refusal refusal = wire_->secure(tls_->native_handle(), target.host, until);
    if (refusal.step == Step::Moved) return {};
    if (refusal.step == Step::TimedOut) return fail(failed(request, target, Ending::TimedOut));
    if (refusal.untrusted)
        return fail(
            cannot(request, ErrorCode::Unavailable,
                   "the server's certificate does not fit (" + refusal.why + "); trust its authority (" +
                       (settings_.ca_file.empty() ? "give its CA file" : "now '" + settings_.ca_file + "'") +
                       ") or use a name that the certificate has"));
    return fail(cannot(request, ErrorCode::Unavailable,
                       "the TLS handshake failed (" + refusal.why + "); check that this port speaks HTTPS"));
}

Result<void> BeastClient::Parts::dial(const ClientRequest& request, const Target& target, Deadline until) {
    wire_.reset();
    until = earlier(until, in_seconds(settings_.connect_timeout_s));
    LAVANT_TRY(proxy_, http_client::proxy_for(target, variable));
    LAVANT_TRY_VOID(reach(request, proxy_ ? proxy_->target : target, until));
    if (target.tls && proxy_) LAVANT_TRY_VOID(pass_proxy(request, target, until));
    if (target.tls) LAVANT_TRY_VOID(secure(request, target, until));
    there_ = target;
    return {};
}

Error BeastClient::Parts::failed(const ClientRequest& request, const Target& target, Ending ending) const {
    switch (ending) {
        case Ending::TimedOut:
            return cannot(
                request, ErrorCode::DeadlineExceeded,
                "no answer within the time allowed; try again, or look whether the server is overloaded");
        case Ending::Malformed:
            return cannot(request, ErrorCode::Unavailable,
                          target.authority() + " answers with something that is not HTTP; check the URL");
        case Ending::Lost:
        case Ending::Answered:
        case Ending::Stopped:
            break;
    }
    return cannot(request, ErrorCode::Unavailable,
                  "the server closed the connection before it had answered; try again");
}

Result<HttpResponse> BeastClient::Parts::send(const ClientRequest& request) {
    const std::optional<Target> target = net::parse_target(request.url);
    if (!target) return fail(cannot(request, ErrorCode::InvalidArgument, "this is not an http or https URL"));
    LAVANT_TRY_VOID(check(request, settings_));
    const Deadline until = in_seconds(request.timeout_s);
    const bool same = wire_ && there_.tls == target->tls && there_.host == target->host &&
                      there_.port == target->port && wire_->is_quiet();
    for (bool reused = same;; reused = false) {
        if (!reused) {
            auto dialled = dial(request, *target, until);
            if (!dialled) {
                wire_.reset();
                return tl::make_unexpected(std::move(dialled).error());
            }
        }
        const Proxy* forwards = proxy_ && !target->tls ? &*proxy_ : nullptr;
        std::string head = head_of(request, *target, forwards, settings_.user_agent);
        std::unique_ptr<Wire> wire = std::move(wire_);  // back in its place when all went well
        LAVANT_TRY(Upload upload, Upload::of(request, std::move(head)));
        Body body(request, settings_.body_bytes_max);
        Answer answer(request.method == "HEAD", [&](const HttpResponse& response, std::string_view bytes) {
            return body.take(response, bytes);
        });
        LAVANT_TRY(const Ending ending, converse(*wire, upload, answer, until));
        if (ending == Ending::Lost && reused && !answer.has_begun() && is_idempotent(request)) continue;
        if (ending != Ending::Answered && ending != Ending::Stopped)
            return fail(failed(request, *target, ending));
        body.end(answer.response());
        if (!body.error.message.empty()) return fail(std::move(body.error));
        answer.response().body = std::move(body.text);
        if (ending == Ending::Answered && answer.may_keep_connection() && upload.is_done())
            wire_ = std::move(wire);
        return std::move(answer.response());
    }
}

BeastClient::BeastClient(ClientSettings settings) : parts_(std::make_unique<Parts>(std::move(settings))) {}
BeastClient::~BeastClient() = default;

Result<HttpResponse> BeastClient::send(const ClientRequest& request) { return parts_->send(request); }

}  // namespace lavant::adapters
