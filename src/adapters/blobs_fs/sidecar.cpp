#include "adapters/blobs_fs/sidecar.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <span>

#include "adapters/blobs_fs/beneath.h"
#include "adapters/blobs_fs/blob_names.h"
#include "base/text.h"
#include "wire/codec.h"

namespace lavant::blobs {
namespace {

constexpr std::string_view kSuffix = ".meta";
constexpr std::string_view kBlocksListSuffix = ".list";
constexpr std::size_t kBlocksBytes = 16U << 20;  // of 50,000 blocks with the longest ids

}  // namespace

Result<Metadata> Sidecars::read(const std::string& container, const std::string& name) const {
    const Fd file = open_beneath(root_.get(), side_path(container, name, kSuffix), O_RDONLY);
    if (!file && (errno == ENOENT || errno == ENOTDIR)) return Metadata();
    if (!file) return fail(system_error("open the metadata of blob '" + name + "'", errno));
    std::string bytes(2 * kMetadataBytes, '\0');
    const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), 0);
    if (count < 0) return fail(system_error("read the metadata of blob '" + name + "'", errno));
    bytes.resize(static_cast<std::size_t>(count));
    return wire::decode<Metadata>(bytes).map_error(in("reading the metadata of blob '" + name + "'"));
}

Result<void> Sidecars::write(const std::string& container, const std::string& name,
                             const Metadata& metadata) {
    const std::string path = side_path(container, name, kSuffix);
    const SplitPath parts = split_path(path);
    if (metadata.empty()) {
        const Fd folder = open_beneath(root_.get(), parts.folder, O_RDONLY | O_DIRECTORY);
        if (!folder || ::unlinkat(folder.get(), parts.base.c_str(), 0) != 0) return {};
        return sync_fd(folder.get(), "the metadata of blob '" + name + "'");
    }
    std::size_t bytes = 0;
    for (const auto& [key, value] : metadata) bytes += key.size() + value.size();
    if (bytes > kMetadataBytes)
        return fail(ErrorCode::InvalidArgument, "cannot keep the metadata of blob '" + name +
                                                    "': it has more than 16384 bytes; shorten it");
    static std::atomic<std::uint64_t> last_number{0};
    UnsyncedFolders unsynced;
    LAVANT_TRY(Fd folder, make_folders_beneath(root_.get(), parts.folder, unsynced));
    const std::string beside = ".new" + std::to_string(++last_number);
    Fd file = open_beneath(folder.get(), beside, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file) return fail(system_error("write the metadata of blob '" + name + "'", errno));
    LAVANT_TRY_VOID(write_all(file.get(), wire::encode(metadata)));
    LAVANT_TRY_VOID(sync_fd(file.get(), "the metadata of blob '" + name + "'"));
    if (::renameat(folder.get(), beside.c_str(), folder.get(), parts.base.c_str()) != 0)
        return fail(system_error("put the metadata of blob '" + name + "' in place", errno));
    unsynced.add(std::move(folder));
    return unsynced.sync();
}

// One line for the blob's etag, then one for each block: its size and its id.
void Sidecars::write_blocks(const std::string& container, const std::string& name, const std::string& etag,
                            const std::vector<ports::BlockInfo>& blocks) {
    const SplitPath parts = split_path(side_path(container, name, kBlocksListSuffix));
    UnsyncedFolders unsynced;
    const Result<Fd> folder = make_folders_beneath(root_.get(), parts.folder, unsynced);
    if (!folder) return;
    std::string text = etag + "\n";
    for (const ports::BlockInfo& block : blocks) text += std::to_string(block.bytes) + " " + block.id + "\n";
    const Fd file = open_beneath(folder->get(), parts.base, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file || !write_all(file.get(), text)) forget_blocks(container, name);
}

std::vector<ports::BlockInfo> Sidecars::read_blocks(const std::string& container, const std::string& name,
                                                    const std::string& etag) const {
    std::vector<ports::BlockInfo> blocks;
    const Fd file = open_beneath(root_.get(), side_path(container, name, kBlocksListSuffix), O_RDONLY);
    if (!file) return blocks;
    const Result<std::string> text = read_all(file.get(), kBlocksBytes);
    if (!text) return blocks;
    const std::vector<std::string_view> lines = split(*text, '\n');
    if (lines.front() != etag) return blocks;
    for (const std::string_view line : std::span(lines).subspan(1)) {
        const std::size_t blank = line.find(' ');
        const auto bytes = parse_integer(line.substr(0, blank));
        if (blank == std::string_view::npos || !bytes || *bytes < 0) continue;
        blocks.push_back({std::string(line.substr(blank + 1)), static_cast<std::uint64_t>(*bytes)});
    }
    return blocks;
}

void Sidecars::forget_blocks(const std::string& container, const std::string& name) {
    const SplitPath parts = split_path(side_path(container, name, kBlocksListSuffix));
    const Fd folder = open_beneath(root_.get(), parts.folder, O_RDONLY | O_DIRECTORY);
    if (folder) (void)::unlinkat(folder.get(), parts.base.c_str(), 0);
}

std::string Sidecars::path_of(const std::string& container, const std::string& name) {
    return ".meta/" + side_path(container, name, kSuffix);
}

bool Sidecars::has_any(const std::string& container) const {
    struct stat found {};
    return ::fstatat(root_.get(), container.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace lavant::blobs
