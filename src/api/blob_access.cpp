#include "api/blob_access.h"

#include <optional>

#include "api/container_places.h"
#include "api/shared_key.h"
#include "base/text.h"
#include "core/model/workspace.h"

namespace lavant::api {
namespace {

// What a request wants to do, in the letters of a signature; any of them is enough.
std::string_view permission_for(const ports::HttpRequest& request, bool is_container) {
    const std::string comp = request.query_value("comp").value_or("");
    if (request.method == "PUT") return comp == "metadata" || comp == "properties" ? "w" : "cw";
    if (request.method == "DELETE") return "d";
    if (!is_container) return "r";
    return comp == "list" ? "l" : "lr";
}

// Whoever may read the blobs of a workspace may read its code: azure-ai-ml downloads code with the
// credential of workspaceblobstore. nullopt: the container is no code, or it is not about reading.
std::optional<std::string> store_over(const std::string& container, std::string_view wanted) {
    if (wanted.find_first_not_of("rl") != std::string_view::npos) return std::nullopt;
    const auto workspace = workspace_of_code(container);
    return workspace ? std::optional(blob_container(*workspace)) : std::nullopt;
}

tl::unexpected<StorageRefusal> refuse(const Error& error) {
    if (error.code == ErrorCode::PermissionDenied)
        return tl::make_unexpected(StorageRefusal{403, "AuthorizationPermissionMismatch", error.message});
    return tl::make_unexpected(StorageRefusal{401, "NoAuthenticationInformation", error.message});
}

Result<void> check_bearer(Context& context, const Caller& caller, const std::string& container, bool writes) {
    LAVANT_TRY(const auto place, find_container_place(context, container));
    if (place) return context.access.may_use_datastore(caller, place->workspace, place->datastore, writes);
    if (caller.server_role >= (writes ? Role::Contributor : Role::Reader)) return {};
    return fail(ErrorCode::PermissionDenied,
                "the credential does not permit this; ask an owner for a larger role");
}

}  // namespace

StorageResult<std::optional<Caller>> check_account_credential(Context& context,
                                                              const ports::HttpRequest& request) {
    const std::string_view authorization = request.header("Authorization");
    if (request.query.find("sig=") != std::string::npos || is_shared_key(authorization)) return std::nullopt;
    Result<Caller> caller = context.access.check_authorization(authorization, request.peer);
    if (!caller) return refuse(caller.error());
    return std::optional(std::move(*caller));
}

StorageResult<void> may_list_container(Context& context, const ports::HttpRequest& request,
                                       const std::optional<Caller>& caller, const std::string& container) {
    if (!caller) {
        LAVANT_TRY([[maybe_unused]] const BlobGrant grant,
                   check_blob_access(context, request, container, ""));
        return {};
    }
    if (const auto permitted = check_bearer(context, *caller, container, false); !permitted)
        return refuse(permitted.error());
    return {};
}

StorageResult<BlobGrant> check_blob_access(Context& context, const ports::HttpRequest& request,
                                           const std::string& container, const std::string& blob) {
    const Instant now = context.ports.clock.now();
    const std::string_view wanted = permission_for(request, blob.empty());
    BlobGrant grant;
    if (request.query.find("sig=") != std::string::npos) {
        SasAsk ask{container, blob, wanted, request.query_value("prefix").value_or("")};
        auto given = context.sas.check(request, ask, now);
        if (const auto store = store_over(container, wanted); store && !given) {
            ask.container = *store;
            if (auto by_store = context.sas.check(request, ask, now)) given = std::move(by_store);
        }
        LAVANT_TRY(SasGrant sas, std::move(given));
        grant.create_only = wanted == "cw" && sas.permissions.find('w') == std::string::npos;
        grant.response_headers = std::move(sas.response_headers);
        return grant;
    }
    const std::string_view authorization = request.header("Authorization");
    if (is_shared_key(authorization)) {
        auto fits = check_shared_key(context.ports.crypto, request, context.storage_key(container), now);
        if (const auto store = store_over(container, wanted); store && !fits)
            if (check_shared_key(context.ports.crypto, request, context.storage_key(*store), now)) fits = {};
        LAVANT_TRY_VOID(std::move(fits));
        grant.is_key = true;
        return grant;
    }
    Result<Caller> caller = context.access.check_authorization(authorization, request.peer);
    if (!caller) return refuse(caller.error());
    const bool writes = request.method == "PUT" || request.method == "DELETE";
    if (const auto permitted = check_bearer(context, *caller, container, writes); !permitted)
        return refuse(permitted.error());
    grant.caller = std::move(*caller);
    return grant;
}

}  // namespace lavant::api
