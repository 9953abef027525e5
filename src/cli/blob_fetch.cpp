#include "cli/blob_fetch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/parallel.h"
#include "cli/progress.h"
#include "cli/upload.h"

namespace lavant::cli {
namespace {

constexpr std::uint64_t kRangeBytes = 8ULL << 20;  // of memory, for each file that travels
constexpr int kAttempts = 3;
constexpr int kPagesMax = 10'000;
constexpr std::size_t kBlobsMax = 10'000'000;
constexpr int kRangeTimeoutS = 600;
constexpr std::size_t kRandomBytes = 12;

std::string_view header_of(const ports::HttpResponse& answer, std::string_view wanted) {
    for (const auto& [name, value] : answer.headers)
        if (equals_ignoring_case(name, wanted)) return value;
    return {};
}

Outcome<void> too_many(const std::string& prefix) {
    return stop(Exit::Refused, ErrorCode::ResourceExhausted,
                fmt::format("cannot list '{}': there is more than can be kept in mind ({} files, {} pages); "
                            "name a folder in it",
                            printable(prefix), kBlobsMax, kPagesMax));
}

// What a file is called until it is whole: hidden, and with so much chance in it that no blob is called so.
class Unfinished {
 public:
    static Outcome<Unfinished> beside(const std::string& path, ports::Crypto& crypto) {
        const std::string folder = parent_of(path);
        LAVANT_TRY_VOID(make_directories(folder, 0755));
        std::string name = fmt::format("{}/.lavant-{}", folder, to_hex(crypto.random_bytes(kRandomBytes)));
        LAVANT_TRY(Fd file, open_file(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
        return Unfinished(std::move(name), std::move(file));
    }
    Unfinished(Unfinished&& other) noexcept
        : name_(std::exchange(other.name_, {})), file_(std::move(other.file_)) {}
    Unfinished& operator=(Unfinished&&) = delete;
    ~Unfinished() {
        if (!name_.empty()) (void)::unlink(name_.c_str());
    }

    Outcome<void> write(std::string_view bytes) {
        LAVANT_TRY_VOID(write_all(file_.get(), bytes));
        return {};
    }
    // With the time of change that the server says, if it says one.
    Outcome<void> finish(const std::string& path, std::optional<Instant> modified) {
        if (modified) {
            const auto seconds = std::chrono::floor<std::chrono::seconds>(modified->time_since_epoch());
            const timespec at{.tv_sec = seconds.count(), .tv_nsec = 0};
            const timespec times[2] = {at, at};
            (void)::futimens(file_.get(), times);  // Without it the file is fetched once more, no worse.
        }
        if (::rename(name_.c_str(), path.c_str()) != 0)
            return fail(system_error("rename to '" + path + "'", errno));
        name_.clear();
        return {};
    }

 private:
    Unfinished(std::string name, Fd file) : name_(std::move(name)), file_(std::move(file)) {}
    std::string name_;
    Fd file_;
};

struct Range {
    std::uint64_t from = 0;
    std::uint64_t bytes = 0;
    std::string etag;  // of the pieces before; "": it is the first
};

Outcome<ports::HttpResponse> fetch_range(Session& session, const std::string& url, const std::string& name,
                                         const Range& range) {
    const auto changed = [&name] {
        return stop(Exit::Refused, ErrorCode::Conflict,
                    fmt::format("'{}' changed while it was fetched; try again", printable(name)));
    };
    for (int attempt = 1;; ++attempt) {
        ports::ClientRequest request;
        request.url = url;
        request.headers = {
            {"x-ms-range", fmt::format("bytes={}-{}", range.from, range.from + range.bytes - 1)}};
        if (!range.etag.empty()) request.headers.emplace_back("If-Match", range.etag);
        request.timeout_s = kRangeTimeoutS;
        auto answer = session.send(std::move(request));
        if (!answer && attempt < kAttempts) continue;
        if (!answer) return tl::make_unexpected(answer.error());
        if (answer->status == 412 || answer->status == 416) return changed();
        if (answer->status != 206 && answer->status != 200)
            return tl::make_unexpected(
                Session::refusal(*answer, fmt::format("download '{}'", printable(name))));
        if (answer->body.size() != range.bytes) return changed();
        return std::move(*answer);
    }
}

Outcome<void> fetch_blob(Session& session, ports::Crypto& crypto, const DatastorePlace& place,
                         const ListedBlob& blob, const std::string& path, Progress& progress) {
    LAVANT_TRY(Unfinished file, Unfinished::beside(path, crypto));
    const std::string url = blob_address(place.url, blob.name) + "?" + place.signature;
    Range range;
    for (; range.from < blob.bytes; range.from += kRangeBytes) {
        range.bytes = std::min(kRangeBytes, blob.bytes - range.from);
        LAVANT_TRY(const ports::HttpResponse piece, fetch_range(session, url, blob.name, range));
        range.etag = header_of(piece, "ETag");
        LAVANT_TRY_VOID(file.write(piece.body));
        progress.add(piece.body.size());
    }
    return file.finish(path, parse_http_date(blob.modified));
}

bool is_here(ports::Crypto& crypto, const ListedBlob& blob, const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) != blob.bytes)
        return false;
    if (!blob.md5.empty()) return md5_of_file(crypto, path) == blob.md5;
    const auto modified = parse_http_date(blob.modified);
    return modified && status.st_mtim.tv_nsec == 0 &&
           std::chrono::seconds(status.st_mtim.tv_sec) == modified->time_since_epoch();
}

}  // namespace

bool stays_inside_folder(std::string_view relative) {
    if (relative.empty() || relative.front() == '/' || relative.find('\0') != std::string_view::npos)
        return false;
    const auto parts = split(relative, '/');
    return std::none_of(parts.begin(), parts.end(),
                        [](std::string_view part) { return part == ".." || part == "." || part.empty(); });
}

std::string without_slashes(std::string path) {
    while (path.starts_with('/')) path.erase(0, 1);
    while (path.ends_with('/')) path.pop_back();
    return path;
}

std::string said_of_those_there(std::size_t count) {
    if (count == 0) return {};
    return count == 1 ? "; 1 was there already" : fmt::format("; {} were there already", count);
}

std::optional<BlobPlace> parse_blob_place(std::string_view uri) {
    const std::size_t store = uri.find("datastores/");
    if (!uri.starts_with("azureml://") || store == std::string_view::npos) return std::nullopt;
    const std::string_view rest = uri.substr(store + 11);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    std::string_view path = rest.substr(slash + 1);
    if (path.starts_with("paths/")) path.remove_prefix(6);
    return BlobPlace{std::string(rest.substr(0, slash)), std::string(path)};
}

Outcome<BlobListing> list_blobs(Session& session, const DatastorePlace& place, const std::string& prefix,
                                bool recursive) {
    BlobListing all;
    std::string marker;
    int pages = 0;
    do {
        ports::ClientRequest request;
        request.url = fmt::format("{}?restype=container&comp=list&prefix={}{}{}&{}", place.url,
                                  percent_encode(prefix), recursive ? "" : "&delimiter=%2F",
                                  marker.empty() ? "" : "&marker=" + percent_encode(marker), place.signature);
        LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
        if (answer.status != 200) return tl::make_unexpected(Session::refusal(answer, "list the files"));
        BlobPage page = parse_blob_list(answer.body);
        std::move(page.blobs.begin(), page.blobs.end(), std::back_inserter(all.blobs));
        std::move(page.folders.begin(), page.folders.end(), std::back_inserter(all.folders));
        marker = std::move(page.next_marker);
        if (!marker.empty() && (all.blobs.size() >= kBlobsMax || ++pages >= kPagesMax))
            LAVANT_TRY_VOID(too_many(prefix));
    } while (!marker.empty());
    return all;
}

Outcome<BlobTree> find_tree(Session& session, const DatastorePlace& place, const std::string& path,
                            bool recursive) {
    BlobTree tree{.place = place, .path = without_slashes(path)};
    LAVANT_TRY(tree.found, list_blobs(session, place, tree.path.empty() ? "" : tree.path + "/", recursive));
    if (tree.path.empty() || !tree.found.blobs.empty() || !tree.found.folders.empty()) return tree;
    // Others begin with the same letters.
    LAVANT_TRY(BlobListing near, list_blobs(session, place, tree.path, false));
    for (ListedBlob& blob : near.blobs)
        if (blob.name == tree.path) tree.found.blobs.push_back(std::move(blob));
    tree.is_file = !tree.found.blobs.empty();
    return tree;
}

Outcome<Fetched> fetch_tree(Session& session, const Context& context, const BlobTree& tree,
                            const std::string& folder, int parallel) {
    const std::vector<ListedBlob>& blobs = tree.found.blobs;
    std::uint64_t all = 0;
    for (const ListedBlob& blob : blobs) all += blob.bytes;
    Progress progress(&context.console, "downloading", all);
    std::mutex mutex;  // guards counts and what is said
    Fetched counts;
    const auto fetch_one = [&](Session& own, std::size_t i) -> Outcome<void> {
        const ListedBlob& blob = blobs[i];
        const std::string relative = tree.is_file
                                         ? base_name_of(blob.name)
                                         : blob.name.substr(tree.path.empty() ? 0 : tree.path.size() + 1);
        if (!stays_inside_folder(relative)) {
            const std::lock_guard lock(mutex);
            context.console.err << "left out '" << printable(blob.name)
                                << "': its name leads out of the folder\n";
            return {};
        }
        const std::string path = folder + "/" + relative;
        const bool here = is_here(context.crypto, blob, path);
        if (here) {
            progress.add(blob.bytes);
        } else {
            LAVANT_TRY_VOID(fetch_blob(own, context.crypto, tree.place, blob, path, progress));
        }
        const std::lock_guard lock(mutex);
        (here ? counts.there : counts.files) += 1;
        counts.bytes += here ? 0 : blob.bytes;
        return {};
    };
    LAVANT_TRY_VOID(in_parallel(session, context, parallel, blobs.size(), fetch_one));
    return counts;
}

}  // namespace lavant::cli
