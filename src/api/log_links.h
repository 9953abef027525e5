#pragma once
// URLs of log files that need no credential: the path carries blob name, expiry and a signature.

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "ports/crypto.h"

namespace lavant::api {

class LogLinks {
 public:
    LogLinks(ports::Crypto& crypto, std::string_view secret)
        : crypto_(crypto), key_(crypto.hmac_sha256(secret, "lavant log links")) {}

    std::string make(const std::string& blob, Instant expires_at) const;  // one path segment
    // The blob's name, if the token is ours and has not expired.
    std::optional<std::string> open(std::string_view token, Instant now) const;

 private:
    std::string sign(std::string_view text) const { return crypto_.hmac_sha256(key_, text).substr(0, 16); }
    ports::Crypto& crypto_;
    std::string key_;
};

}  // namespace lavant::api
