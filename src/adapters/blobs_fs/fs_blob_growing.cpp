// Logs: blobs that grow by appends.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "adapters/blobs_fs/fs_blob_store.h"

namespace lavant::adapters {

using blobs::open_beneath;
using fs_blob_store::in_the_way;
using fs_blob_store::key_of;
using fs_blob_store::write_error;

namespace {

constexpr std::uint64_t kSparePiece = 64U << 10;  // for folders and the like

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

}  // namespace

Result<void> FsBlobStore::append(const std::string& container, const std::string& name, std::uint64_t offset,
                                 std::string_view bytes) {
    const auto append = [&] { return append_once(container, name, offset, bytes); };
    return spare_ == nullptr ? append() : spare_->with_room(bytes.size() + kSparePiece, append);
}

Result<void> FsBlobStore::append_once(const std::string& container, const std::string& name,
                                      std::uint64_t offset, std::string_view bytes) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY(const blobs::Container top, open_container(container, name));
    LAVANT_TRY_VOID(settle(top));
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
    LAVANT_TRY(const blobs::Container top, open_container(container, name));
    auto growing = std::make_shared<blobs::GrowingFile>();
    growing->file = open_beneath(top.folder.get(), name, O_WRONLY);
    int error = errno;
    if (!growing->file && error == ENOENT && unsynced == nullptr) return nullptr;
    if (!growing->file && error == ENOENT) {
        const blobs::SplitPath path = blobs::split_path(name);
        LAVANT_TRY(Fd folder, blobs::make_folders_beneath(top.folder.get(), path.folder, *unsynced)
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

}  // namespace lavant::adapters
