// Get Blob, its properties and metadata, and its blocks.

#include "api/answers.h"
#include "api/blob_answers.h"
#include "api/blob_conditions.h"
#include "api/blob_xml.h"
#include "api/byte_range.h"
#include "base/text.h"

#include <unistd.h>

namespace lavant::api {
namespace {

using ports::HttpResponse;

constexpr std::uint64_t kRangeMd5Bytes = 4U << 20;  // of which a checksum is made on demand

void add_properties(HttpResponse& response, const BlobCall& call, const ports::BlobInfo& blob) {
    std::map<std::string, std::string> properties = blob.properties;
    properties.erase(ports::kMd5Property);
    properties.try_emplace("content-type", "application/octet-stream");
    for (const auto& [name, value] : call.grant.response_headers) properties[to_lower(name)] = value;
    for (const auto& [name, value] : properties) response.headers.emplace_back(name, value);
    for (const auto& [key, value] : blob.metadata) response.headers.emplace_back("x-ms-meta-" + key, value);
    response.headers.emplace_back("x-ms-blob-type", "BlockBlob");
    response.headers.emplace_back("x-ms-lease-status", "unlocked");
    response.headers.emplace_back("x-ms-lease-state", "available");
    response.headers.emplace_back("x-ms-creation-time", to_http_date(blob.modified_at));
    response.headers.emplace_back("x-ms-server-encrypted", "false");
    response.headers.emplace_back("Accept-Ranges", "bytes");
    // Whatever a job wrote must not act as a page of this server.
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("Content-Security-Policy", "sandbox");
}

std::optional<std::string> md5_of_range(Context& context, const Fd& file, const ByteRange& range) {
    std::string bytes(static_cast<std::size_t>(range.bytes), '\0');
    const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(range.offset));
    if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    return base64_encode(context.ports.crypto.md5(bytes));
}

HttpResponse get_bytes(Context& context, const BlobCall& call, const ports::OpenBlob& blob) {
    const ports::HttpRequest& request = call.request();
    HttpResponse response;
    add_etag(response, blob.info);
    add_properties(response, call, blob.info);
    const auto md5 = blob.info.properties.find(ports::kMd5Property);
    const bool has_md5 = md5 != blob.info.properties.end();
    if (request.method == "HEAD" || call.comp() == "metadata") {
        if (has_md5) response.headers.emplace_back("Content-MD5", md5->second);
        if (request.method == "HEAD") response.content_length = blob.info.bytes;
        return response;
    }
    std::string_view asked = request.header("x-ms-range");
    if (asked.empty()) asked = request.header("Range");
    const ByteRange range = resolve_range(asked, blob.info.bytes);
    if (range.kind == ByteRange::Kind::Impossible) {
        HttpResponse refused = storage_error(
            416, "InvalidRange", "The range specified is invalid for the current size of the resource.");
        refused.headers.emplace_back("Content-Range", "bytes */" + std::to_string(blob.info.bytes));
        return refused;
    }
    if (range.kind == ByteRange::Kind::Part) {
        response.status = 206;
        response.headers.emplace_back("Content-Range", range.content_range(blob.info.bytes));
        if (has_md5) response.headers.emplace_back("x-ms-blob-content-md5", md5->second);
        if (equals_ignoring_case(request.header("x-ms-range-get-content-md5"), "true")) {
            if (range.bytes > kRangeMd5Bytes)
                return storage_error(400, "OutOfRangeInput",
                                     "a checksum is made of a range of at most 4 MiB");
            if (const auto made = md5_of_range(context, *blob.file, range))
                response.headers.emplace_back("Content-MD5", *made);
        }
    } else if (has_md5) {
        response.headers.emplace_back("Content-MD5", md5->second);
    }
    if (range.bytes > 0) response.file = ports::FileBody{"", range.offset, range.bytes, blob.file};
    return response;
}

HttpResponse get_blocks(Context& context, const BlobCall& call) {
    auto blocks = context.ports.blobs.list_blocks(call.container(), call.blob());
    if (!blocks) return storage_error(blocks.error());
    const auto found = context.ports.blobs.find(call.container(), call.blob());
    if (!found) return storage_error(found.error());
    if (!*found && blocks->uncommitted.empty()) return no_blob();
    if (*found)
        if (auto unmet = unmet_condition(call.request(), &**found, false)) return *unmet;
    const std::string type = call.request().query_value("blocklisttype").value_or("committed");
    HttpResponse response;
    response.headers = {{"Content-Type", "application/xml"}};
    if (*found) {
        add_etag(response, **found);
        response.headers.emplace_back("x-ms-blob-content-length", std::to_string((*found)->bytes));
    }
    response.body = render_block_list(*blocks, type != "uncommitted", type != "committed");
    return response;
}

HttpResponse get(Context& context, const BlobCall& call) {
    context.job_files.refresh(call.container(), call.blob());
    const std::string comp = call.comp();
    if (comp == "blocklist") return get_blocks(context, call);
    if (!comp.empty() && comp != "metadata")
        return storage_error(400, "UnsupportedQueryParameter", "comp=" + comp + " is not supported here");
    if (call.request().query_value("snapshot") || call.request().query_value("versionid"))
        return no_blob();  // there are none of either
    const auto found = context.ports.blobs.open(call.container(), call.blob());
    // A name that no blob can have is not there: clients ask for "folder/" to see whether it is one.
    if (!found && found.error().code == ErrorCode::InvalidArgument) return no_blob();
    if (!found) return storage_error(found.error());
    if (auto unmet = unmet_condition(call.request(), *found ? &(*found)->info : nullptr, false);
        unmet && *found)
        return *unmet;
    if (!*found) return no_blob();
    return get_bytes(context, call, **found);
}

}  // namespace

void read_blob(Context& context, const SharedBlobCall& call) { finish(*call->call, get(context, *call)); }

}  // namespace lavant::api
