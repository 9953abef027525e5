#pragma once
// Requests signed with an account's key: "SharedKey acct:..." and "SharedKeyLite acct:...".

#include <string>
#include <string_view>

#include "api/storage_keys.h"
#include "base/time.h"
#include "ports/crypto.h"
#include "ports/http.h"

namespace lavant::api {

bool is_shared_key(std::string_view authorization);

// `key` is the raw one of the container that the request is about.
[[nodiscard]] StorageResult<void> check_shared_key(ports::Crypto& crypto, const ports::HttpRequest& request,
                                                   std::string_view key, Instant now);

// How services sort header names: hyphens count for nothing, signs come before digits, digits before letters.
bool comes_before(std::string_view a, std::string_view b);

}  // namespace lavant::api
