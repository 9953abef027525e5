#pragma once
// Shared access signatures: of a container, of one blob, of a folder, and of an account, made and checked by
// the documented strings-to-sign (versions from 2020-12-06 on).

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage_keys.h"
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
    std::string prefix = {};  // of a listing
};

struct SasGrant {
    std::string permissions;
    std::vector<ports::Header> response_headers;  // those a read is to be answered with
};

class Sas {
 public:
    // `account` is the account's name in what we sign ourselves.
    Sas(ports::Crypto& crypto, std::string account, KeyOfContainer key_of)
        : crypto_(crypto), account_(std::move(account)), key_of_(std::move(key_of)) {}

    std::string make(const SasOffer& offer) const;  // a query string: "sv=...&sig=..."
    // 5 minutes of clock skew are allowed.
    [[nodiscard]] StorageResult<SasGrant> check(const ports::HttpRequest& request, const SasAsk& ask,
                                                Instant now) const;

 private:
    bool is_signed(const ports::HttpRequest& request, const SasAsk& ask,
                   const std::function<std::string(const std::string& account)>& text,
                   std::string_view signature) const;

    ports::Crypto& crypto_;
    std::string account_;
    KeyOfContainer key_of_;
};

inline constexpr Duration kClockSkew = std::chrono::minutes(5);

}  // namespace lavant::api
