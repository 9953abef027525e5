#pragma once
// Signed tokens (JWT). What a user gets is signed with ES256, so that others can check it with the public key
// that /discovery/v2.0/keys shows. What one attempt of a job gets is for this server alone and made for every
// task, so it has a symmetric signature (HS256), which costs a fiftieth. A token's first part must be, byte
// for byte, one of the two headers written here: there is no algorithm to choose from outside.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "ports/crypto.h"
#include "wire/json.h"

namespace lavant::api {

// There are no tenants here, but Azure's clients look for one and complain about a token without it.
inline constexpr std::string_view kTenant = "00000000-0000-0000-0000-000000000000";

class Tokens {
 public:
    // `secret`: bytes from which both keys are derived.
    Tokens(ports::Crypto& crypto, std::string_view secret);

    std::string sign_for_user(std::string_view claims) const;
    std::string sign_for_job(std::string_view claims) const;

    struct Opened {
        wire::Json claims;
        bool of_job = false;
    };
    // The claims of a token of ours that is neither expired nor of the future; a clock may differ by
    // kClockSkew.
    std::optional<Opened> open(std::string_view token, Instant now) const;

    wire::Json key_set() const;  // JWKS

 private:
    ports::Crypto& crypto_;
    std::string job_key_;
    std::unique_ptr<const ports::SigningKey> user_key_;
    std::string key_id_;       // RFC 7638
    std::string user_header_;  // encoded
};

std::int64_t to_unix_seconds(Instant at);
Instant from_unix_seconds(std::int64_t seconds);  // clamped to the years 1970 to 9999

}  // namespace lavant::api
