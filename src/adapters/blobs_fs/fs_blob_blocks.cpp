// Blobs that come in blocks.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "adapters/blobs_fs/blob_names.h"
#include "adapters/blobs_fs/facts.h"
#include "adapters/blobs_fs/pending_put.h"
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

// Where a committed block lies in the blob that is there.
struct Piece {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

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
    const std::string folder = blobs::side_path(put.container, put.name, kBlocksSuffix);
    const Fd before = containers_.open_blob(put.container, put.name, O_RDONLY | O_NONBLOCK);
    std::map<std::string, Piece> committed;
    struct stat status {};
    if (before && ::fstat(before.get(), &status) == 0 && S_ISREG(status.st_mode)) {
        std::uint64_t offset = 0;
        for (const ports::BlockInfo& block :
             sidecars_.read_blocks(put.container, put.name, blobs::describe(put.name, status).etag)) {
            committed.try_emplace(block.id, Piece{offset, block.bytes});
            offset += block.bytes;
        }
    }
    Fd whole;
    for (const BlockRef& ref : blocks) {
        LAVANT_TRY_VOID(blobs::check_block_id(ref.id));
        Fd block;
        if (ref.from != BlockRef::From::Committed)
            block = open_beneath(blocks_.get(), folder + "/" + to_hex(ref.id), O_RDONLY);
        if (block && ::fstat(block.get(), &status) != 0) return fail(system_error("look at a block", errno));
        if (block && blocks.size() == 1) {
            gathered.push_back({ref.id, static_cast<std::uint64_t>(status.st_size)});
            return root_ + "/.blocks/" + folder + "/" + to_hex(ref.id);
        }
        if (!whole) {
            LAVANT_TRY(whole, open_file(target, O_WRONLY | O_CREAT | O_EXCL));
        }
        const auto old = committed.find(ref.id);
        if (block) {
            LAVANT_TRY_VOID(fs_blob_store::copy_bytes(block.get(), whole.get()));
            gathered.push_back({ref.id, static_cast<std::uint64_t>(status.st_size)});
        } else if (ref.from != BlockRef::From::Uncommitted && old != committed.end()) {
            if (::lseek(before.get(), static_cast<off_t>(old->second.offset), SEEK_SET) < 0)
                return fail(system_error("read a block", errno));
            LAVANT_TRY_VOID(fs_blob_store::copy_bytes(before.get(), whole.get(), old->second.bytes));
            gathered.push_back({ref.id, old->second.bytes});
        } else {
            return fail(no_block(ref.id));
        }
    }
    if (!whole) {
        LAVANT_TRY(whole, open_file(target, O_WRONLY | O_CREAT | O_EXCL));
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
