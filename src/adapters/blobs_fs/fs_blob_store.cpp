#include "adapters/blobs_fs/fs_blob_store.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "adapters/blobs_fs/blob_names.h"
#include "adapters/blobs_fs/listing.h"
#include "adapters/blobs_fs/old_blocks.h"
#include "adapters/blobs_fs/publishing.h"
#include "base/text.h"

namespace lavant::adapters {
namespace {

using blobs::open_beneath;
using blobs::sync_fd;
using ports::BlobInfo;

constexpr std::size_t kGrowingFiles = 256;
constexpr std::size_t kBlocksPerBlob = 50'000;
constexpr int kRacesMax = 8;
using blobs::kBlocksSuffix;
constexpr std::uint64_t kSparePiece = 64U << 10;  // for folders and the like

Error in_the_way(const std::string& name) {
    return {ErrorCode::Conflict,
            "cannot store blob '" + name +
                "': a blob and a folder of the same name exclude each other here; " +
                "remove what is there or choose another name",
            {}};
}

Error write_error(const std::string& name, int errno_value) {
    Error error = system_error("write blob '" + name + "'", errno_value);
    if (error.code == ErrorCode::ResourceExhausted)
        error.message += "; free some space on the data folder's disk";
    return error;
}

bool is_folder_at(int folder, const std::string& base) {
    struct stat status {};
    return ::fstatat(folder, base.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

// Copies inside the kernel where the file systems can, by hand where they cannot.
Result<void> copy_all(int from, int to) {
    constexpr std::size_t kChunk = 1U << 20;
    while (true) {
        const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, kChunk, 0);
        if (count == 0) return {};
        if (count > 0 || errno == EINTR) continue;
        if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
            return fail(system_error("copy a block", errno));
        break;
    }
    std::string buffer(kChunk, '\0');
    while (true) {
        const ssize_t count = ::read(from, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(system_error("read a block", errno));
        if (count == 0) return {};
        LAVANT_TRY_VOID(write_all(to, std::string_view(buffer).substr(0, static_cast<std::size_t>(count))));
    }
}

Result<void> write_growing(blobs::GrowingFile& file, std::uint64_t offset, std::string_view bytes,
                           const std::string& name) {
    while (!bytes.empty()) {
        const ssize_t count =
            ::pwrite(file.file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(write_error(name, errno));
        offset += static_cast<std::uint64_t>(count);
        bytes.remove_prefix(static_cast<std::size_t>(count));
        file.bytes = std::max(file.bytes, offset);
    }
    if (::fdatasync(file.file.get()) != 0) return fail(write_error(name, errno));
    return {};
}

Error gap_before(const std::string& name, std::uint64_t offset, std::uint64_t end) {
    return {ErrorCode::Conflict,
            "cannot append to blob '" + name + "' at " + std::to_string(offset) + ": it ends at " +
                std::to_string(end) + "; send the bytes between first",
            {}};
}

// The folders above may be new too, up to one that is not ours to open.
Result<void> sync_new_folders(const std::string& root) {
    LAVANT_TRY_VOID(sync_directory(root));
    std::string above = parent_of(root);
    LAVANT_TRY_VOID(sync_directory(above));
    while (above != parent_of(above) && sync_directory(parent_of(above))) above = parent_of(above);
    return {};
}

std::string key_of(const std::string& container, const std::string& name) { return container + "/" + name; }

}  // namespace

FsBlobStore::FsBlobStore(std::string root, Fd folder, Fd metadata, Fd blocks)
    : root_(std::move(root)),
      folder_(std::move(folder)),
      sidecars_(std::move(metadata)),
      blocks_(std::move(blocks)),
      syncs_in_order_(blobs::syncs_in_order(folder_.get())),
      growing_(kGrowingFiles) {}

Result<std::unique_ptr<FsBlobStore>> FsBlobStore::open(const std::string& root) {
    const bool is_new = !exists(root);
    LAVANT_TRY_VOID(remove_tree(root + "/.tmp"));
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

Result<void> FsBlobStore::make_container(const std::string& container) {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    if (::mkdirat(folder_.get(), container.c_str(), 0700) != 0 && errno != EEXIST)
        return fail(system_error("make container '" + container + "'", errno));
    return sync_fd(folder_.get(), "container '" + container + "'");
}

bool FsBlobStore::has_container(const std::string& container) {
    return blobs::check_container_name(container) && is_folder_at(folder_.get(), container);
}

Result<Fd> FsBlobStore::open_container(const std::string& container, const std::string& name) const {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    LAVANT_TRY_VOID(blobs::check_blob_name(name));
    Fd folder = open_beneath(folder_.get(), container, O_RDONLY | O_DIRECTORY);
    if (folder) return folder;
    if (errno == ENOENT)
        return fail(ErrorCode::NotFound,
                    "no container '" + container + "'; make it before storing blobs in it");
    return fail(system_error("open container '" + container + "'", errno));
}

std::mutex& FsBlobStore::lock_of(const std::string& container, const std::string& name) {
    return locks_[std::hash<std::string>{}(key_of(container, name)) % locks_.size()];
}

Result<void> FsBlobStore::settle() {
    if (!unsettled_.exchange(false)) return {};
    if (::syncfs(folder_.get()) == 0) return {};
    unsettled_ = true;
    return fail(system_error("sync '" + root_ + "'", errno));
}

Result<BlobInfo> FsBlobStore::put(const std::string& container, const std::string& name,
                                  const std::string& source,
                                  const std::map<std::string, std::string>& metadata, bool only_if_absent) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY(const auto found, find(container, name));
    if (found && only_if_absent)
        return fail(ErrorCode::AlreadyExists,
                    "blob '" + name + "' exists already in container '" + container + "'");
    LAVANT_TRY_VOID(open_container(container, name));
    LAVANT_TRY_VOID(settle());
    // Before the blob, so that a new one never appears without it.
    LAVANT_TRY_VOID(sidecars_.write(container, name, metadata));
    growing_.forget(key_of(container, name));
    auto stored = put_file(container, name, source, only_if_absent);
    if (!stored) {
        unsettled_ = true;
        return stored;
    }
    blobs::add_metadata(*stored, metadata);
    return stored;
}

Result<BlobInfo> FsBlobStore::put_file(const std::string& container, const std::string& name,
                                       const std::string& source, bool only_if_absent) {
    LAVANT_TRY(const Fd top, open_container(container, name));
    LAVANT_TRY(const Fd file, open_file(source, O_RDONLY | O_NOFOLLOW));
    LAVANT_TRY_VOID(sync_fd(file.get(), "blob '" + name + "'"));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return fail(system_error("look at blob '" + name + "'", errno));
    const blobs::SplitPath path = blobs::split_path(name);
    for (int i = 0; i < kRacesMax; ++i) {
        blobs::UnsyncedFolders unsynced;
        LAVANT_TRY(Fd folder, blobs::make_folders_beneath(top.get(), path.folder, unsynced)
                                  .map_error(in("cannot store blob '" + name + "'")));
        const unsigned int flags = only_if_absent ? RENAME_NOREPLACE : 0;
        if (::renameat2(AT_FDCWD, source.c_str(), folder.get(), path.base.c_str(), flags) == 0) {
            unsynced.add(std::move(folder));
            LAVANT_TRY_VOID(syncs_in_order_ ? unsynced.sync_last() : unsynced.sync());
            return blobs::describe(name, status);
        }
        const int error = errno;
        if (is_folder_at(folder.get(), path.base)) {
            // An empty one is left over from blobs that are gone.
            if (::unlinkat(folder.get(), path.base.c_str(), AT_REMOVEDIR) == 0) continue;
            return fail(in_the_way(name));
        }
        if (error == EEXIST) return fail(ErrorCode::AlreadyExists, "blob '" + name + "' exists already");
        // ENOENT: the folder was empty and was removed between the two calls.
        if (error != ENOENT || !exists(source)) return fail(write_error(name, error));
    }
    return fail(ErrorCode::Unavailable,
                "cannot store blob '" + name + "': its folder keeps vanishing; try again");
}

std::string FsBlobStore::temporary_path() {
    return temporary_folder() + "/own-" + std::to_string(++last_temporary_);
}

Result<BlobInfo> FsBlobStore::put_bytes(const std::string& container, const std::string& name,
                                        std::string_view bytes) {
    const auto put_once = [&] { return put_bytes_once(container, name, bytes); };
    return spare_ == nullptr ? put_once() : spare_->with_room(bytes.size() + kSparePiece, put_once);
}

Result<BlobInfo> FsBlobStore::put_bytes_once(const std::string& container, const std::string& name,
                                             std::string_view bytes) {
    LAVANT_TRY_VOID(open_container(container, name));
    const std::string source = temporary_path();
    Result<BlobInfo> stored = [&]() -> Result<BlobInfo> {
        LAVANT_TRY(const Fd file, open_file(source, O_WRONLY | O_CREAT | O_EXCL));
        LAVANT_TRY_VOID(write_all(file.get(), bytes));
        return put(container, name, source, {}, false);
    }();
    if (!stored) ::unlink(source.c_str());
    return stored;
}

Result<BlobInfo> FsBlobStore::set_metadata(const std::string& container, const std::string& name,
                                           const std::map<std::string, std::string>& metadata) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY(auto found, find(container, name));
    if (!found) return fail(ErrorCode::NotFound, "no blob '" + name + "' in container '" + container + "'");
    blobs::Metadata whole = metadata;
    if (!found->content_type.empty()) whole.emplace(ports::kContentTypeKey, found->content_type);
    LAVANT_TRY_VOID(sidecars_.write(container, name, whole));
    blobs::add_metadata(*found, std::move(whole));
    return std::move(*found);
}

Result<std::optional<BlobInfo>> FsBlobStore::find(const std::string& container, const std::string& name) {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    LAVANT_TRY_VOID(blobs::check_blob_name(name));
    const Fd file = open_beneath(folder_.get(), key_of(container, name), O_PATH);
    if (!file && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return std::nullopt;
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
        return fail(system_error("look at blob '" + name + "'", errno));
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    BlobInfo blob = blobs::describe(name, status);
    LAVANT_TRY(auto metadata, sidecars_.read(container, name));
    blobs::add_metadata(blob, std::move(metadata));
    return blob;
}

std::string FsBlobStore::path_of(const std::string& container, const std::string& name) {
    if (!blobs::check_container_name(container) || !blobs::check_blob_name(name)) return "";
    return root_ + "/" + key_of(container, name);
}

Result<ports::BlobPage> FsBlobStore::list(const ports::BlobListing& listing) {
    LAVANT_TRY(const Fd top, open_container(listing.container, "any"));
    return blobs::list_blobs(top.get(), listing, sidecars_);
}

Result<void> FsBlobStore::remove(const std::string& container, const std::string& name) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY(const Fd top, open_container(container, name));
    LAVANT_TRY(const auto found, find(container, name));
    if (!found) return fail(ErrorCode::NotFound, "no blob '" + name + "' in container '" + container + "'");
    growing_.forget(key_of(container, name));
    blobs::SplitPath path = blobs::split_path(name);
    const Fd folder = open_beneath(top.get(), path.folder, O_RDONLY | O_DIRECTORY);
    if (!folder || ::unlinkat(folder.get(), path.base.c_str(), 0) != 0)
        return fail(system_error("remove blob '" + name + "'", errno));
    LAVANT_TRY_VOID(sync_fd(folder.get(), "the folder of blob '" + name + "'"));
    LAVANT_TRY_VOID(sidecars_.write(container, name, {}));
    while (!path.folder.empty()) {  // a folder is there only while something is in it
        path = blobs::split_path(path.folder);
        const Fd parent = open_beneath(top.get(), path.folder, O_RDONLY | O_DIRECTORY);
        if (!parent || ::unlinkat(parent.get(), path.base.c_str(), AT_REMOVEDIR) != 0) break;
    }
    return {};
}

Result<void> FsBlobStore::put_block(const std::string& container, const std::string& name,
                                    const std::string& block_id, const std::string& source) {
    LAVANT_TRY_VOID(blobs::check_block_id(block_id));
    LAVANT_TRY_VOID(open_container(container, name));
    LAVANT_TRY(const Fd file, open_file(source, O_RDONLY | O_NOFOLLOW));
    LAVANT_TRY_VOID(sync_fd(file.get(), "a block of blob '" + name + "'"));
    blobs::UnsyncedFolders unsynced;
    LAVANT_TRY(Fd folder, blobs::make_folders_beneath(
                              blocks_.get(), blobs::side_path(container, name, kBlocksSuffix), unsynced));
    if (::renameat(AT_FDCWD, source.c_str(), folder.get(), to_hex(block_id).c_str()) != 0)
        return fail(system_error("keep a block of blob '" + name + "'", errno));
    unsynced.add(std::move(folder));
    return unsynced.sync();
}

Result<void> FsBlobStore::gather_blocks(const std::string& folder, const std::vector<std::string>& block_ids,
                                        const std::string& target) const {
    LAVANT_TRY(const Fd whole, open_file(target, O_WRONLY | O_CREAT | O_EXCL));
    for (const std::string& id : block_ids) {
        LAVANT_TRY_VOID(blobs::check_block_id(id));
        const Fd block = open_beneath(blocks_.get(), folder + "/" + to_hex(id), O_RDONLY);
        if (!block && (errno == ENOENT || errno == ENOTDIR))
            return fail(ErrorCode::InvalidArgument, "cannot commit the block list: block " + json_quote(id) +
                                                        " was not uploaded; upload it first");
        if (!block) return fail(system_error("open a block", errno));
        LAVANT_TRY_VOID(copy_all(block.get(), whole.get()));
    }
    return {};
}

Result<BlobInfo> FsBlobStore::put_block_list(const std::string& container, const std::string& name,
                                             const std::vector<std::string>& block_ids, bool only_if_absent) {
    if (block_ids.size() > kBlocksPerBlob)
        return fail(ErrorCode::InvalidArgument,
                    "cannot commit the block list: it has more than 50000 blocks");
    LAVANT_TRY_VOID(open_container(container, name));
    const std::string folder = blobs::side_path(container, name, kBlocksSuffix);
    const std::string source = temporary_path();
    Result<BlobInfo> stored = [&]() -> Result<BlobInfo> {
        LAVANT_TRY_VOID(gather_blocks(folder, block_ids, source));
        return put(container, name, source, {}, only_if_absent);
    }();
    if (stored) {
        LAVANT_TRY_VOID(remove_tree(root_ + "/.blocks/" + folder));
    } else {
        ::unlink(source.c_str());
    }
    return stored;
}

Result<void> FsBlobStore::append(const std::string& container, const std::string& name, std::uint64_t offset,
                                 std::string_view bytes) {
    const auto append = [&] { return append_once(container, name, offset, bytes); };
    return spare_ == nullptr ? append() : spare_->with_room(bytes.size() + kSparePiece, append);
}

Result<void> FsBlobStore::append_once(const std::string& container, const std::string& name,
                                      std::uint64_t offset, std::string_view bytes) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY_VOID(settle());
    auto appended = append_locked(container, name, offset, bytes);
    if (appended || appended.error().code == ErrorCode::Conflict) return appended;
    growing_.forget(key_of(container, name));
    unsettled_ = true;
    return appended;
}

Result<void> FsBlobStore::append_locked(const std::string& container, const std::string& name,
                                        std::uint64_t offset, std::string_view bytes) {
    const std::string key = key_of(container, name);
    blobs::UnsyncedFolders unsynced;
    std::shared_ptr<blobs::GrowingFile> file = growing_.find(key);
    if (file == nullptr) {
        LAVANT_TRY(file, open_growing(container, name, offset == 0 ? &unsynced : nullptr));
        if (file == nullptr) return fail(gap_before(name, offset, 0));
        growing_.keep(key, file);
    }
    if (offset > file->bytes) return fail(gap_before(name, offset, file->bytes));
    LAVANT_TRY_VOID(write_growing(*file, offset, bytes, name));
    // The sync of the new file has made sure of its folders too, where syncs keep the order.
    return syncs_in_order_ ? Result<void>{} : unsynced.sync();
}

Result<std::shared_ptr<blobs::GrowingFile>> FsBlobStore::open_growing(
    const std::string& container, const std::string& name, blobs::UnsyncedFolders* unsynced) const {
    LAVANT_TRY(const Fd top, open_container(container, name));
    auto growing = std::make_shared<blobs::GrowingFile>();
    growing->file = open_beneath(top.get(), name, O_WRONLY);
    int error = errno;
    if (!growing->file && error == ENOENT && unsynced == nullptr) return nullptr;
    if (!growing->file && error == ENOENT) {
        const blobs::SplitPath path = blobs::split_path(name);
        LAVANT_TRY(Fd folder, blobs::make_folders_beneath(top.get(), path.folder, *unsynced)
                                  .map_error(in("cannot store blob '" + name + "'")));
        growing->file = open_beneath(folder.get(), path.base, O_WRONLY | O_CREAT);
        error = errno;
        unsynced->add(std::move(folder));
    }
    if (!growing->file && (error == EISDIR || error == ENOTDIR || error == ELOOP))
        return fail(in_the_way(name));
    if (!growing->file) return fail(write_error(name, error));
    struct stat status {};
    if (::fstat(growing->file.get(), &status) != 0) return fail(write_error(name, errno));
    if (!S_ISREG(status.st_mode)) return fail(in_the_way(name));
    growing->bytes = static_cast<std::uint64_t>(status.st_size);
    return growing;
}

std::string FsBlobStore::temporary_folder() { return root_ + "/.tmp"; }

Result<void> FsBlobStore::publish(const std::string& container, const std::string& from,
                                  const std::string& to) {
    LAVANT_TRY_VOID(blobs::check_blob_name(from));
    LAVANT_TRY(const Fd top,
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
    return blobs::publish_beneath(top.get(), from, to);
}

Result<std::size_t> FsBlobStore::drop_old_blocks(Instant before) {
    return blobs::drop_old_blocks(root_ + "/.blocks", temporary_folder(), before);
}

Result<std::vector<std::string>> FsBlobStore::list_staged(const std::string& container) {
    std::vector<std::string> folders;
    if (!has_container(container)) return folders;
    LAVANT_TRY(const Fd top, open_container(container, std::string(ports::kStagingFolder)));
    const std::string staging = root_ + "/" + key_of(container, std::string(ports::kStagingFolder));
    if (!is_folder_at(top.get(), std::string(ports::kStagingFolder))) return folders;
    LAVANT_TRY(const std::vector<DirectoryEntry> entries, list_directory(staging));
    for (const DirectoryEntry& entry : entries) folders.push_back(entry.name);
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
    LAVANT_TRY(const Fd top, open_container(container, folder));
    // What belongs to its blobs goes first: a blob of the same name that comes later must not inherit it.
    const std::string beside = blobs::side_path(container, folder, ".d");
    for (const char* side : {".meta/", ".blocks/"}) {
        const std::string doomed = temporary_path();
        LAVANT_TRY(const bool moved, move_out(folder_, side + beside, doomed));
        if (moved) LAVANT_TRY_VOID(remove_tree(doomed));
    }
    growing_.forget_below(key_of(container, folder) + "/");
    const std::string doomed = temporary_path();
    LAVANT_TRY(const bool moved, move_out(top, folder, doomed));
    growing_.forget_below(key_of(container, folder) + "/");  // one that was opened meanwhile
    return moved ? remove_tree(doomed) : Result<void>{};
}

Result<void> FsBlobStore::remove_container(const std::string& container) {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    growing_.forget_below(container + "/");
    for (const char* side : {".meta/", ".blocks/", ""}) {
        const std::string doomed = temporary_path();
        LAVANT_TRY(const bool moved, move_out(folder_, side + container, doomed));
        if (moved) LAVANT_TRY_VOID(remove_tree(doomed));
    }
    return {};
}

Result<void> FsBlobStore::drop_staged(const std::string& container, const std::string& folder) {
    return remove_folder(container, std::string(ports::kStagingFolder) + "/" + folder);
}

}  // namespace lavant::adapters
