#include "api/log_links.h"

#include "api/sas.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::size_t kSignatureBytes = 16;

}  // namespace

std::string LogLinks::make(const std::string& blob, Instant expires_at) const {
    const std::string text = std::to_string(to_micros(expires_at) / 1'000'000) + "\n" + blob;
    return base64url_encode(sign(text) + text);
}

std::optional<std::string> LogLinks::open(std::string_view token, Instant now) const {
    const auto raw = base64url_decode(token);
    if (!raw || raw->size() <= kSignatureBytes) return std::nullopt;
    const std::string_view text = std::string_view(*raw).substr(kSignatureBytes);
    if (!crypto_.equal_in_constant_time(std::string_view(*raw).substr(0, kSignatureBytes), sign(text)))
        return std::nullopt;
    const std::size_t line = text.find('\n');
    const auto expiry = parse_integer(text.substr(0, line));
    if (line == std::string_view::npos || !expiry || now > from_micros(*expiry * 1'000'000) + kClockSkew)
        return std::nullopt;
    return std::string(text.substr(line + 1));
}

}  // namespace lavant::api
