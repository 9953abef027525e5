#include "cli/upload.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "core/model/workspace.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::uint64_t kSinglePutBytesMax = 64ULL << 20;
constexpr std::size_t kBlockBytes = 8U << 20;
constexpr std::size_t kPieceBytes = 1U << 20;
constexpr const char* kStorageVersion = "2024-11-04";

std::vector<ports::Header> storage_headers() { return {{"x-ms-version", kStorageVersion}}; }

std::string signed_address(const std::string& address, const std::string& signature,
                           std::string_view more = {}) {
    std::string query(more);
    if (!signature.empty()) query += (query.empty() ? "" : "&") + signature;
    return query.empty() ? address : address + "?" + query;
}

ports::ClientRequest put_request(const std::string& address, const std::string& signature) {
    ports::ClientRequest put;
    put.method = "PUT";
    put.url = signed_address(address, signature);
    put.headers = storage_headers();
    put.headers.emplace_back("x-ms-blob-type", "BlockBlob");
    put.headers.emplace_back("Content-Type", "application/octet-stream");
    return put;
}

}  // namespace

std::string blob_address(const std::string& container_url, const std::string& name) {
    std::string address = container_url;
    for (const std::string_view segment : split(name, '/')) {
        address += '/';
        address += percent_encode(segment);
    }
    return address;
}

std::string random_guid(ports::Crypto& crypto) {
    std::string bytes = crypto.random_bytes(16);
    bytes[6] = static_cast<char>((static_cast<unsigned char>(bytes[6]) & 0x0fU) | 0x40U);
    bytes[8] = static_cast<char>((static_cast<unsigned char>(bytes[8]) & 0x3fU) | 0x80U);
    const std::string hex = to_hex(bytes);
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20);
}

std::string md5_of_file(ports::Crypto& crypto, const std::string& path) {
    const Result<Fd> file = open_file(path, O_RDONLY | O_CLOEXEC);
    if (!file) return "";
    std::string piece(kPieceBytes, '\0');
    bool read = true;
    const std::string digest = crypto.md5_of_chunks([&]() -> std::optional<std::string_view> {
        const ssize_t got = ::read(file->get(), piece.data(), piece.size());
        if (got < 0) read = false;
        if (got <= 0) return std::nullopt;
        return std::string_view(piece).substr(0, static_cast<std::size_t>(got));
    });
    return read ? base64_encode(digest) : "";
}

Outcome<std::string> Uploader::upload_code(const Snapshot& snapshot) {
    if (snapshot.files.empty()) {
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            "the code folder '" + snapshot.name + "' has no file to send; put one there or leave `code` out");
    }
    LAVANT_TRY(const std::string hash, content_hash(snapshot, crypto_));
    const std::string guid = random_guid(crypto_);
    const std::string version = session_.workspace_path("/codes/" + guid + "/versions/1");
    LAVANT_TRY(const Json known,
               session_.get(session_.workspace_path(fmt::format("/codes/{}/versions?hash={}&hashVersion={}",
                                                                guid, hash, kContentHashVersion))));
    if (!known["value"].items().empty()) {
        const std::string id = known["value"].items().front()["id"].string();
        if (!id.empty()) return id;
    }
    LAVANT_TRY(const Json pending,
               session_.post(version + "/startPendingUpload",
                             Json::object({{"pendingUploadType", "TemporaryBlobReference"}})));
    const Json& reference = pending["blobReferenceForConsumption"];
    const std::string sas_uri = reference.get("credential.sasUri").string();
    const std::string blob_uri = reference["blobUri"].string();
    if (sas_uri.empty() || blob_uri.empty()) {
        return stop(Exit::Refused, ErrorCode::Internal,
                    "cannot upload the code: the server named no place for it");
    }
    const std::size_t query = sas_uri.find('?');
    const DatastorePlace target{sas_uri.substr(0, query),
                                query == std::string::npos ? "" : sas_uri.substr(query + 1)};
    const std::string prefix = snapshot.is_file ? "" : snapshot.name + "/";
    LAVANT_TRY_VOID(upload_all(snapshot, target, prefix, {guid, "1"}));

    const Json body = Json::object(
        {{"properties",
          Json::object({{"codeUri", snapshot.is_file ? blob_uri : blob_uri + "/" + snapshot.name},
                        {"isAnonymous", true},
                        {"properties",
                         Json::object({{"hash_sha256", hash}, {"hash_version", kContentHashVersion}})}})}});
    LAVANT_TRY(const Json made, session_.put(version, body));
    return made["id"].string(version);
}

Outcome<Uploader::Uploaded> Uploader::upload_data(const std::string& path, const std::string& datastore) {
    LAVANT_TRY(const Snapshot snapshot, take_snapshot(path));
    if (snapshot.files.empty()) {
        return stop(Exit::Usage, ErrorCode::InvalidArgument, "the folder '" + path + "' has no file to send");
    }
    const std::string store = datastore.empty() ? kBlobDatastore : datastore;
    LAVANT_TRY(const std::string hash, object_hash(path, crypto_));
    LAVANT_TRY(const DatastorePlace target, open_datastore(session_, store));
    const std::string place = "LocalUpload/" + hash + "/";
    const std::string prefix = snapshot.is_file ? place : place + snapshot.name + "/";
    LAVANT_TRY_VOID(upload_all(snapshot, target, prefix, {random_guid(crypto_), "1"}));
    const std::string below = place + snapshot.name + (snapshot.is_file ? "" : "/");
    return Uploaded{fmt::format("azureml://datastores/{}/paths/{}", store, below), target.url + "/" + below};
}

Outcome<void> Uploader::upload_artifact(const std::string& blob, std::string bytes) {
    LAVANT_TRY(const DatastorePlace target, open_datastore(session_, kArtifactDatastore));
    ports::ClientRequest put = put_request(blob_address(target.url, blob), target.signature);
    put.body = std::move(bytes);
    LAVANT_TRY([[maybe_unused]] const ports::HttpResponse done,
               storage(std::move(put), "keep '" + blob + "'"));
    return {};
}

Outcome<void> Uploader::upload_all(const Snapshot& snapshot, const DatastorePlace& target,
                                   const std::string& prefix, const Mark& mark) {
    // The SDK marks the blob of the file that sorts first by its local path; both clients must look at the
    // same one.
    const auto first = std::min_element(snapshot.files.begin(), snapshot.files.end(),
                                        [](const auto& a, const auto& b) { return a.source < b.source; });
    const std::string marked = blob_address(target.url, prefix + first->path);
    ports::ClientRequest look;
    look.method = "HEAD";
    look.url = signed_address(marked, target.signature);
    look.headers = storage_headers();
    LAVANT_TRY(const ports::HttpResponse there, session_.send(std::move(look)));
    if (there.status == 200) {
        for (const auto& [name, value] : there.headers) {
            if (equals_ignoring_case(name, "x-ms-meta-upload_status") && value == "completed") return {};
        }
    }
    Progress progress(console_, "uploading " + snapshot.name, snapshot.bytes);
    for (const SnapshotFile& file : snapshot.files) {
        LAVANT_TRY_VOID(put_file(file, target, prefix + file.path, "", progress));
    }
    ports::ClientRequest confirm;
    confirm.method = "PUT";
    confirm.url = signed_address(marked, target.signature, "comp=metadata");
    confirm.headers = storage_headers();
    confirm.headers.emplace_back("x-ms-meta-upload_status", "completed");
    confirm.headers.emplace_back("x-ms-meta-name", mark.name);
    confirm.headers.emplace_back("x-ms-meta-version", mark.version);
    LAVANT_TRY([[maybe_unused]] const ports::HttpResponse done,
               storage(std::move(confirm), "finish the upload"));
    return {};
}

Outcome<void> Uploader::put_file(const SnapshotFile& file, const DatastorePlace& target,
                                 const std::string& blob, const std::string& md5, Progress& progress) {
    const std::string address = blob_address(target.url, blob);
    if (file.bytes > kSinglePutBytesMax) return put_in_blocks(file, address, target.signature, md5, progress);
    ports::ClientRequest put = put_request(address, target.signature);
    if (!md5.empty()) put.headers.emplace_back("Content-MD5", md5);
    if (file.bytes > 0) put.body_file = file.source;
    put.timeout_s = 3'600;
    LAVANT_TRY([[maybe_unused]] const ports::HttpResponse done,
               storage(std::move(put), "upload '" + file.path + "'"));
    progress.add(file.bytes);
    return {};
}

Outcome<void> Uploader::put_in_blocks(const SnapshotFile& file, const std::string& address,
                                      const std::string& signature, const std::string& md5,
                                      Progress& progress) {
    LAVANT_TRY(const Fd source, open_file(file.source, O_RDONLY | O_CLOEXEC));
    std::string list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    std::uint64_t offset = 0;
    for (int number = 0; offset < file.bytes; ++number) {
        const std::string id = base64_encode(fmt::format("block-{:08}", number));
        ports::ClientRequest put;
        put.method = "PUT";
        put.url = signed_address(address, signature, "comp=block&blockid=" + percent_encode(id));
        put.headers = storage_headers();
        put.body.resize(std::min<std::uint64_t>(kBlockBytes, file.bytes - offset));
        std::size_t have = 0;
        while (have < put.body.size()) {
            const ssize_t got = ::pread(source.get(), put.body.data() + have, put.body.size() - have,
                                        static_cast<off_t>(offset + have));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return fail(system_error("read '" + file.source + "'", errno));
            if (got == 0)
                return stop(Exit::Failed, ErrorCode::Conflict,
                            "'" + file.source + "' became shorter while it was sent; try again");
            have += static_cast<std::size_t>(got);
        }
        offset += have;
        progress.add(have);
        put.timeout_s = 600;
        LAVANT_TRY([[maybe_unused]] const ports::HttpResponse done,
                   storage(std::move(put), "upload '" + file.path + "'"));
        list += "<Latest>" + id + "</Latest>";
    }
    ports::ClientRequest commit;
    commit.method = "PUT";
    commit.url = signed_address(address, signature, "comp=blocklist");
    commit.headers = storage_headers();
    commit.headers.emplace_back("Content-Type", "application/xml");
    if (!md5.empty()) commit.headers.emplace_back("x-ms-blob-content-md5", md5);
    commit.body = list + "</BlockList>";
    commit.timeout_s = 3'600;  // the server waits for its disk
    LAVANT_TRY([[maybe_unused]] const ports::HttpResponse done,
               storage(std::move(commit), "upload '" + file.path + "'"));
    return {};
}

Outcome<ports::HttpResponse> Uploader::storage(ports::ClientRequest request, std::string_view attempted) {
    LAVANT_TRY(ports::HttpResponse answer, session_.send(std::move(request)));
    if (answer.status >= 200 && answer.status < 300) return answer;
    return tl::make_unexpected(Session::refusal(answer, attempted));
}

}  // namespace lavant::cli
