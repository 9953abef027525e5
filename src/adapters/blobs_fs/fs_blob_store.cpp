#include "adapters/blobs_fs/fs_blob_store.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "adapters/blobs_fs/blob_names.h"
#include "adapters/blobs_fs/facts.h"
#include "adapters/blobs_fs/listing.h"
#include "adapters/blobs_fs/pending_put.h"

namespace lavant::adapters {

using blobs::open_beneath;
using blobs::sync_fd;
using fs_blob_store::in_the_way;
using fs_blob_store::is_folder_at;
using fs_blob_store::key_of;
using fs_blob_store::write_error;
using ports::BlobInfo;

namespace fs_blob_store {

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

Result<void> copy_bytes(int from, int to, std::uint64_t bytes) {
    constexpr std::size_t kChunk = 1U << 20;
    const auto next = [&] { return static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, bytes)); };
    while (bytes > 0) {
        const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, next(), 0);
        if (count == 0) return {};
        if (count > 0) bytes -= static_cast<std::uint64_t>(count);
        if (count > 0 || errno == EINTR) continue;
        if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
            return fail(system_error("copy a block", errno));
        break;
    }
    std::string buffer(bytes == 0 ? 0 : kChunk, '\0');
    while (bytes > 0) {
        const ssize_t count = ::read(from, buffer.data(), next());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(system_error("read a block", errno));
        if (count == 0) return {};
        LAVANT_TRY_VOID(write_all(to, std::string_view(buffer).substr(0, static_cast<std::size_t>(count))));
        bytes -= static_cast<std::uint64_t>(count);
    }
    return {};
}

}  // namespace fs_blob_store

namespace {

constexpr int kRacesMax = 8;
constexpr std::uint64_t kSparePiece = 64U << 10;  // for folders and the like

std::int64_t now_micros() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

Result<void> FsBlobStore::make_container(const std::string& container) {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    if (::mkdirat(folder_.get(), container.c_str(), 0700) != 0 && errno != EEXIST)
        return fail(system_error("make container '" + container + "'", errno));
    return sync_fd(folder_.get(), "container '" + container + "'");
}

bool FsBlobStore::has_container(const std::string& container) { return containers_.has(container); }

Result<blobs::Container> FsBlobStore::open_container(const std::string& container,
                                                     const std::string& name) const {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    LAVANT_TRY_VOID(blobs::check_blob_name(name));
    return containers_.open(container);
}

std::mutex& FsBlobStore::lock_of(const std::string& container, const std::string& name) {
    return locks_[std::hash<std::string>{}(key_of(container, name)) % locks_.size()];
}

Result<void> FsBlobStore::settle(const blobs::Container& container) {
    if (!unsettled_.exchange(false)) return {};
    if (::syncfs(folder_.get()) == 0 && (!container.is_mapped || ::syncfs(container.folder.get()) == 0))
        return {};
    unsettled_ = true;
    return fail(system_error("sync '" + root_ + "'", errno));
}

// --- putting ---

Result<FsBlobStore::Pending> FsBlobStore::prepare(const ports::BlobPut& put) {
    Pending pending;
    LAVANT_TRY(pending.container, open_container(put.container, put.name));
    pending.put = put;
    pending.source = put.source;
    if (put.source.empty()) {
        LAVANT_TRY_VOID(write_out(pending));
    } else {
        LAVANT_TRY(pending.file, open_file(put.source, O_RDONLY | O_NOFOLLOW));
    }
    struct stat above {};
    if (::fstat(pending.file.get(), &pending.status) != 0 ||
        ::fstat(pending.container.folder.get(), &above) != 0)
        return fail(system_error("look at blob '" + put.name + "'", errno));
    if (above.st_dev != pending.status.st_dev) LAVANT_TRY_VOID(copy_over(pending));
    if (pending.container.is_mapped) (void)::fchmod(pending.file.get(), pending.container.file_mode);
    pending.in_order =
        pending.container.is_mapped ? blobs::syncs_in_order(pending.container.folder.get()) : syncs_in_order_;
    pending.info = blobs::describe(put.name, pending.status);
    pending.kept = blobs::to_kept(put.facts, pending.info.etag, 0);
    pending.kept_with_file = blobs::keep_with_file(pending.file.get(), pending.kept);
    return pending;
}

Result<void> FsBlobStore::write_out(Pending& pending) {
    pending.source = temporary_path();
    LAVANT_TRY(pending.file, open_file(pending.source, O_RDWR | O_CREAT | O_EXCL));
    pending.own = OwnFile(pending.source);
    return write_all(pending.file.get(), pending.put.bytes)
        .map_error(in("cannot store blob '" + pending.put.name + "'"));
}

// Onto the container's own file system, where it can be put into its place by a rename.
Result<void> FsBlobStore::copy_over(Pending& pending) {
    LAVANT_TRY(Fd folder, blobs::open_temporary(pending.container));
    const std::string name = temporary_name();
    Fd copy = open_beneath(folder.get(), name, O_RDWR | O_CREAT | O_EXCL);
    if (!copy) return fail(write_error(pending.put.name, errno));
    pending.source = blobs::path_in(folder, name);
    pending.own = OwnFile(pending.source);
    pending.copy_folder = std::move(folder);
    if (::lseek(pending.file.get(), 0, SEEK_SET) < 0)
        return fail(system_error("read blob '" + pending.put.name + "'", errno));
    LAVANT_TRY_VOID(fs_blob_store::copy_bytes(pending.file.get(), copy.get())
                        .map_error(in("cannot store blob '" + pending.put.name + "'")));
    pending.file = std::move(copy);
    if (::fstat(pending.file.get(), &pending.status) != 0)
        return fail(system_error("look at blob '" + pending.put.name + "'", errno));
    return {};
}

// The file is synced. What is left to sync are the folders in `pending.unsynced`.
Result<void> FsBlobStore::place(Pending& pending) {
    const ports::BlobPut& put = pending.put;
    const std::lock_guard lock(lock_of(put.container, put.name));
    if (put.only_if_absent || put.check) {
        LAVANT_TRY(const auto found, find(put.container, put.name));
        if (found && put.only_if_absent)
            return fail(ErrorCode::AlreadyExists,
                        "blob '" + put.name + "' exists already in container '" + put.container + "'");
        if (put.check) LAVANT_TRY_VOID(put.check(found ? &*found : nullptr));
    }
    LAVANT_TRY_VOID(settle(pending.container));
    // Before the blob, so that a new one never appears without it.
    Result<void> placed;
    if (!pending.kept_with_file) placed = sidecars_.write(put.container, put.name, pending.kept);
    growing_.forget(key_of(put.container, put.name));
    if (placed) placed = rename_into_place(pending);
    if (placed && pending.kept_with_file) placed = sidecars_.write(put.container, put.name, {});
    if (!placed) {
        unsettled_ = true;
        return placed;
    }
    blobs::add_facts(pending.info, std::move(pending.kept));
    return {};
}

Result<void> FsBlobStore::rename_into_place(Pending& pending) {
    const std::string& name = pending.put.name;
    const blobs::SplitPath path = blobs::split_path(name);
    for (int i = 0; i < kRacesMax; ++i) {
        blobs::UnsyncedFolders unsynced;
        LAVANT_TRY(Fd folder, blobs::make_folders_beneath(pending.container.folder.get(), path.folder,
                                                          unsynced, pending.container.folder_mode)
                                  .map_error(in("cannot store blob '" + name + "'")));
        const unsigned int flags = pending.put.only_if_absent ? RENAME_NOREPLACE : 0;
        if (::renameat2(AT_FDCWD, pending.source.c_str(), folder.get(), path.base.c_str(), flags) == 0) {
            pending.own.keep();
            unsynced.add(std::move(folder));
            pending.unsynced = std::move(unsynced);
            return {};
        }
        const int error = errno;
        if (is_folder_at(folder.get(), path.base)) {
            // An empty one is left over from blobs that are gone. In a folder of the user's it is the user's.
            if (!pending.container.is_mapped &&
                ::unlinkat(folder.get(), path.base.c_str(), AT_REMOVEDIR) == 0)
                continue;
            return fail(in_the_way(name));
        }
        if (error == EEXIST) return fail(ErrorCode::AlreadyExists, "blob '" + name + "' exists already");
        // ENOENT: the folder was empty and was removed between the two calls.
        if (error != ENOENT || !exists(pending.source)) return fail(write_error(name, error));
    }
    return fail(ErrorCode::Unavailable,
                "cannot store blob '" + name + "': its folder keeps vanishing; try again");
}

Result<BlobInfo> FsBlobStore::put(const ports::BlobPut& put) {
    LAVANT_TRY(Pending pending, prepare(put));
    LAVANT_TRY_VOID(sync_fd(pending.file.get(), "blob '" + put.name + "'"));
    LAVANT_TRY_VOID(place(pending));
    if (auto synced = pending.sync_folders(); !synced) {
        unsettled_ = true;
        return fail(synced.error());
    }
    return std::move(pending.info);
}

std::string FsBlobStore::temporary_name() { return "own-" + std::to_string(++last_temporary_); }
std::string FsBlobStore::temporary_path() { return temporary_folder() + "/" + temporary_name(); }
std::string FsBlobStore::temporary_folder() { return root_ + "/.tmp"; }

Result<BlobInfo> FsBlobStore::put_bytes(const std::string& container, const std::string& name,
                                        std::string_view bytes) {
    const auto put_once = [&] { return put_bytes_once(container, name, bytes); };
    return spare_ == nullptr ? put_once() : spare_->with_room(bytes.size() + kSparePiece, put_once);
}

Result<BlobInfo> FsBlobStore::put_bytes_once(const std::string& container, const std::string& name,
                                             std::string_view bytes) {
    ports::BlobPut put{container, name, "", {}};
    put.bytes = bytes;
    return this->put(put);
}

// --- facts ---

Result<BlobInfo> FsBlobStore::change_facts(const std::string& container, const std::string& name,
                                           const ports::BlobCheck& check,
                                           const std::function<void(ports::BlobFacts&)>& change) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY(auto found, open(container, name));
    if (!found) return fail(ErrorCode::NotFound, "no blob '" + name + "' in container '" + container + "'");
    if (check) LAVANT_TRY_VOID(check(&found->info));
    struct stat status {};
    if (::fstat(found->file->get(), &status) != 0)
        return fail(system_error("look at blob '" + name + "'", errno));
    BlobInfo plain = blobs::describe(name, status);
    ports::BlobFacts facts{found->info.metadata, found->info.properties};
    change(facts);
    const int file = found->file->get();
    LAVANT_TRY(const blobs::Metadata before, blobs::find_kept(file, sidecars_, container, name));
    const std::int64_t changed = std::max(now_micros(), blobs::last_change(before) + 1);
    blobs::Metadata kept = blobs::to_kept(facts, plain.etag, changed);
    // The one that counts is made sure of before the other goes.
    const bool with_file = blobs::keep_with_file(file, kept);
    if (!with_file) {
        LAVANT_TRY_VOID(sidecars_.write(container, name, kept));
        blobs::drop_from_file(file);
    }
    LAVANT_TRY_VOID(sync_fd(file, "the metadata of blob '" + name + "'"));
    if (with_file) LAVANT_TRY_VOID(sidecars_.write(container, name, {}));
    blobs::add_facts(plain, std::move(kept));
    return plain;
}

Result<BlobInfo> FsBlobStore::set_metadata(const std::string& container, const std::string& name,
                                           const std::map<std::string, std::string>& metadata,
                                           const ports::BlobCheck& check) {
    return change_facts(container, name, check,
                        [&metadata](ports::BlobFacts& facts) { facts.metadata = metadata; });
}

Result<BlobInfo> FsBlobStore::set_properties(const std::string& container, const std::string& name,
                                             const std::map<std::string, std::string>& properties,
                                             const ports::BlobCheck& check) {
    return change_facts(container, name, check,
                        [&properties](ports::BlobFacts& facts) { facts.properties = properties; });
}

// --- looking ---

Result<std::optional<ports::OpenBlob>> FsBlobStore::open(const std::string& container,
                                                         const std::string& name) {
    LAVANT_TRY_VOID(blobs::check_container_name(container));
    LAVANT_TRY_VOID(blobs::check_blob_name(name));
    // Not to be held up by a pipe that somebody put there.
    Fd file = containers_.open_blob(container, name, O_RDONLY | O_NONBLOCK);
    if (!file && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO))
        return std::nullopt;
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
        return fail(system_error("look at blob '" + name + "'", errno));
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    ports::OpenBlob blob{blobs::describe(name, status), nullptr};
    LAVANT_TRY(auto kept, blobs::find_kept(file.get(), sidecars_, container, name));
    blobs::add_facts(blob.info, std::move(kept));
    blob.file = std::make_shared<const Fd>(std::move(file));
    return blob;
}

Result<std::optional<BlobInfo>> FsBlobStore::find(const std::string& container, const std::string& name) {
    LAVANT_TRY(auto found, open(container, name));
    if (!found) return std::nullopt;
    return std::move(found->info);
}

std::string FsBlobStore::path_of(const std::string& container, const std::string& name) {
    if (!blobs::check_container_name(container) || !blobs::check_blob_name(name)) return "";
    const std::string mapped = containers_.mapped_folder(container);
    return mapped.empty() ? root_ + "/" + key_of(container, name) : mapped + "/" + name;
}

Result<ports::BlobPage> FsBlobStore::list(const ports::BlobListing& listing) {
    LAVANT_TRY(const blobs::Container top, open_container(listing.container, "any"));
    return blobs::list_blobs(top.folder.get(), listing, sidecars_);
}

Result<void> FsBlobStore::remove(const std::string& container, const std::string& name,
                                 const ports::BlobCheck& check) {
    const std::lock_guard lock(lock_of(container, name));
    LAVANT_TRY(const blobs::Container top, open_container(container, name));
    LAVANT_TRY(const auto found, find(container, name));
    if (!found) return fail(ErrorCode::NotFound, "no blob '" + name + "' in container '" + container + "'");
    if (check) LAVANT_TRY_VOID(check(&*found));
    growing_.forget(key_of(container, name));
    blobs::SplitPath path = blobs::split_path(name);
    const Fd folder = open_beneath(top.folder.get(), path.folder, O_RDONLY | O_DIRECTORY);
    if (!folder || ::unlinkat(folder.get(), path.base.c_str(), 0) != 0)
        return fail(system_error("remove blob '" + name + "'", errno));
    LAVANT_TRY_VOID(sync_fd(folder.get(), "the folder of blob '" + name + "'"));
    LAVANT_TRY_VOID(sidecars_.write(container, name, {}));
    sidecars_.forget_blocks(container, name);
    // A folder is there only while something is in it, but for those that the user made.
    while (!path.folder.empty() && !top.is_mapped) {
        path = blobs::split_path(path.folder);
        const Fd parent = open_beneath(top.folder.get(), path.folder, O_RDONLY | O_DIRECTORY);
        if (!parent || ::unlinkat(parent.get(), path.base.c_str(), AT_REMOVEDIR) != 0) break;
    }
    return {};
}

}  // namespace lavant::adapters
