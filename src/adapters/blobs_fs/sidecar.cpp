#include "adapters/blobs_fs/sidecar.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "adapters/blobs_fs/beneath.h"
#include "adapters/blobs_fs/blob_names.h"
#include "wire/codec.h"

namespace lavant::blobs {
namespace {

constexpr std::string_view kSuffix = ".meta";

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

bool Sidecars::has_any(const std::string& container) const {
    struct stat found {};
    return ::fstatat(root_.get(), container.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace lavant::blobs
