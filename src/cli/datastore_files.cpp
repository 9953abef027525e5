#include "cli/datastore_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/datastore.h"
#include "cli/disk_use.h"
#include "cli/progress.h"
#include "cli/storage_list.h"
#include "cli/upload.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kAttempts = 3;
constexpr int kParallelMax = 64;
constexpr std::size_t kPieceBytes = 1U << 20;
constexpr std::size_t kFilesMax = 10'000'000;

struct Page {
    std::vector<ListedBlob> blobs;
    std::vector<std::string> folders;
};

Outcome<Page> list_all(Session& session, const DatastorePlace& place, const std::string& prefix,
                       bool recursive) {
    Page all;
    std::string marker;
    do {
        ports::ClientRequest request;
        request.url = fmt::format("{}?restype=container&comp=list&prefix={}{}{}&{}", place.url,
                                  percent_encode(prefix), recursive ? "" : "&delimiter=%2F",
                                  marker.empty() ? "" : "&marker=" + percent_encode(marker), place.signature);
        LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
        if (answer.status != 200) return tl::make_unexpected(Session::refusal(answer, "list the datastore"));
        BlobPage page = parse_blob_list(answer.body);
        std::move(page.blobs.begin(), page.blobs.end(), std::back_inserter(all.blobs));
        std::move(page.folders.begin(), page.folders.end(), std::back_inserter(all.folders));
        marker = std::move(page.next_marker);
    } while (!marker.empty() && all.blobs.size() < kFilesMax);
    return all;
}

std::string without_slashes(std::string path) {
    while (path.starts_with('/')) path.erase(0, 1);
    while (path.ends_with('/')) path.pop_back();
    return path;
}

// A folder's content, or the one file of that name.
Outcome<Page> list_place(Session& session, const DatastorePlace& place, const std::string& path,
                         bool recursive) {
    const std::string plain = without_slashes(path);
    LAVANT_TRY(Page found, list_all(session, place, plain.empty() ? "" : plain + "/", recursive));
    if (plain.empty() || !found.blobs.empty() || !found.folders.empty()) return found;
    LAVANT_TRY(Page near, list_all(session, place, plain, false));
    for (ListedBlob& blob : near.blobs)
        if (blob.name == plain) found.blobs.push_back(std::move(blob));
    if (found.blobs.empty())
        return stop(Exit::Refused, ErrorCode::NotFound,
                    fmt::format("there is nothing at '{}' in this datastore", printable(path)));
    return found;
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

struct Counts {
    std::size_t moved = 0;
    std::size_t there = 0;  // already
    std::uint64_t bytes = 0;
};

// Does `work` for every number below `count`, several at once, each thread with a session of its own. The
// first failure ends it.
using Work = std::function<Outcome<void>(Session&, std::size_t)>;
Outcome<void> in_parallel(Session& session, const Context& context, int threads, std::size_t count,
                          const Work& work) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;  // guards failure
    std::optional<Failure> failure;
    const auto run = [&](Session& own) {
        while (true) {
            const std::size_t at = next.fetch_add(1);
            if (at >= count) return;
            auto done = work(own, at);
            if (done) continue;
            const std::lock_guard lock(mutex);
            if (!failure) failure = done.error();
            next = count;
        }
    };
    const auto others = std::min<std::size_t>(
        count == 0 ? 0 : count - 1, static_cast<std::size_t>(std::clamp(threads, 1, kParallelMax)) - 1);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < others; ++i)
        running.emplace_back([&] {
            Session own(context.make_client(session.address().ca_file), session.address());
            run(own);
        });
    run(session);
    for (std::thread& thread : running) thread.join();
    if (failure) return tl::make_unexpected(*failure);
    return {};
}

void say(const Console& console, std::string_view verb, const Counts& counts, const std::string& where) {
    console.out << fmt::format("{} {} file{} ({}) to {}{}\n", verb, counts.moved,
                               counts.moved == 1 ? "" : "s", describe_bytes(counts.bytes), where,
                               counts.there == 0 ? "" : fmt::format("; {} were there already", counts.there));
    console.out.flush();
}

// False for names that would lie outside of the folder they are written to.
bool stays_inside(std::string_view relative) {
    const auto parts = split(relative, '/');
    return relative.find('\0') == std::string_view::npos &&
           std::ranges::none_of(parts, [](auto part) { return part.empty() || part == "." || part == ".."; });
}

Outcome<void> fetch(Session& session, const std::string& url, const ListedBlob& blob,
                    const std::string& path) {
    LAVANT_TRY_VOID(make_directories(parent_of(path), 0755));
    const std::string beside = path + ".part";
    for (int attempt = 1;; ++attempt) {
        ports::ClientRequest request;
        request.url = url;
        request.response_file = beside;
        request.timeout_s = 24 * 3'600;
        const auto answer = session.send(std::move(request));
        struct stat status {};
        const bool whole = answer && answer->status == 200 && ::stat(beside.c_str(), &status) == 0 &&
                           static_cast<std::uint64_t>(status.st_size) == blob.bytes;
        if (whole) break;
        (void)::unlink(beside.c_str());
        if (!answer && attempt < kAttempts) continue;
        if (!answer) return tl::make_unexpected(answer.error());
        if (answer->status != 200)
            return tl::make_unexpected(Session::refusal(*answer, "download '" + blob.name + "'"));
        return stop(Exit::Refused, ErrorCode::Conflict,
                    "'" + blob.name + "' changed while it was fetched; try again");
    }
    if (::rename(beside.c_str(), path.c_str()) != 0)
        return fail(system_error("rename to '" + path + "'", errno));
    return {};
}

}  // namespace

Outcome<Exit> list_store_files(Session& session, const Console& console, const StoreListing& listing,
                               const Output& output) {
    LAVANT_TRY(const DatastorePlace place, open_datastore(session, listing.datastore));
    LAVANT_TRY(const Page found, list_place(session, place, listing.path, listing.recursive));
    Json document = Json::array();
    for (const std::string& folder : found.folders)
        document.append(Json::object({{"name", folder}, {"type", "folder"}}));
    for (const ListedBlob& blob : found.blobs) {
        const auto modified = parse_http_date(blob.modified);
        document.append(Json::object({{"name", blob.name},
                                      {"type", "file"},
                                      {"bytes", blob.bytes},
                                      {"modified", modified ? to_rfc3339(*modified) : ""},
                                      {"md5", blob.md5}}));
    }
    LAVANT_TRY_VOID(print(document, output, console, [&] {
        std::string text;
        for (const std::string& folder : found.folders)
            text += fmt::format("{:>14}  {:19}  {}\n", "-", "", printable(folder));
        for (const ListedBlob& blob : found.blobs) {
            const auto modified = parse_http_date(blob.modified);
            text += fmt::format("{:>14}  {:19}  {}\n", blob.bytes,
                                modified ? short_time(to_rfc3339(*modified)) : "", printable(blob.name));
        }
        return text;
    }));
    return Exit::Completed;
}

Outcome<Exit> upload_to_store(Session& session, Context& context, const StoreTransfer& transfer) {
    LAVANT_TRY(const Snapshot snapshot, take_snapshot(transfer.local));
    LAVANT_TRY(const DatastorePlace place, open_datastore(session, transfer.datastore));
    std::string target = without_slashes(transfer.path);
    if (target.empty() || (snapshot.is_file && transfer.path.ends_with('/')))
        target += (target.empty() ? "" : "/") + snapshot.name;
    const auto blob_of = [&](const SnapshotFile& file) {
        return snapshot.is_file ? target : target + "/" + file.path;
    };
    LAVANT_TRY(const Page there, list_all(session, place, target, true));
    std::map<std::string, const ListedBlob*> known;
    for (const ListedBlob& blob : there.blobs) known[blob.name] = &blob;
    Progress progress(&context.console, "uploading " + snapshot.name, snapshot.bytes);
    std::mutex mutex;  // guards counts
    Counts counts;
    LAVANT_TRY_VOID(
        in_parallel(session, context, transfer.parallel, snapshot.files.size(),
                    [&](Session& own, std::size_t i) -> Outcome<void> {
                        const SnapshotFile& file = snapshot.files[i];
                        const std::string md5 = md5_of_file(context.crypto, file.source);
                        const auto found = known.find(blob_of(file));
                        const bool same = found != known.end() && found->second->bytes == file.bytes &&
                                          !md5.empty() && found->second->md5 == md5;
                        if (same) {
                            progress.add(file.bytes);
                        } else {
                            Uploader uploader(own, context.crypto);
                            LAVANT_TRY_VOID(uploader.put_file(file, place, blob_of(file), md5, progress));
                        }
                        const std::lock_guard lock(mutex);
                        counts.moved += same ? 0 : 1;
                        counts.there += same ? 1 : 0;
                        counts.bytes += same ? 0 : file.bytes;
                        return {};
                    }));
    say(context.console, "uploaded", counts,
        fmt::format("azureml://datastores/{}/paths/{}{}", transfer.datastore, target,
                    snapshot.is_file ? "" : "/"));
    return Exit::Completed;
}

Outcome<Exit> download_from_store(Session& session, Context& context, const StoreTransfer& transfer) {
    LAVANT_TRY(const DatastorePlace place, open_datastore(session, transfer.datastore));
    LAVANT_TRY(const Page found, list_place(session, place, transfer.path, true));
    const std::string plain = without_slashes(transfer.path);
    std::uint64_t all = 0;
    for (const ListedBlob& blob : found.blobs) all += blob.bytes;
    Progress progress(&context.console, "downloading", all);
    std::mutex mutex;  // guards counts and what is said
    Counts counts;
    LAVANT_TRY_VOID(in_parallel(
        session, context, transfer.parallel, found.blobs.size(),
        [&](Session& own, std::size_t i) -> Outcome<void> {
            const ListedBlob& blob = found.blobs[i];
            const std::string relative = blob.name == plain
                                             ? base_name_of(blob.name)
                                             : blob.name.substr(plain.empty() ? 0 : plain.size() + 1);
            if (!stays_inside(relative)) {
                const std::lock_guard lock(mutex);
                context.console.err << "left out '" << printable(blob.name)
                                    << "': its name leads out of the folder\n";
                return {};
            }
            const std::string path = transfer.local + "/" + relative;
            struct stat status {};
            const bool same = !blob.md5.empty() && ::lstat(path.c_str(), &status) == 0 &&
                              S_ISREG(status.st_mode) &&
                              static_cast<std::uint64_t>(status.st_size) == blob.bytes &&
                              md5_of_file(context.crypto, path) == blob.md5;
            if (!same)
                LAVANT_TRY_VOID(
                    fetch(own, blob_address(place.url, blob.name) + "?" + place.signature, blob, path));
            progress.add(blob.bytes);
            const std::lock_guard lock(mutex);
            counts.moved += same ? 0 : 1;
            counts.there += same ? 1 : 0;
            counts.bytes += same ? 0 : blob.bytes;
            return {};
        }));
    say(context.console, "downloaded", counts, transfer.local);
    return Exit::Completed;
}

}  // namespace lavant::cli
