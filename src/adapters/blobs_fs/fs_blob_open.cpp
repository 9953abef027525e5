// Opening a store, its containers, what is staged in them, and the gathering of puts.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "adapters/blobs_fs/blob_names.h"
#include "adapters/blobs_fs/old_blocks.h"
#include "adapters/blobs_fs/pending_put.h"
#include "adapters/blobs_fs/publishing.h"
#include "base/text.h"

namespace lavant::adapters {

using blobs::open_beneath;
using fs_blob_store::is_folder_at;
using fs_blob_store::key_of;

namespace {

constexpr std::size_t kGrowingFiles = 256;
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";
constexpr const char* kStaging = ".lavant-staging";

// The folders above may be new too, up to one that is not ours to open.
Result<void> sync_new_folders(const std::string& root) {
    LAVANT_TRY_VOID(sync_directory(root));
    std::string above = parent_of(root);
    LAVANT_TRY_VOID(sync_directory(above));
    while (above != parent_of(above) && sync_directory(parent_of(above))) above = parent_of(above);
    return {};
}

// Blocks are not synced one by one: those from before the machine started may be short or empty.
Result<void> drop_unsure_blocks(const std::string& root) {
    const std::string note = root + "/.blocks-boot";
    const std::string boot = read_file(kBootId, 64).value_or("");
    if (const auto known = read_file(note, 64); known && !boot.empty() && *known == boot) return {};
    LAVANT_TRY_VOID(remove_tree(root + "/.blocks"));
    return write_file_atomically(note, boot);
}

}  // namespace

FsBlobStore::FsBlobStore(std::string root, Fd folder, Fd metadata, Fd blocks)
    : root_(std::move(root)),
      folder_(std::move(folder)),
      containers_(folder_.get()),
      sidecars_(std::move(metadata)),
      blocks_(std::move(blocks)),
      syncs_in_order_(blobs::syncs_in_order(folder_.get())),
      growing_(kGrowingFiles) {}

Result<std::unique_ptr<FsBlobStore>> FsBlobStore::open(const std::string& root) {
    const bool is_new = !exists(root);
    LAVANT_TRY_VOID(remove_tree(root + "/.tmp"));
    LAVANT_TRY_VOID(make_directories(root));
    LAVANT_TRY_VOID(drop_unsure_blocks(root));
    for (const char* folder : {"/.tmp", "/.meta", "/.blocks"})
        LAVANT_TRY_VOID(make_directories(root + folder));
    LAVANT_TRY(Fd folder, open_file(root, O_RDONLY | O_DIRECTORY));
    LAVANT_TRY(Fd metadata, open_file(root + "/.meta", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    LAVANT_TRY(Fd blocks, open_file(root + "/.blocks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    // A predecessor may have died between making a folder and syncing it. From here on every folder that is
    // there is sure, and only those made by this process need a sync.
    // A new store has no predecessor, and need not wait for what others left to be written to this disk.
    if (is_new) {
        LAVANT_TRY_VOID(sync_new_folders(root));
    } else if (::syncfs(folder.get()) != 0) {
        return fail(system_error("sync '" + root + "'", errno));
    }
    return std::unique_ptr<FsBlobStore>(
        new FsBlobStore(root, std::move(folder), std::move(metadata), std::move(blocks)));
}

Result<void> FsBlobStore::map_container(const std::string& container, const std::string& folder) {
    LAVANT_TRY_VOID(containers_.map(container, folder));
    const Result<blobs::Container> opened = containers_.open(container);
    if (!opened) return {};  // it may come back: a disk that is not there yet
    const Fd staging = open_beneath(opened->folder.get(), kStaging, O_RDONLY | O_DIRECTORY);
    return staging ? remove_tree(blobs::path_in(staging, ".tmp")) : Result<void>{};
}

void FsBlobStore::unmap_container(const std::string& container) { containers_.unmap(container); }

Result<void> FsBlobStore::remove_container(const std::string& container) {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    containers_.unmap(container);
    growing_.forget_below(container + "/");
    for (const char* side : {".meta/", ".blocks/", ""}) {
        const std::string doomed = temporary_path();
        LAVANT_TRY(const bool moved, move_out(folder_, side + container, doomed));
        if (moved) LAVANT_TRY_VOID(remove_tree(doomed));
    }
    return {};
}

Result<void> FsBlobStore::publish(const std::string& container, const std::string& from,
                                  const std::string& to) {
    LAVANT_TRY_VOID(blobs::check_blob_name(from));
    LAVANT_TRY(const blobs::Container top,
               open_container(container, to.empty() ? from : to));  // "" is the container itself
    if (!to.empty() && (to + "/").starts_with(from + "/"))
        return fail(ErrorCode::InvalidArgument, "cannot publish '" + from + "' to a place inside itself");
    // A blob that still grows: an append under way must not keep it open under its old name.
    LAVANT_TRY(const auto blob, find(container, from));
    std::unique_lock lock(lock_of(container, from), std::defer_lock);
    if (blob) lock.lock();
    for (const std::string& name : {from, to}) {
        growing_.forget(key_of(container, name));
        growing_.forget_below(name.empty() ? container + "/" : key_of(container, name) + "/");
    }
    return blobs::publish_beneath(top.folder.get(), from, to);
}

Result<std::size_t> FsBlobStore::drop_old_blocks(Instant before) {
    return blobs::drop_old_blocks(root_ + "/.blocks", temporary_folder(), before);
}

Result<std::vector<std::string>> FsBlobStore::list_staged(const std::string& container) {
    std::vector<std::string> folders;
    if (!has_container(container)) return folders;
    LAVANT_TRY(const blobs::Container top, open_container(container, kStaging));
    const Fd staging = open_beneath(top.folder.get(), kStaging, O_RDONLY | O_DIRECTORY);
    if (!staging) return folders;
    LAVANT_TRY(const std::vector<DirectoryEntry> entries, list_directory(blobs::path_in(staging, ".")));
    for (const DirectoryEntry& entry : entries)
        if (entry.name != ".tmp") folders.push_back(entry.name);
    return folders;
}

// Out of sight at once, by a rename; what a crash leaves of it is emptied with the temporary folder. False:
// there is no such folder.
Result<bool> FsBlobStore::move_out(const Fd& root, const std::string& folder, const std::string& doomed) {
    const blobs::SplitPath path = blobs::split_path(folder);
    const Fd parent = open_beneath(root.get(), path.folder, O_RDONLY | O_DIRECTORY);
    if (!parent && (errno == ENOENT || errno == ENOTDIR)) return false;
    if (!parent) return fail(system_error("open the folder of '" + folder + "'", errno));
    if (::renameat(parent.get(), path.base.c_str(), AT_FDCWD, doomed.c_str()) != 0) {
        if (errno == ENOENT) return false;
        return fail(system_error("remove the folder '" + folder + "'", errno));
    }
    LAVANT_TRY_VOID(blobs::sync_fd(parent.get(), "the folder of '" + folder + "'"));
    return true;
}

Result<void> FsBlobStore::remove_folder(const std::string& container, const std::string& folder) {
    LAVANT_TRY_VOID(blobs::check_blob_name(folder));
    if (!has_container(container)) return {};
    LAVANT_TRY(const blobs::Container top, open_container(container, folder));
    // What belongs to its blobs goes first: a blob of the same name that comes later must not inherit it.
    const std::string beside = blobs::side_path(container, folder, ".d");
    for (const char* side : {".meta/", ".blocks/"}) {
        const std::string doomed = temporary_path();
        LAVANT_TRY(const bool moved, move_out(folder_, side + beside, doomed));
        if (moved) LAVANT_TRY_VOID(remove_tree(doomed));
    }
    growing_.forget_below(key_of(container, folder) + "/");
    Fd temporary;
    if (top.is_mapped) {
        LAVANT_TRY(temporary, blobs::open_temporary(top));
    }
    const std::string doomed = top.is_mapped ? blobs::path_in(temporary, temporary_name()) : temporary_path();
    LAVANT_TRY(const bool moved, move_out(top.folder, folder, doomed));
    growing_.forget_below(key_of(container, folder) + "/");  // one that was opened meanwhile
    return moved ? remove_tree(doomed) : Result<void>{};
}

Result<void> FsBlobStore::drop_staged(const std::string& container, const std::string& folder) {
    return remove_folder(container, std::string(kStaging) + "/" + folder);
}

}  // namespace lavant::adapters
