// Blobs that come in blocks.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "adapters/blobs_fs/blob_names.h"
#include "adapters/blobs_fs/facts.h"
#include "adapters/blobs_fs/pending_put.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::adapters {

using blobs::kBlocksSuffix;
using blobs::open_beneath;
using ports::BlobInfo;
using ports::BlockRef;

namespace {

constexpr std::size_t kBlocksPerBlob = 50'000;

std::optional<std::string> from_hex(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const std::string decoded = percent_decode("%" + std::string(text.substr(i, 2)));
        if (decoded.size() != 1) return std::nullopt;
        bytes += decoded;
    }
    if (text.size() % 2 != 0) return std::nullopt;
    return bytes;
}

Error no_block(const std::string& id) {
    return {ErrorCode::InvalidArgument,
            "cannot commit the block list: block " + json_quote(id) + " was not uploaded; upload it first",
            {}};
}

// Where the bytes of a block are: in a file of its own, or in the blob that is there.
struct Piece {
    bool is_file = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};
using Pieces = std::map<std::string, Piece>;  // by the block's id

std::optional<Piece> find_upload(const Fd& folder, const std::string& id) {
    struct stat status {};
    if (!folder || ::fstatat(folder.get(), to_hex(id).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return std::nullopt;
    return Piece{true, 0, static_cast<std::uint64_t>(status.st_size)};
}

// What a list comes to, found before a byte is copied: it may name one block many times.
Result<std::vector<Piece>> find_pieces(const Fd& folder, const Pieces& committed,
                                       const std::vector<BlockRef>& blocks) {
    std::map<std::string, std::optional<Piece>> uploads;
    std::vector<Piece> pieces;
    for (const BlockRef& ref : blocks) {
        LAVANT_TRY_VOID(blobs::check_block_id(ref.id));
        const auto [upload, is_first] = uploads.try_emplace(ref.id);
        if (is_first) upload->second = find_upload(folder, ref.id);
        const auto old = committed.find(ref.id);
        if (ref.from != BlockRef::From::Committed && upload->second) {
            pieces.push_back(*upload->second);
        } else if (ref.from != BlockRef::From::Uncommitted && old != committed.end()) {
            pieces.push_back(old->second);
        } else {
            return fail(no_block(ref.id));
        }
    }
    return pieces;
}

// On the disk of `file`, for the bytes of all pieces.
Result<void> check_room(int file, const std::vector<Piece>& pieces, std::uint64_t free_bytes_min) {
    std::uint64_t bytes = 0;
    for (const Piece& piece : pieces) {
        bytes += piece.bytes;  // A file's size added to a blob's: it does not wrap round.
        if (bytes > limits::kBlobBytes)
            return fail(ErrorCode::InvalidArgument,
                        "cannot commit the block list: the blob would be larger than " +
                            std::to_string(limits::kBlobBytes >> 40U) + " TiB");
    }
    struct statvfs disk {};
    if (::fstatvfs(file, &disk) != 0) return {};
    const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (free >= free_bytes_min && free - free_bytes_min >= bytes) return {};
    return fail(ErrorCode::ResourceExhausted,
                "cannot commit the block list: the blob would have " + std::to_string(bytes >> 20U) +
                    " MiB; " + std::to_string(free >> 20U) + " MiB of the disk are free and " +
                    std::to_string(free_bytes_min >> 20U) + " MiB are kept in reserve");
}

}  // namespace

Result<void> FsBlobStore::put_block(const std::string& container, const std::string& name,
                                    const std::string& block_id, const std::string& source) {
    LAVANT_TRY_VOID(blobs::check_block_id(block_id));
    LAVANT_TRY_VOID(open_container(container, name));
    blobs::UnsyncedFolders unsynced;  // blocks are sure when they are committed, not before
    LAVANT_TRY(Fd folder, blobs::make_folders_beneath(
                              blocks_.get(), blobs::side_path(container, name, kBlocksSuffix), unsynced));
    if (::renameat(AT_FDCWD, source.c_str(), folder.get(), to_hex(block_id).c_str()) != 0)
        return fail(system_error("keep a block of blob '" + name + "'", errno));
    return {};
}

Result<ports::BlockList> FsBlobStore::list_blocks(const std::string& container, const std::string& name) {
    LAVANT_TRY_VOID(open_container(container, name));
    ports::BlockList blocks;
    if (const Fd file = containers_.open_blob(container, name, O_PATH)) {
        struct stat status {};
        if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode))
            blocks.committed = sidecars_.read_blocks(container, name, blobs::describe(name, status).etag);
    }
    const Fd folder =
        open_beneath(blocks_.get(), blobs::side_path(container, name, kBlocksSuffix), O_RDONLY | O_DIRECTORY);
    if (!folder) return blocks;
    LAVANT_TRY(const auto entries, list_directory(blobs::path_in(folder, ".")));
    for (const DirectoryEntry& entry : entries)
        if (const auto id = from_hex(entry.name); id && entry.is_file)
            blocks.uncommitted.push_back({*id, entry.bytes});
    return blocks;
}

// Puts the blocks together at `target`, unless one of them is the whole blob as it is. Returns the file.
Result<std::string> FsBlobStore::gather_blocks(const ports::BlobPut& put, const std::vector<BlockRef>& blocks,
                                               const std::string& target,
                                               std::vector<ports::BlockInfo>& gathered) {
    const std::string path = blobs::side_path(put.container, put.name, kBlocksSuffix);
    const Fd folder = open_beneath(blocks_.get(), path, O_RDONLY | O_DIRECTORY);
    const Fd before = containers_.open_blob(put.container, put.name, O_RDONLY | O_NONBLOCK);
    Pieces committed;
    struct stat status {};
    if (before && ::fstat(before.get(), &status) == 0 && S_ISREG(status.st_mode)) {
        std::uint64_t offset = 0;
        for (const ports::BlockInfo& block :
             sidecars_.read_blocks(put.container, put.name, blobs::describe(put.name, status).etag)) {
            committed.try_emplace(block.id, Piece{false, offset, block.bytes});
            offset += block.bytes;
        }
    }
    LAVANT_TRY(const std::vector<Piece> pieces, find_pieces(folder, committed, blocks));
    for (std::size_t i = 0; i < pieces.size(); ++i) gathered.push_back({blocks[i].id, pieces[i].bytes});
    if (pieces.size() == 1 && pieces[0].is_file)
        return root_ + "/.blocks/" + path + "/" + to_hex(blocks[0].id);
    LAVANT_TRY(const Fd whole, open_file(target, O_WRONLY | O_CREAT | O_EXCL));
    LAVANT_TRY_VOID(check_room(whole.get(), pieces, put.free_bytes_min));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Piece& piece = pieces[i];
        Fd own;
        if (piece.is_file) own = open_beneath(folder.get(), to_hex(blocks[i].id), O_RDONLY);
        if (piece.is_file && !own) return fail(no_block(blocks[i].id));
        const int from = piece.is_file ? own.get() : before.get();
        if (::lseek(from, static_cast<off_t>(piece.offset), SEEK_SET) < 0)
            return fail(system_error("read a block", errno));
        LAVANT_TRY_VOID(fs_blob_store::copy_bytes(from, whole.get(), piece.bytes));
    }
    return target;
}

Result<BlobInfo> FsBlobStore::put_block_list(ports::BlobPut put, const std::vector<BlockRef>& blocks) {
    if (blocks.size() > kBlocksPerBlob)
        return fail(ErrorCode::InvalidArgument,
                    "cannot commit the block list: it has more than 50000 blocks");
    LAVANT_TRY(const blobs::Container top, open_container(put.container, put.name));
    Fd temporary;
    if (top.is_mapped) {
        LAVANT_TRY(temporary, blobs::open_temporary(top));
    }
    const std::string target = top.is_mapped ? blobs::path_in(temporary, temporary_name()) : temporary_path();
    std::vector<ports::BlockInfo> gathered;
    Result<BlobInfo> stored = [&]() -> Result<BlobInfo> {
        LAVANT_TRY(put.source, gather_blocks(put, blocks, target, gathered));
        return this->put(put);
    }();
    if (!stored) {
        ::unlink(target.c_str());
        return stored;
    }
    struct stat status {};
    if (const Fd file = containers_.open_blob(put.container, put.name, O_PATH);
        file && ::fstat(file.get(), &status) == 0)
        sidecars_.write_blocks(put.container, put.name, blobs::describe(put.name, status).etag, gathered);
    LAVANT_TRY_VOID(
        remove_tree(root_ + "/.blocks/" + blobs::side_path(put.container, put.name, kBlocksSuffix)));
    return stored;
}

}  // namespace lavant::adapters
