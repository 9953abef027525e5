#pragma once
// The keys of the storage account. There is one for each container, so that a key opens one datastore and no
// other; to clients it is the account's. And the ways in which clients spell the account's name.

#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ports/crypto.h"
#include "ports/http.h"

namespace lavant::api {

inline constexpr const char* kStorageAccount = "acct";
inline constexpr const char* kStorageHost = "acct.blob.core.windows.net";

using KeyOfContainer = std::function<std::string(const std::string& container)>;  // raw bytes
KeyOfContainer make_storage_keys(ports::Crypto& crypto, const std::string& secret);

// Clients of path-style storage take the path, or the host and the path, for the account's name.
std::vector<std::string> account_spellings(const ports::HttpRequest& request);

// Why a request to the storage is refused, in the words of its protocol.
struct StorageRefusal {
    int status = 403;
    std::string_view code = "AuthenticationFailed";
    std::string message;
};
template <class T>
using StorageResult = tl::expected<T, StorageRefusal>;

}  // namespace lavant::api
