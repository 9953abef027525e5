#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lavant::ports {

// A key of ECDSA over P-256 with SHA-256, which JOSE calls ES256. Any thread.
class SigningKey {
 public:
    virtual ~SigningKey() = default;
    virtual std::string sign(std::string_view bytes) const = 0;  // 64 bytes: r, then s
    virtual bool verify(std::string_view bytes, std::string_view signature) const = 0;
    virtual std::string public_point() const = 0;  // 64 bytes: x, then y
};

// Any thread. Results are raw bytes unless said otherwise.
class Crypto {
 public:
    virtual ~Crypto() = default;
    virtual std::string random_bytes(std::size_t count) = 0;
    virtual std::string sha256(std::string_view bytes) = 0;
    // Of all chunks in order, until `next` gives none; for what does not fit into memory. Adapters that can
    // hash piece by piece override it.
    virtual std::string sha256_of_chunks(const std::function<std::optional<std::string_view>()>& next) {
        std::string all;
        while (const auto chunk = next()) all += *chunk;
        return sha256(all);
    }
    virtual std::string md5(std::string_view bytes) = 0;  // for Content-MD5 and ETags, never for trust
    virtual std::string md5_of_chunks(const std::function<std::optional<std::string_view>()>& next) {
        std::string all;
        while (const auto chunk = next()) all += *chunk;
        return md5(all);
    }
    virtual std::string hmac_sha256(std::string_view key, std::string_view bytes) = 0;
    virtual bool equal_in_constant_time(std::string_view a, std::string_view b) = 0;
    // AES-256-GCM with a key that lies in a file outside the database; `context` is authenticated too.
    virtual std::string seal(std::string_view plain, std::string_view context) = 0;
    [[nodiscard]] virtual Result<std::string> open(std::string_view sealed, std::string_view context) = 0;
    // The same seed gives the same key.
    virtual std::unique_ptr<const SigningKey> derive_signing_key(std::string_view seed) = 0;
};

}  // namespace lavant::ports
