#include "api/blob_answers.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "api/answers.h"
#include "api/blob_conditions.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;

constexpr std::string_view kVersion = "2021-12-02";  // answered where a request names none
constexpr std::size_t kMetadataBytes = 8U << 10;
constexpr std::size_t kPropertyBytes = 1'024;
constexpr std::size_t kClientIdBytes = 1'024;

// Unlike any other of this process; that it tells nothing is no harm.
std::string next_request_id() {
    static std::atomic<std::uint64_t> last{0};
    const std::uint64_t number = ++last;
    char text[40];
    std::snprintf(text, sizeof(text), "%08x-%04x-%04x-%04x-%012llx", 0x1a7a0000U, 0U, 0x4000U, 0x8000U,
                  static_cast<unsigned long long>(number));
    return text;
}

bool looks_like_version(std::string_view text) {
    return text.size() == kVersion.size() &&
           std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

}  // namespace

void finish(const Call& call, HttpResponse response) {
    const std::string_view version = call.request.header("x-ms-version");
    response.headers.emplace_back("x-ms-version", looks_like_version(version) ? version : kVersion);
    response.headers.emplace_back("x-ms-request-id", next_request_id());
    if (const std::string_view id = call.request.header("x-ms-client-request-id");
        !id.empty() && id.size() <= kClientIdBytes)
        response.headers.emplace_back("x-ms-client-request-id", id);
    if (call.request.method == "HEAD" && response.status >= 400) {
        response.body.clear();
        response.content_length = 0;
    }
    call.respond(std::move(response));
}

void add_etag(HttpResponse& response, const ports::BlobInfo& blob) {
    response.headers.emplace_back("ETag", "\"" + blob.etag + "\"");
    response.headers.emplace_back("Last-Modified", to_http_date(blob.modified_at));
}

HttpResponse no_blob() { return storage_error(404, "BlobNotFound", "The specified blob does not exist."); }

HttpResponse not_permitted(std::string_view why) {
    return storage_error(403, "AuthorizationPermissionMismatch", why);
}

HttpResponse written(int status, const ports::BlobInfo& blob) {
    HttpResponse response;
    response.status = status;
    add_etag(response, blob);
    if (const auto md5 = blob.properties.find(ports::kMd5Property); md5 != blob.properties.end())
        response.headers.emplace_back("Content-MD5", md5->second);
    response.headers.emplace_back("x-ms-request-server-encrypted", "false");
    return response;
}

tl::expected<std::map<std::string, std::string>, HttpResponse> metadata_of(
    const ports::HttpRequest& request) {
    constexpr std::string_view kPrefix = "x-ms-meta-";
    std::map<std::string, std::string> metadata;
    std::size_t bytes = 0;
    for (const auto& [name, value] : request.headers) {
        if (name.size() < kPrefix.size() || !equals_ignoring_case(name.substr(0, kPrefix.size()), kPrefix))
            continue;
        if (name.size() == kPrefix.size())
            return tl::make_unexpected(storage_error(400, "EmptyMetadataKey", "a metadata key is empty"));
        bytes += name.size() - kPrefix.size() + value.size();
        if (bytes > kMetadataBytes)
            return tl::make_unexpected(
                storage_error(400, "MetadataTooLarge", "the metadata has more than 8192 bytes; shorten it"));
        metadata[name.substr(kPrefix.size())] = value;
    }
    return metadata;
}

std::map<std::string, std::string> properties_of(const ports::HttpRequest& request, bool plain) {
    std::map<std::string, std::string> properties;
    for (const std::string_view name : ports::kBlobProperties) {
        std::string_view value = request.header("x-ms-blob-" + std::string(name));
        if (value.empty() && plain) value = request.header(name);
        if (!value.empty() && value.size() <= kPropertyBytes) properties[std::string(name)] = value;
    }
    if (const std::string_view md5 = request.header("x-ms-blob-content-md5"); !md5.empty())
        properties[ports::kMd5Property] = md5;
    return properties;
}

ports::BlobCheck make_check(const SharedBlobCall& call,
                            const std::shared_ptr<std::optional<HttpResponse>>& refused) {
    if (!call->grant.create_only && !has_condition(call->request())) return {};
    return [call, refused](const ports::BlobInfo* there) -> Result<void> {
        if (call->grant.create_only && there != nullptr)
            *refused = not_permitted("the signature permits new blobs alone, and this one is there");
        else
            *refused = unmet_condition(call->request(), there, /*is_write=*/true);
        if (*refused) return fail(ErrorCode::Conflict, "a condition of the request does not hold");
        return {};
    };
}

}  // namespace lavant::api
