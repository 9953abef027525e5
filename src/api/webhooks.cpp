#include "api/webhooks.h"

#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

constexpr int kTimeoutSeconds = 10;

}  // namespace

std::string Webhooks::secret_of(const std::string& workspace) const {
    return "lvw_" + base64url_encode(crypto_.hmac_sha256(key_, workspace));
}

ports::ClientRequest Webhooks::request_for(const NotifyOfJob& notice, Instant now) const {
    using wire::Json;
    ports::ClientRequest request;
    request.method = "POST";
    request.url = notice.url;
    request.timeout_s = kTimeoutSeconds;
    request.body = Json::object({{"sequence", notice.sequence},
                                 {"at", to_rfc3339(from_micros(notice.at_micros))},
                                 {"job", notice.name},
                                 {"status", notice.status},
                                 {"detail", notice.detail}})
                       .dump();
    const std::string at = std::to_string(to_micros(now) / 1'000'000);
    const std::string signature =
        to_hex(crypto_.hmac_sha256(secret_of(notice.workspace), at + "." + request.body));
    request.headers = {{"Content-Type", "application/json"},
                       {"Lavant-Delivery", std::to_string(notice.sequence)},
                       {"Lavant-Signature", "t=" + at + ",v1=" + signature}};
    return request;
}

Result<void> Webhooks::judge(const NotifyOfJob& notice, const Result<ports::HttpResponse>& answer) {
    const std::string what = "webhook of job '" + notice.name + "' at " + host_of_url(notice.url);
    if (!answer) {
        // What is no URL will never be one; all else may come about.
        const ErrorCode code = answer.error().code;
        const bool tells = code == ErrorCode::InvalidArgument || code == ErrorCode::DeadlineExceeded;
        return fail(tells ? code : ErrorCode::Unavailable, what + ": " + answer.error().message);
    }
    const int status = answer->status;
    if (status >= 200 && status < 300) return {};
    const bool later = status >= 500 || status == 408 || status == 425 || status == 429;
    return fail(later ? ErrorCode::Unavailable : ErrorCode::InvalidArgument,
                what + " answered " + std::to_string(status));
}

std::string host_of_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return "";
    const std::string_view host = url.substr(scheme + 3, url.find_first_of("/?#", scheme + 3) - scheme - 3);
    if (host.starts_with('[')) return to_lower(host.substr(0, host.find(']') + 1));
    return to_lower(host.substr(0, host.find(':')));
}

}  // namespace lavant::api
