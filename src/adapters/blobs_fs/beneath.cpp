#include "adapters/blobs_fs/beneath.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <set>
#include <utility>

#include "base/text.h"

namespace lavant::blobs {
namespace {

constexpr int kRacesMax = 16;
constexpr std::size_t kOptionsBytesMax = 64U << 10;

// What the kernel says of the ext4 file system below `fd`; "" where it does not say.
std::string ext4_options(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return {};
    const std::string number =
        std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
    std::string link(PATH_MAX, '\0');
    const ssize_t size = ::readlink(("/sys/dev/block/" + number).c_str(), link.data(), link.size());
    if (size <= 0) return {};
    link.resize(static_cast<std::size_t>(size));
    return read_file("/proc/fs/ext4/" + link.substr(link.rfind('/') + 1) + "/options", kOptionsBytesMax)
        .value_or("");
}

}  // namespace

Fd open_beneath(int root, const std::string& path, int flags, mode_t mode) {
    open_how how{};
    how.flags = static_cast<unsigned int>(flags | O_CLOEXEC | O_NOFOLLOW);
    how.mode = (flags & O_CREAT) != 0 ? mode : mode_t{0};
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const char* relative = path.empty() ? "." : path.c_str();
    for (int i = 0; i < kRacesMax; ++i) {
        const long raw = ::syscall(SYS_openat2, root, relative, &how, sizeof(how));
        if (raw >= 0) return Fd(static_cast<int>(raw));
        if (errno != EAGAIN && errno != EINTR) break;  // EAGAIN: a rename elsewhere disturbed the walk
    }
    if (errno == ENOSYS || errno == EPERM || errno == EAGAIN)
        return open_beneath_by_walking(root, path, flags, mode);
    return Fd();
}

Fd open_beneath_by_walking(int root, const std::string& path, int flags, mode_t mode) {
    Fd folder;
    int at = root;
    const std::vector<std::string_view> segments = split(path.empty() ? std::string_view(".") : path, '/');
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        const std::string segment(segments[i]);
        if (segment == "..") return errno = EXDEV, Fd();
        const int raw = ::openat(at, segment.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (raw < 0) return Fd();
        folder = Fd(raw);
        at = raw;
    }
    const std::string last(segments.back());
    if (last == "..") return errno = EXDEV, Fd();
    return Fd(::openat(at, last.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

bool syncs_in_order(int fd) {
    struct statfs about {};
    if (::fstatfs(fd, &about) != 0) return false;
    // ext2, ext3 and ext4 have one number, and ext4 need not have a journal.
    if (about.f_type == EXT4_SUPER_MAGIC) return has_journal(ext4_options(fd));
    return about.f_type == XFS_SUPER_MAGIC;
}

bool has_journal(std::string_view options) {
    return std::ranges::any_of(split(options, '\n'),
                               [](std::string_view option) { return option.starts_with("data="); });
}

Result<void> UnsyncedFolders::sync_last() {
    if (!folders_.empty()) LAVANT_TRY_VOID(sync_fd(folders_.back().get(), "folder"));
    folders_.clear();
    return {};
}

void UnsyncedFolders::take(UnsyncedFolders& others) {
    for (Fd& folder : others.folders_) folders_.push_back(std::move(folder));
    others.folders_.clear();
}

Result<void> UnsyncedFolders::sync() {
    std::set<std::pair<dev_t, ino_t>> synced;
    for (const Fd& folder : folders_) {
        struct stat status {};
        if (::fstat(folder.get(), &status) == 0 && !synced.emplace(status.st_dev, status.st_ino).second)
            continue;
        LAVANT_TRY_VOID(sync_fd(folder.get(), "folder"));
    }
    folders_.clear();
    return {};
}

Result<Fd> make_folders_beneath(int root, const std::string& path, UnsyncedFolders& unsynced, mode_t mode) {
    Fd folder = open_beneath(root, path, O_RDONLY | O_DIRECTORY);
    if (folder) return folder;
    if (errno == ENOTDIR || errno == ELOOP)
        return fail(ErrorCode::Conflict, "a part of '" + path + "' is a blob and cannot be a folder too");
    if (errno != ENOENT || path.empty()) return fail(system_error("open folder '" + path + "'", errno));
    const SplitPath parts = split_path(path);
    LAVANT_TRY(Fd parent, make_folders_beneath(root, parts.folder, unsynced, mode));
    if (::mkdirat(parent.get(), parts.base.c_str(), mode) != 0 && errno != EEXIST)
        return fail(system_error("make folder '" + path + "'", errno));
    folder = open_beneath(parent.get(), parts.base, O_RDONLY | O_DIRECTORY);
    if (!folder) return fail(system_error("open folder '" + path + "'", errno));
    unsynced.add(std::move(parent));
    return folder;
}

Result<void> sync_fd(int fd, const std::string& what) {
    if (::fsync(fd) == 0) return {};
    return fail(system_error("sync " + what, errno));
}

Fd duplicate(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

SplitPath split_path(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace lavant::blobs
