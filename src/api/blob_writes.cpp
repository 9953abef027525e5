// Put Blob, its blocks, properties and metadata, Copy Blob and Delete Blob.

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "api/answers.h"
#include "api/asset_names.h"
#include "api/blob_answers.h"
#include "api/blob_conditions.h"
#include "api/blob_xml.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using Refused = std::shared_ptr<std::optional<HttpResponse>>;

// Up to here a blob is checked and stored at once, together with others; larger ones keep a thread busy.
constexpr std::uint64_t kQuickBytes = 1U << 20;
constexpr std::size_t kPieceBytes = 1U << 20;
constexpr std::size_t kBlockIdBytes = 64;

HttpResponse unsupported(std::string_view what) {
    return storage_error(400, "UnsupportedHeader", std::string(what));
}

HttpResponse answer_of(const Result<ports::BlobInfo>& stored, const Refused& refused, int status) {
    if (stored) return written(status, *stored);
    if (*refused) return **refused;
    if (stored.error().code == ErrorCode::NotFound) return no_blob();
    if (stored.error().code == ErrorCode::ResourceExhausted)
        return storage_error(507, "InsufficientStorage", stored.error().message);
    return storage_error(stored.error());
}

Result<std::string> md5_of_body(Context& context, const ports::HttpRequest& request) {
    if (request.body_file.empty()) return context.ports.crypto.md5(request.body);
    LAVANT_TRY(const Fd file, open_file(request.body_file, O_RDONLY));
    std::string piece(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, request.body_bytes + 1)),
                      '\0');
    Result<void> read;
    const std::string digest = context.ports.crypto.md5_of_chunks([&]() -> std::optional<std::string_view> {
        const ssize_t got = ::read(file.get(), piece.data(), piece.size());
        if (got < 0) read = fail(system_error("read an upload", errno));
        if (got <= 0) return std::nullopt;
        return std::string_view(piece).substr(0, static_cast<std::size_t>(got));
    });
    if (!read) return fail(read.error());
    return digest;
}

// The body's checksum where the client gave one, or where it is cheap; an answer if it is not what was given.
tl::expected<std::string, HttpResponse> checked_md5(Context& context, const ports::HttpRequest& request,
                                                    bool if_cheap) {
    const std::string_view expected = request.header("Content-MD5");
    if (expected.empty() && !(if_cheap && request.body_bytes <= kQuickBytes)) return std::string();
    if (const auto raw = base64_decode(expected); !expected.empty() && (!raw || raw->size() != 16))
        return tl::make_unexpected(storage_error(400, "InvalidMd5", "Content-MD5 is not base64 of 16 bytes"));
    const Result<std::string> digest = md5_of_body(context, request);
    if (!digest) return tl::make_unexpected(storage_error(digest.error()));
    std::string made = base64_encode(*digest);
    if (!expected.empty() && made != expected)
        return tl::make_unexpected(storage_error(
            400, "Md5Mismatch",
            "The MD5 value specified in the request did not match the MD5 value calculated by the "
            "server."));
    return made;
}

// The body as a file: one that came in memory is written out first. Not synced: whoever keeps it does that.
Result<std::string> body_as_file(Context& context, const ports::HttpRequest& request) {
    if (!request.body_file.empty()) return request.body_file;
    std::string path =
        context.ports.blobs.temporary_folder() + "/body-" + to_hex(context.ports.crypto.random_bytes(12));
    LAVANT_TRY(const Fd file, open_file(path, O_WRONLY | O_CREAT | O_EXCL));
    if (auto written = write_all(file.get(), request.body); !written) {
        ::unlink(path.c_str());
        return fail(written.error());
    }
    return path;
}

void put_block(Context& context, const SharedBlobCall& call) {
    const auto respond = [&](HttpResponse response) { finish(*call->call, std::move(response)); };
    const auto id = base64_decode(call->request().query_value("blockid").value_or(""));
    if (!id || id->empty() || id->size() > kBlockIdBytes)
        return respond(
            storage_error(400, "InvalidQueryParameterValue", "blockid must be base64 of 1 to 64 bytes"));
    if (!call->request().header("x-ms-copy-source").empty())
        return respond(unsupported("blocks cannot be copied from a URL here; copy the whole blob"));
    const auto md5 = checked_md5(context, call->request(), false);
    if (!md5) return respond(md5.error());
    const auto source = body_as_file(context, call->request());
    if (!source) return respond(storage_error(source.error()));
    const auto put =
        context.ports.blobs.put_block(call->container(), call->blob(), base64url_encode(*id), *source);
    if (!put && call->request().body_file.empty()) ::unlink(source->c_str());
    if (!put) return respond(storage_error(put.error()));
    HttpResponse response;
    response.status = 201;
    if (!md5->empty()) response.headers.emplace_back("Content-MD5", *md5);
    response.headers.emplace_back("x-ms-request-server-encrypted", "false");
    respond(std::move(response));
}

tl::expected<std::vector<ports::BlockRef>, HttpResponse> blocks_of(const ports::HttpRequest& request) {
    std::string xml = request.body;
    if (!request.body_file.empty()) {
        const auto read = read_file(request.body_file, limits::kJsonBytes);
        if (!read) return tl::make_unexpected(storage_error(read.error()));
        xml = *read;
    }
    auto blocks = parse_block_list(xml);
    if (!blocks) return tl::make_unexpected(storage_error(400, "InvalidXmlDocument", blocks.error().message));
    for (ports::BlockRef& block : *blocks) {
        const auto raw = base64_decode(block.id);
        if (!raw || raw->empty())
            return tl::make_unexpected(storage_error(400, "InvalidBlockList", "a block id is not base64"));
        block.id = base64url_encode(*raw);
    }
    return std::move(*blocks);
}

void put_block_list(Context& context, const SharedBlobCall& call) {
    const auto respond = [&](HttpResponse response) { finish(*call->call, std::move(response)); };
    if (const auto md5 = checked_md5(context, call->request(), false); !md5) return respond(md5.error());
    const auto blocks = blocks_of(call->request());
    if (!blocks) return respond(blocks.error());
    const auto metadata = metadata_of(call->request());
    if (!metadata) return respond(metadata.error());
    const auto refused = std::make_shared<std::optional<HttpResponse>>();
    ports::BlobPut put{call->container(), call->blob(), "", {}};
    put.facts = {*metadata, properties_of(call->request(), false)};
    put.check = make_check(call, refused);
    put.free_bytes_min = context.settings.free_bytes_min;
    const auto stored = context.ports.blobs.put_block_list(std::move(put), *blocks);
    if (!stored && !*refused && stored.error().code == ErrorCode::InvalidArgument)
        return respond(storage_error(400, "InvalidBlockList", stored.error().message));
    respond(answer_of(stored, refused, 201));
}

void put_whole(Context& context, const SharedBlobCall& call) {
    const auto respond = [&](HttpResponse response) { finish(*call->call, std::move(response)); };
    const ports::HttpRequest& request = call->request();
    if (const std::string_view type = request.header("x-ms-blob-type"); !type.empty() && type != "BlockBlob")
        return respond(
            unsupported("x-ms-blob-type: only block blobs are kept here, no append and page blobs"));
    auto metadata = metadata_of(request);
    if (!metadata) return respond(metadata.error());
    const auto md5 = checked_md5(context, request, true);
    if (!md5) return respond(md5.error());
    const auto refused = std::make_shared<std::optional<HttpResponse>>();
    ports::BlobPut put{call->container(), call->blob(), request.body_file, {}};
    put.bytes = request.body;
    put.facts = {std::move(*metadata), properties_of(request, true)};
    if (!md5->empty()) put.facts.properties.try_emplace(ports::kMd5Property, *md5);
    put.check = make_check(call, refused);
    // Two who make the same blob at once: one of them.
    put.only_if_absent = request.header("If-None-Match") == "*" && !call->grant.create_only;
    if (request.body_bytes > kQuickBytes)
        return respond(answer_of(context.ports.blobs.put(put), refused, 201));
    context.ports.blobs.put_later(std::move(put), [call, refused](const Result<ports::BlobInfo>& stored) {
        finish(*call->call, answer_of(stored, refused, 201));
    });
}

void put_facts(Context& context, const SharedBlobCall& call, bool is_metadata) {
    const auto refused = std::make_shared<std::optional<HttpResponse>>();
    const ports::BlobCheck check = make_check(call, refused);
    if (!is_metadata)
        return finish(*call->call, answer_of(context.ports.blobs.set_properties(
                                                 call->container(), call->blob(),
                                                 properties_of(call->request(), false), check),
                                             refused, 200));
    const auto metadata = metadata_of(call->request());
    if (!metadata) return finish(*call->call, metadata.error());
    const auto put = context.ports.blobs.set_metadata(call->container(), call->blob(), *metadata, check);
    finish(*call->call, answer_of(put, refused, 200));
}

// --- copying ---

struct CopySource {
    std::string container;
    std::string blob;
};

tl::expected<CopySource, HttpResponse> copy_source(Context& context, const BlobCall& call) {
    const auto cannot = [](std::string why) {
        return tl::make_unexpected(storage_error(404, "CannotVerifyCopySource", why));
    };
    const std::string url(call.request().header("x-ms-copy-source"));
    const std::size_t mark = url.find('?');
    const auto place = parse_storage_url(url.substr(0, mark));
    const std::size_t slash = place ? place->find('/') : std::string::npos;
    if (slash == std::string::npos) return cannot("only blobs of this server can be copied");
    CopySource source{place->substr(0, slash), place->substr(slash + 1)};
    ports::HttpRequest ask;
    ask.method = "GET";
    ask.peer = call.request().peer;
    ask.headers.emplace_back("Host", call.request().header("Host"));
    if (mark != std::string::npos) ask.query = url.substr(mark + 1);
    if (call.grant.caller) ask.headers.emplace_back("Authorization", call.request().header("Authorization"));
    const bool by_key = call.grant.is_key && source.container == call.container();
    if (!by_key)
        if (const auto may = check_blob_access(context, ask, source.container, source.blob); !may)
            return cannot("the source cannot be read: " + may.error().message);
    return source;
}

void copy(Context& context, const SharedBlobCall& call) {
    const auto respond = [&](HttpResponse response) { finish(*call->call, std::move(response)); };
    const auto source = copy_source(context, *call);
    if (!source) return respond(source.error());
    const auto found = context.ports.blobs.open(source->container, source->blob);
    if (!found || !*found || ports::is_staged(source->blob))
        return respond(storage_error(404, "BlobNotFound", "the source is not there"));
    if (auto room = context.space.check_room((*found)->info.bytes); !room)
        return respond(storage_error(507, "InsufficientStorage", room.error().message));
    auto metadata = metadata_of(call->request());
    if (!metadata) return respond(metadata.error());
    ports::BlobPut put{call->container(), call->blob(), "", {}};
    put.source =
        context.ports.blobs.temporary_folder() + "/copy-" + to_hex(context.ports.crypto.random_bytes(12));
    put.facts = {metadata->empty() ? (*found)->info.metadata : std::move(*metadata),
                 (*found)->info.properties};
    const auto refused = std::make_shared<std::optional<HttpResponse>>();
    put.check = make_check(call, refused);
    const auto stored = [&]() -> Result<ports::BlobInfo> {
        LAVANT_TRY(const Fd file, open_file(put.source, O_WRONLY | O_CREAT | O_EXCL));
        std::string piece(kPieceBytes, '\0');
        for (off_t at = 0;; at += static_cast<off_t>(piece.size())) {
            piece.resize(kPieceBytes);
            const ssize_t got = ::pread((*found)->file->get(), piece.data(), piece.size(), at);
            if (got < 0) return fail(system_error("read the source of a copy", errno));
            piece.resize(static_cast<std::size_t>(got));
            if (got == 0) break;
            LAVANT_TRY_VOID(write_all(file.get(), piece));
        }
        return context.ports.blobs.put(put);
    }();
    ::unlink(put.source.c_str());
    const bool is_sync = equals_ignoring_case(call->request().header("x-ms-requires-sync"), "true") ||
                         !call->request().header("x-ms-blob-type").empty();
    HttpResponse response = answer_of(stored, refused, is_sync ? 201 : 202);
    if (stored) {
        response.headers.emplace_back("x-ms-copy-id", to_hex(context.ports.crypto.random_bytes(16)));
        response.headers.emplace_back("x-ms-copy-status", "success");
    }
    respond(std::move(response));
}

void put(Context& context, const SharedBlobCall& call) {
    const std::string comp = call->comp();
    const ports::HttpRequest& request = call->request();
    if (!request.header("x-ms-lease-id").empty())
        return finish(*call->call, storage_error(412, "LeaseNotPresentWithBlobOperation",
                                                 "There is currently no lease on the blob."));
    if (comp == "metadata" || comp == "properties") return put_facts(context, call, comp == "metadata");
    if (auto room = context.space.check_room(); !room)
        return finish(*call->call, storage_error(507, "InsufficientStorage", room.error().message));
    if (comp == "block") return put_block(context, call);
    if (comp == "blocklist") return put_block_list(context, call);
    if (comp == "appendblock" || comp == "page")
        return finish(*call->call, storage_error(409, "InvalidBlobType",
                                                 "The blob type is invalid for this operation: only block "
                                                 "blobs are kept here."));
    if (!comp.empty())
        return finish(*call->call,
                      storage_error(400, "UnsupportedQueryParameter", "comp=" + comp + " is not supported"));
    if (!request.header("x-ms-copy-source").empty()) return copy(context, call);
    put_whole(context, call);
}

// Whether it waits for the disk, or takes so long otherwise that others would wait for it.
bool is_slow(const BlobCall& call) {
    const std::string comp = call.comp();
    return comp == "blocklist" || comp == "metadata" || comp == "properties" ||
           !call.request().header("x-ms-copy-source").empty() ||
           ((comp.empty() || comp == "block") && call.request().body_bytes > kQuickBytes);
}

void remove(Context& context, const SharedBlobCall& call) {
    const auto refused = std::make_shared<std::optional<HttpResponse>>();
    if (call->request().query_value("snapshot")) return finish(*call->call, no_blob());
    const auto removed =
        context.ports.blobs.remove(call->container(), call->blob(), make_check(call, refused));
    HttpResponse response;
    response.status = 202;
    response.headers.emplace_back("x-ms-delete-type-permanent", "true");
    if (!removed)
        response = *refused ? **refused
                            : (removed.error().code == ErrorCode::NotFound ? no_blob()
                                                                           : storage_error(removed.error()));
    finish(*call->call, std::move(response));
}

}  // namespace

void write_blob(Context& context, const SharedBlobCall& call) {
    if (!is_slow(*call)) return put(context, call);
    run_slowly(context, [&context, call] { put(context, call); });
}

void delete_blob(Context& context, const SharedBlobCall& call) {
    run_slowly(context, [&context, call] { remove(context, call); });
}

}  // namespace lavant::api
