#pragma once
// Who may do what with blobs: by a signature in the query, by the account's key, or by a bearer token.

#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "api/storage_keys.h"

namespace lavant::api {

struct BlobGrant {
    bool create_only = false;                     // a signature that permits new blobs alone
    std::vector<ports::Header> response_headers;  // those a signature asks a read to be answered with
    std::optional<Caller> caller;                 // of a bearer token
    bool is_key = false;                          // the account's key was used
};

// Looks at the credential of a request about the account, once. nullopt: it is a signature or a key, which
// say something about a container only. An error where there is none, or a wrong one.
[[nodiscard]] StorageResult<std::optional<Caller>> check_account_credential(
    Context& context, const ports::HttpRequest& request);
// Whether a container of the account may be listed with that credential.
[[nodiscard]] StorageResult<void> may_list_container(Context& context, const ports::HttpRequest& request,
                                                     const std::optional<Caller>& caller,
                                                     const std::string& container);

// `container` and `blob` as in the path; "" for requests about the account.
[[nodiscard]] StorageResult<BlobGrant> check_blob_access(Context& context, const ports::HttpRequest& request,
                                                         const std::string& container,
                                                         const std::string& blob);

}  // namespace lavant::api
