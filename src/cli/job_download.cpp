#include "cli/job_download.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/datastore.h"
#include "cli/job_commands.h"
#include "cli/progress.h"
#include "cli/storage_list.h"
#include "cli/upload.h"
#include "core/model/workspace.h"

namespace lavant::cli {
namespace {

using wire::Json;

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
        if (answer.status != 200)
            return tl::make_unexpected(Session::refusal(answer, "list the files of the job"));
        BlobPage page = parse_blob_list(answer.body);
        std::move(page.blobs.begin(), page.blobs.end(), std::back_inserter(all));
        marker = std::move(page.next_marker);
    } while (!marker.empty() && all.size() < kBlobsMax && ++pages < kPagesMax);
    return all;
}

// False for names that would lie outside of the folder they are written to.
bool stays_inside(std::string_view relative) {
    if (relative.empty() || relative.front() == '/' || relative.find('\0') != std::string_view::npos)
        return false;
    const auto parts = split(relative, '/');
    return std::none_of(parts.begin(), parts.end(),
                        [](std::string_view part) { return part == ".." || part == "." || part.empty(); });
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
        return tl::make_unexpected(Session::refusal(*answer, "download a file of the job"));
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

struct Counts {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
};

// Everything below `prefix` (a folder with a slash at the end, or one blob) to `folder`.
Outcome<Counts> fetch_tree(Session& session, const Console& console, const DatastorePlace& place,
                           const std::string& prefix, const std::string& folder) {
    LAVANT_TRY(const auto blobs, list_blobs(session, place, prefix));
    std::uint64_t all = 0;
    for (const ListedBlob& blob : blobs) all += blob.bytes;
    Progress progress(&console, "downloading", all);
    Counts counts;
    for (const ListedBlob& blob : blobs) {
        std::string relative = blob.name.substr(std::min(blob.name.size(), prefix.size()));
        if (relative.empty()) relative = base_name_of(blob.name);
        if (!stays_inside(relative)) {
            console.err << "left out '" << printable(blob.name) << "': its name leads out of the folder\n";
            continue;
        }
        LAVANT_TRY_VOID(fetch_blob(session, place, blob, folder + "/" + relative, progress));
        ++counts.files;
        counts.bytes += blob.bytes;
    }
    return counts;
}

struct Located {
    std::string output;
    std::string datastore;
    std::string prefix;
};

// azureml://…/datastores/{d}/paths/{p}
std::optional<Located> locate(const std::string& output, std::string_view uri) {
    const std::size_t store = uri.find("datastores/");
    if (!uri.starts_with("azureml://") || store == std::string_view::npos) return std::nullopt;
    const std::string_view rest = uri.substr(store + 11);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    std::string_view path = rest.substr(slash + 1);
    if (path.starts_with("paths/")) path.remove_prefix(6);
    return Located{output, std::string(rest.substr(0, slash)), std::string(path)};
}

std::vector<Located> outputs_of(const Json& job, const std::string& only) {
    std::vector<Located> found;
    for (const auto& [output, about] : job.get("properties.outputs").members()) {
        if (!only.empty() && output != only) continue;
        auto place = locate(output, about["uri"].text());
        const std::string usual = fmt::format("azureml/{}/{}/", job["name"].text(), output);
        found.push_back(place ? std::move(*place) : Located{output, kBlobDatastore, usual});
    }
    return found;
}

}  // namespace

Outcome<Exit> download_job(Session& session, const Console& console, const DownloadOptions& options) {
    LAVANT_TRY(const Json job, session.get(session.job_path(options.name)));
    const std::string status = job.get("properties.status").string();
    if (!is_terminal(status)) {
        return stop(Exit::Refused, ErrorCode::Conflict,
                    fmt::format("cannot download job '{}': it is {}; wait with: lavant job stream {}",
                                options.name, status, options.name));
    }
    const std::string folder = options.folder.empty() ? "./" + options.name : options.folder;
    Counts total;
    const auto count = [&total](const Counts& more) {
        total.files += more.files;
        total.bytes += more.bytes;
    };
    if (options.output_name.empty()) {
        LAVANT_TRY(const DatastorePlace place, open_datastore(session, kArtifactDatastore));
        LAVANT_TRY(const Counts more,
                   fetch_tree(session, console, place, artifact_prefix(options.name), folder + "/artifacts"));
        count(more);
    }
    if (options.all || !options.output_name.empty()) {
        const auto outputs = outputs_of(job, options.output_name);
        if (outputs.empty() && !options.output_name.empty()) {
            return stop(Exit::Usage, ErrorCode::NotFound,
                        fmt::format("job '{}' has no output '{}'; see: lavant job show {} -o yaml",
                                    options.name, options.output_name, options.name));
        }
        for (const Located& output : outputs) {
            if (!stays_inside(output.output)) continue;
            LAVANT_TRY(const DatastorePlace place, open_datastore(session, output.datastore));
            LAVANT_TRY(const Counts more, fetch_tree(session, console, place, output.prefix,
                                                     folder + "/named-outputs/" + output.output));
            count(more);
        }
    }
    console.out << fmt::format("{} file{}, {} bytes in {}\n", total.files, total.files == 1 ? "" : "s",
                               total.bytes, folder);
    console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
