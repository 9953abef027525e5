#include "api/tokens.h"

#include <algorithm>

#include "api/sas.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::size_t kNumberBytes = 32;  // of a point's coordinate

// {"alg":"HS256","typ":"JWT"}
constexpr std::string_view kJobHeader = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

std::string join(std::string_view header, std::string_view claims) {
    std::string text(header);
    (text += '.') += base64url_encode(claims);
    return text;
}

}  // namespace

std::int64_t to_unix_seconds(Instant at) { return to_micros(at) / 1'000'000; }

Instant from_unix_seconds(std::int64_t seconds) {
    constexpr std::int64_t kFar = 253'402'300'799;  // the last second of the year 9999
    return from_micros(std::clamp<std::int64_t>(seconds, 0, kFar) * 1'000'000);
}

Tokens::Tokens(ports::Crypto& crypto, std::string_view secret)
    : crypto_(crypto),
      job_key_(crypto.hmac_sha256(secret, "lavant access tokens")),
      user_key_(crypto.derive_signing_key(crypto.hmac_sha256(secret, "lavant user tokens"))) {
    const std::string point = user_key_->public_point();
    // RFC 7638 fixes the members and their order.
    key_id_ = base64url_encode(crypto.sha256(R"({"crv":"P-256","kty":"EC","x":")" +
                                             base64url_encode(point.substr(0, kNumberBytes)) + R"(","y":")" +
                                             base64url_encode(point.substr(kNumberBytes)) + R"("})"));
    user_header_ = base64url_encode(R"({"alg":"ES256","typ":"JWT","kid":")" + key_id_ + R"("})");
}

std::string Tokens::sign_for_user(std::string_view claims) const {
    std::string token = join(user_header_, claims);
    const std::string signature = base64url_encode(user_key_->sign(token));
    return (token += '.') += signature;
}

std::string Tokens::sign_for_job(std::string_view claims) const {
    std::string token = join(kJobHeader, claims);
    const std::string signature = base64url_encode(crypto_.hmac_sha256(job_key_, token));
    return (token += '.') += signature;
}

std::optional<Tokens::Opened> Tokens::open(std::string_view token, Instant now) const {
    const std::size_t first = token.find('.');
    const std::size_t last = token.rfind('.');
    if (first == std::string_view::npos || first == last) return std::nullopt;
    const std::string_view header = token.substr(0, first);
    const std::string_view signed_part = token.substr(0, last);
    const std::string_view signature = token.substr(last + 1);
    const bool of_job = header == kJobHeader;
    if (of_job) {
        const std::string expected = base64url_encode(crypto_.hmac_sha256(job_key_, signed_part));
        if (!crypto_.equal_in_constant_time(expected, signature)) return std::nullopt;
    } else {
        if (header != user_header_) return std::nullopt;
        const auto raw = base64url_decode(signature);
        // Written back it must be the same: unused bits of the last character would be free to choose.
        if (!raw || base64url_encode(*raw) != signature || !user_key_->verify(signed_part, *raw))
            return std::nullopt;
    }
    const auto payload = base64url_decode(token.substr(first + 1, last - first - 1));
    if (!payload) return std::nullopt;
    auto claims = wire::parse_json(*payload);
    if (!claims) return std::nullopt;
    if (now > from_unix_seconds((*claims)["exp"].integer()) + kClockSkew) return std::nullopt;
    if (now + kClockSkew < from_unix_seconds((*claims)["nbf"].integer())) return std::nullopt;
    return Opened{std::move(*claims), of_job};
}

Json Tokens::key_set() const {
    const std::string point = user_key_->public_point();
    Json key = Json::object({{"kty", "EC"},
                             {"use", "sig"},
                             {"crv", "P-256"},
                             {"alg", "ES256"},
                             {"kid", key_id_},
                             {"x", base64url_encode(point.substr(0, kNumberBytes))},
                             {"y", base64url_encode(point.substr(kNumberBytes))}});
    return Json::object({{"keys", Json::array({std::move(key)})}});
}

}  // namespace lavant::api
