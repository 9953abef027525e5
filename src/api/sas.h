#pragma once
// Shared access signatures for containers and blobs, made and checked by the documented string-to-sign of
// service SAS (versions from 2020-12-06 on). What is signed: permissions, times, the resource, the protocol.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "ports/crypto.h"
#include "ports/http.h"

namespace lavant::api {

struct SasOffer {
    std::string container;
    std::string blob;         // "" for the whole container
    std::string permissions;  // a subset of "racwdl", in this order
    Instant expires_at{};
};

struct SasAsk {
    std::string container;
    std::string blob;         // "" for requests about the container
    std::string_view any_of;  // one of these permissions is enough: "cw"
};

class Sas {
 public:
    // `account` is the account's name in the signed resource; `key` the raw account key.
    Sas(ports::Crypto& crypto, std::string account, std::string key)
        : crypto_(crypto), account_(std::move(account)), key_(std::move(key)) {}

    std::string make(const SasOffer& offer) const;  // a query string: "sv=...&sig=..."
    // PermissionDenied with the reason. 5 minutes of clock skew are allowed.
    [[nodiscard]] Result<void> check(const ports::HttpRequest& request, const SasAsk& ask, Instant now) const;

 private:
    ports::Crypto& crypto_;
    std::string account_;
    std::string key_;
};

inline constexpr Duration kClockSkew = std::chrono::minutes(5);

}  // namespace lavant::api
