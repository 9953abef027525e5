#include "cli/blob_fetch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/storage_list.h"
#include "cli/upload.h"

namespace lavant::cli {
namespace {

constexpr std::uint64_t kRangeBytes = 32ULL << 20;
constexpr int kAttempts = 3;
constexpr int kPagesMax = 10'000;
constexpr std::size_t kBlobsMax = 1'000'000;

Outcome<std::vector<ListedBlob>> list_blobs(Session& session, const DatastorePlace& place,
                                            const std::string& prefix) {
    std::vector<ListedBlob> all;
    std::string marker;
    int pages = 0;
    do {
        ports::ClientRequest request;
        request.url =
            fmt::format("{}?restype=container&comp=list&prefix={}{}&{}", place.url, percent_encode(prefix),
                        marker.empty() ? "" : "&marker=" + percent_encode(marker), place.signature);
        LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
        if (answer.status != 200) return tl::make_unexpected(Session::refusal(answer, "list the files"));
        BlobPage page = parse_blob_list(answer.body);
        std::move(page.blobs.begin(), page.blobs.end(), std::back_inserter(all));
        marker = std::move(page.next_marker);
    } while (!marker.empty() && all.size() < kBlobsMax && ++pages < kPagesMax);
    return all;
}

Outcome<std::string> fetch_range(Session& session, const std::string& url, std::uint64_t from,
                                 std::uint64_t bytes) {
    for (int attempt = 1;; ++attempt) {
        ports::ClientRequest request;
        request.url = url;
        request.headers = {{"x-ms-range", fmt::format("bytes={}-{}", from, from + bytes - 1)}};
        request.timeout_s = 600;
        auto answer = session.send(std::move(request));
        if (answer && (answer->status == 206 || answer->status == 200)) {
            if (answer->body.size() == bytes) return std::move(answer->body);
            return stop(Exit::Refused, ErrorCode::Conflict,
                        "the file changed while it was fetched; try again");
        }
        if (attempt < kAttempts && !answer) continue;
        if (!answer) return tl::make_unexpected(answer.error());
        return tl::make_unexpected(Session::refusal(*answer, "download a file"));
    }
}

Outcome<void> fetch_blob(Session& session, const DatastorePlace& place, const ListedBlob& blob,
                         const std::string& path, Progress& progress) {
    LAVANT_TRY_VOID(make_directories(parent_of(path), 0755));
    const std::string beside = path + ".part";
    LAVANT_TRY(const Fd file, open_file(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    const std::string url = blob_address(place.url, blob.name) + "?" + place.signature;
    for (std::uint64_t from = 0; from < blob.bytes; from += kRangeBytes) {
        LAVANT_TRY(const std::string bytes,
                   fetch_range(session, url, from, std::min(kRangeBytes, blob.bytes - from)));
        LAVANT_TRY_VOID(write_all(file.get(), bytes));
        progress.add(bytes.size());
    }
    if (::rename(beside.c_str(), path.c_str()) != 0)
        return fail(system_error("rename to '" + path + "'", errno));
    return {};
}

}  // namespace

bool stays_inside_folder(std::string_view relative) {
    if (relative.empty() || relative.front() == '/' || relative.find('\0') != std::string_view::npos)
        return false;
    const auto parts = split(relative, '/');
    return std::none_of(parts.begin(), parts.end(),
                        [](std::string_view part) { return part == ".." || part == "." || part.empty(); });
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

Outcome<Fetched> fetch_tree(Session& session, const Console& console, const BlobTree& tree,
                            const std::string& folder) {
    const auto& [place, prefix] = tree;
    LAVANT_TRY(const auto blobs, list_blobs(session, place, prefix));
    std::uint64_t all = 0;
    for (const ListedBlob& blob : blobs) all += blob.bytes;
    Progress progress(&console, "downloading", all);
    Fetched counts;
    for (const ListedBlob& blob : blobs) {
        std::string relative = blob.name.substr(std::min(blob.name.size(), prefix.size()));
        if (relative.empty()) relative = base_name_of(blob.name);
        if (!stays_inside_folder(relative)) {
            console.err << "left out '" << printable(blob.name) << "': its name leads out of the folder\n";
            continue;
        }
        LAVANT_TRY_VOID(fetch_blob(session, place, blob, folder + "/" + relative, progress));
        ++counts.files;
        counts.bytes += blob.bytes;
    }
    return counts;
}

}  // namespace lavant::cli
