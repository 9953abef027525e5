#include "cli/datastore_files.h"

#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/blob_fetch.h"
#include "cli/datastore.h"
#include "cli/disk_use.h"
#include "cli/parallel.h"
#include "cli/progress.h"
#include "cli/upload.h"

namespace lavant::cli {
namespace {

using wire::Json;

Outcome<BlobTree> find_something(Session& session, const std::string& datastore, const std::string& path,
                                 bool recursive) {
    LAVANT_TRY(const DatastorePlace place, open_datastore(session, datastore));
    LAVANT_TRY(BlobTree tree, find_tree(session, place, path, recursive));
    if (!tree.path.empty() && tree.found.blobs.empty() && tree.found.folders.empty())
        return stop(Exit::Refused, ErrorCode::NotFound,
                    fmt::format("there is nothing at '{}' in this datastore", printable(path)));
    return tree;
}

void say(const Console& console, std::string_view verb, const Fetched& counts, const std::string& where) {
    console.out << fmt::format("{} {} file{} ({}) to {}{}\n", verb, counts.files,
                               counts.files == 1 ? "" : "s", describe_bytes(counts.bytes), where,
                               said_of_those_there(counts.there));
    console.out.flush();
}

}  // namespace

Outcome<Exit> list_store_files(Session& session, const Console& console, const StoreListing& listing,
                               const Output& output) {
    LAVANT_TRY(const BlobTree tree,
               find_something(session, listing.datastore, listing.path, listing.recursive));
    const BlobListing& found = tree.found;
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
    LAVANT_TRY(const Snapshot snapshot, take_snapshot(transfer.local, Ignored::Nothing));
    if (snapshot.files.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "the folder '" + transfer.local + "' has no file to send");
    std::string target = without_slashes(transfer.path);
    if (!target.empty() && !stays_inside_folder(target))
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot upload to '{}': a path in a datastore begins at its top and has no "
                                "'.', '..' or empty part",
                                printable(transfer.path)));
    LAVANT_TRY(const DatastorePlace place, open_datastore(session, transfer.datastore));
    if (target.empty() || (snapshot.is_file && transfer.path.ends_with('/')))
        target += (target.empty() ? "" : "/") + snapshot.name;
    const auto blob_of = [&](const SnapshotFile& file) {
        return snapshot.is_file ? target : target + "/" + file.path;
    };
    LAVANT_TRY(const BlobListing there, list_blobs(session, place, target, true));
    std::map<std::string, const ListedBlob*> known;
    for (const ListedBlob& blob : there.blobs) known[blob.name] = &blob;
    Progress progress(&context.console, "uploading " + snapshot.name, snapshot.bytes);
    std::mutex mutex;  // guards counts
    Fetched counts;
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
                        counts.files += same ? 0 : 1;
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
    LAVANT_TRY(const BlobTree tree, find_something(session, transfer.datastore, transfer.path, true));
    LAVANT_TRY(const Fetched fetched, fetch_tree(session, context, tree, transfer.local, transfer.parallel));
    say(context.console, "downloaded", fetched, transfer.local);
    return Exit::Completed;
}

}  // namespace lavant::cli
