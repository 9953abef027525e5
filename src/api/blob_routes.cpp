#include "api/blob_routes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/answers.h"
#include "api/blob_xml.h"
#include "api/byte_range.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;

constexpr std::size_t kChecksummedBytesMax = 4U << 20;
constexpr std::size_t kBlobNameBytes = 1024;
constexpr std::size_t kMetadataBytes = 8U << 10;
constexpr int kListMax = 5000;

// What a request wants to do, in the letters of a SAS; any of them is enough.
std::string_view permission_for(const ports::HttpRequest& request, bool is_container) {
    if (request.method == "PUT") return request.query_value("comp") == "metadata" ? "w" : "cw";
    if (request.method == "DELETE") return "d";
    if (!is_container) return "r";
    return request.query_value("comp") == "list" ? "l" : "lr";
}

Result<void> check_permission(Context& context, const ports::HttpRequest& request, const Params& params) {
    const std::string& container = params.get("container");
    const std::string& blob = params.get("blob");
    const std::string_view wanted = permission_for(request, blob.empty());
    if (request.query.find("sig=") != std::string::npos)
        return context.sas.check(request, {container, blob, wanted}, context.ports.clock.now());
    LAVANT_TRY(const Caller caller, context.access.check_authorization(request.header("Authorization")));
    const bool writes = request.method == "PUT" || request.method == "DELETE";
    if (caller.role < (writes ? Role::Contributor : Role::Reader))
        return fail(ErrorCode::PermissionDenied,
                    "the credential does not permit this; ask an owner for a larger role");
    return {};
}

HttpResponse refusal(const Error& error) {
    if (error.code == ErrorCode::PermissionDenied)
        return storage_error(403, "AuthenticationFailed", error.message);
    return storage_error(error);
}

bool is_usable_name(std::string_view blob) {
    return blob.size() <= kBlobNameBytes && blob != ports::kStagingFolder &&
           !blob.starts_with(std::string(ports::kStagingFolder) + "/") &&
           blob.find('\0') == std::string_view::npos;
}

std::map<std::string, std::string> metadata_of(const ports::HttpRequest& request) {
    constexpr std::string_view kPrefix = "x-ms-meta-";
    std::map<std::string, std::string> metadata;
    std::size_t bytes = 0;
    for (const auto& [name, value] : request.headers) {
        if (name.size() <= kPrefix.size() || !equals_ignoring_case(name.substr(0, kPrefix.size()), kPrefix))
            continue;
        bytes += name.size() + value.size();
        if (bytes > kMetadataBytes) break;
        metadata[name.substr(kPrefix.size())] = value;
    }
    return metadata;
}

void add_facts(HttpResponse& response, const ports::BlobInfo& blob) {
    response.headers.emplace_back("ETag", "\"" + blob.etag + "\"");
    response.headers.emplace_back("Last-Modified", to_http_date(blob.modified_at));
    response.headers.emplace_back("x-ms-version", "2021-12-02");
}

HttpResponse written(int status, const ports::BlobInfo& blob) {
    HttpResponse response;
    response.status = status;
    add_facts(response, blob);
    response.headers.emplace_back("x-ms-request-server-encrypted", "false");
    return response;
}

HttpResponse no_blob() { return storage_error(404, "BlobNotFound", "there is no such blob"); }

Result<void> check_md5(Context& context, const ports::HttpRequest& request) {
    const std::string_view expected = request.header("Content-MD5");
    if (expected.empty() || request.body_bytes > kChecksummedBytesMax) return {};
    std::string bytes = request.body;
    if (!request.body_file.empty()) {
        LAVANT_TRY(bytes, read_file(request.body_file, kChecksummedBytesMax));
    }
    if (base64_encode(context.ports.crypto.md5(bytes)) != expected)
        return fail(ErrorCode::InvalidArgument,
                    "the body does not have the checksum its Content-MD5 header gives");
    return {};
}

// The body as a file: a body that came in memory (an empty one) is written out first.
Result<std::string> body_as_file(Context& context, const ports::HttpRequest& request) {
    if (!request.body_file.empty()) return request.body_file;
    std::string path =
        context.ports.blobs.temporary_folder() + "/body-" + to_hex(context.ports.crypto.random_bytes(12));
    LAVANT_TRY_VOID(write_file_atomically(path, request.body));
    return path;
}

HttpResponse put_blob(Context& context, const Call& call) {
    if (auto sound = check_md5(context, call.request); !sound)
        return storage_error(400, "Md5Mismatch", sound.error().message);
    const auto source = body_as_file(context, call.request);
    if (!source) return storage_error(source.error());
    const std::string& blob = call.param("blob");
    if (const auto block = call.request.query_value("blockid")) {
        const auto id = base64_decode(*block);
        if (!id || id->empty() || id->size() > 64)
            return storage_error(400, "InvalidQueryParameterValue",
                                 "blockid must be base64 of 1 to 64 bytes");
        const auto put =
            context.ports.blobs.put_block(call.param("container"), blob, base64url_encode(*id), *source);
        if (!put) return storage_error(put.error());
        HttpResponse response;
        response.status = 201;
        return response;
    }
    const auto put =
        context.ports.blobs.put(call.param("container"), blob, *source, metadata_of(call.request),
                                call.request.header("If-None-Match") == "*");
    return put ? written(201, *put) : storage_error(put.error());
}

HttpResponse put_block_list(Context& context, const Call& call) {
    std::string xml = call.request.body;
    if (!call.request.body_file.empty()) {
        const auto read = read_file(call.request.body_file, limits::kJsonBytes);
        if (!read) return storage_error(read.error());
        xml = *read;
    }
    auto ids = parse_block_list(xml);
    if (!ids) return storage_error(400, "InvalidXmlDocument", ids.error().message);
    for (std::string& id : *ids) {
        const auto raw = base64_decode(id);
        if (!raw || raw->empty()) return storage_error(400, "InvalidBlockList", "a block id is not base64");
        id = base64url_encode(*raw);
    }
    const std::string& container = call.param("container");
    const std::string& blob = call.param("blob");
    auto put = context.ports.blobs.put_block_list(container, blob, *ids,
                                                  call.request.header("If-None-Match") == "*");
    if (!put && put.error().code == ErrorCode::NotFound)
        return storage_error(400, "InvalidBlockList", put.error().message);
    const auto metadata = metadata_of(call.request);
    if (put && !metadata.empty()) put = context.ports.blobs.set_metadata(container, blob, metadata);
    return put ? written(201, *put) : storage_error(put.error());
}

HttpResponse put_metadata(Context& context, const Call& call) {
    const auto put = context.ports.blobs.set_metadata(call.param("container"), call.param("blob"),
                                                      metadata_of(call.request));
    if (!put && put.error().code == ErrorCode::NotFound) return no_blob();
    return put ? written(200, *put) : storage_error(put.error());
}

HttpResponse put(Context& context, const Call& call) {
    const std::string comp = call.request.query_value("comp").value_or("");
    if (comp == "metadata") return put_metadata(context, call);
    if (auto room = context.space.check_room(); !room)
        return storage_error(507, "InsufficientStorage", room.error().message);
    if (comp == "blocklist") return put_block_list(context, call);
    if (comp.empty() || comp == "block") return put_blob(context, call);
    return storage_error(400, "UnsupportedQueryParameter", "comp=" + comp + " is not supported");
}

HttpResponse get(Context& context, const Call& call) {
    const std::string& container = call.param("container");
    const std::string& name = call.param("blob");
    context.job_files.refresh(container, name);
    const auto found = context.ports.blobs.find(container, name);
    // A name that no blob can have is not there: clients ask for "folder/" to see whether it is one.
    if (!found && found.error().code == ErrorCode::InvalidArgument) return no_blob();
    if (!found) return storage_error(found.error());
    if (!*found) return no_blob();
    const ports::BlobInfo& blob = **found;
    const std::string quoted = "\"" + blob.etag + "\"";
    const std::string_view if_match = call.request.header("If-Match");
    if (!if_match.empty() && if_match != "*" && if_match != quoted)
        return storage_error(412, "ConditionNotMet", "the blob has changed since");
    HttpResponse response;
    if (const std::string_view if_none = call.request.header("If-None-Match");
        !if_none.empty() && if_none == quoted) {
        response.status = 304;
        add_facts(response, blob);
        return response;
    }
    add_facts(response, blob);
    response.headers.emplace_back("Content-Type",
                                  blob.content_type.empty() ? "application/octet-stream" : blob.content_type);
    // Whatever a job wrote must not act as a page of this server.
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("Content-Security-Policy", "sandbox");
    response.headers.emplace_back("Accept-Ranges", "bytes");
    response.headers.emplace_back("x-ms-blob-type", "BlockBlob");
    for (const auto& [key, value] : blob.metadata) response.headers.emplace_back("x-ms-meta-" + key, value);
    if (call.request.method == "HEAD") {
        response.content_length = blob.bytes;
        return response;
    }
    std::string_view asked = call.request.header("x-ms-range");
    if (asked.empty()) asked = call.request.header("Range");
    const ByteRange range = resolve_range(asked, blob.bytes);
    if (range.kind == ByteRange::Kind::Impossible) {
        HttpResponse refused = storage_error(416, "InvalidRange", "the blob has no bytes in this range");
        refused.headers.emplace_back("Content-Range", "bytes */" + std::to_string(blob.bytes));
        return refused;
    }
    if (range.kind == ByteRange::Kind::Part) {
        response.status = 206;
        response.headers.emplace_back("Content-Range", range.content_range(blob.bytes));
    }
    if (range.bytes > 0)
        response.file =
            ports::FileBody{context.ports.blobs.path_of(container, name), range.offset, range.bytes};
    return response;
}

HttpResponse remove(Context& context, const Call& call) {
    const std::string& container = call.param("container");
    const auto found = context.ports.blobs.find(container, call.param("blob"));
    if (!found) return storage_error(found.error());
    if (!*found) return no_blob();
    if (const auto removed = context.ports.blobs.remove(container, call.param("blob")); !removed)
        return storage_error(removed.error());
    HttpResponse response;
    response.status = 202;
    return response;
}

HttpResponse list(Context& context, const Call& call) {
    ports::BlobListing listing;
    listing.container = call.param("container");
    listing.prefix = call.request.query_value("prefix").value_or("");
    listing.delimiter = call.request.query_value("delimiter").value_or("");
    listing.marker = call.request.query_value("marker").value_or("");
    listing.limit = static_cast<int>(std::clamp<std::int64_t>(
        parse_integer(call.request.query_value("maxresults").value_or("")).value_or(kListMax), 1, kListMax));
    if (!listing.delimiter.empty() && listing.delimiter != "/")
        return storage_error(400, "InvalidQueryParameterValue", "the only delimiter is '/'");
    context.job_files.refresh(listing.container, listing.prefix);
    const auto page = context.ports.blobs.list(listing);
    if (!page) return storage_error(page.error());
    const std::string include = call.request.query_value("include").value_or("");
    const ListView view{origin_of(context, call.request) + "/storage/" + kStorageAccount + "/",
                        include.find("metadata") != std::string::npos};
    HttpResponse response;
    response.headers = {{"Content-Type", "application/xml"}, {"x-ms-version", "2021-12-02"}};
    response.body = render_blob_list(listing, *page, view);
    return response;
}

HttpResponse container_request(Context& context, const Call& call) {
    if (call.request.query_value("comp").value_or("") == "list") return list(context, call);
    HttpResponse response;
    if (call.request.method == "HEAD") response.content_length = 0;
    response.headers = {{"x-ms-version", "2021-12-02"}, {"ETag", "\"0x0\""}};
    return response;
}

void serve(Context& context, const Call& call,
           const std::function<HttpResponse(Context&, const Call&)>& handler) {
    HttpResponse response;
    if (const auto permitted = check_permission(context, call.request, call.params); !permitted) {
        response = refusal(permitted.error());
    } else if (!is_usable_name(call.param("blob"))) {
        response = storage_error(400, "InvalidResourceName", "this is not a name a blob can have");
    } else if (!context.ports.blobs.has_container(call.param("container"))) {
        response = storage_error(404, "ContainerNotFound", "there is no such container");
    } else {
        response = handler(context, call);
    }
    if (call.request.method == "HEAD" && response.status >= 400) {
        response.body.clear();
        response.content_length = 0;
    }
    call.respond(std::move(response));
}

}  // namespace

bool may_upload(Context& context, const ports::HttpRequest& head, const Params& params) {
    return check_permission(context, head, params).has_value() && context.space.check_room().has_value();
}

void add_blob_routes(Router& router, Context& context) {
    const auto route = [&context](HttpResponse (*handler)(Context&, const Call&)) {
        return Route{Need::Storage,
                     [&context, handler](const SharedCall& call) { serve(context, *call, handler); }};
    };
    for (const char* account : {kStorageAccount, kStorageHost}) {
        const std::string container = std::string("/storage/") + account + "/{container}";
        router.add("GET,HEAD", container, route(container_request));
        router.add("GET,HEAD", container + "/{blob*}", route(get));
        router.add("PUT", container + "/{blob*}", route(put));
        router.add("DELETE", container + "/{blob*}", route(remove));
    }
}

}  // namespace lavant::api
