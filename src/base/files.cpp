#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace lavant {
namespace {

std::string quoted(std::string_view verb, const std::string& path) {
    return std::string(verb) + " '" + path + "'";
}

// Names below an open folder, not paths from the root: a task may nest deeper than any path is long.
constexpr int kTreeDepthMax = 2048;

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

Folder open_folder(int above, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = ::openat(above, name, kFlags);
    if (fd < 0 && errno == EACCES && ::fchmodat(above, name, 0700, 0) == 0)
        fd = ::openat(above, name, kFlags);
    if (fd < 0) return nullptr;
    DIR* folder = ::fdopendir(fd);
    if (folder == nullptr) ::close(fd);
    return Folder(folder);
}

// 0, or errno.
int empty(DIR* folder, int depth);

int remove_entry(int above, const dirent& entry, int depth) {
    if (entry.d_type != DT_DIR && ::unlinkat(above, entry.d_name, 0) == 0) return 0;
    if (entry.d_type != DT_DIR && errno != EISDIR && errno != EPERM) return errno == ENOENT ? 0 : errno;
    if (::unlinkat(above, entry.d_name, AT_REMOVEDIR) == 0) return 0;
    if (errno != ENOTEMPTY && errno != EEXIST) return errno;
    const Folder folder = open_folder(above, entry.d_name);
    if (!folder) return errno;
    if (const int error = empty(folder.get(), depth + 1)) return error;
    return ::unlinkat(above, entry.d_name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

int empty(DIR* folder, int depth) {
    if (depth > kTreeDepthMax) return ELOOP;
    const int fd = ::dirfd(folder);
    bool writable = false;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        int error = remove_entry(fd, *entry, depth);
        if ((error == EACCES || error == EPERM) && !writable) {
            writable = ::fchmod(fd, 0700) == 0;
            error = remove_entry(fd, *entry, depth);
        }
        if (error != 0) return error;
    }
    return 0;
}

}  // namespace

void Fd::reset(int raw) {
    if (raw_ >= 0) ::close(raw_);
    raw_ = raw;
}

Result<Fd> open_file(const std::string& path, int flags, int mode) {
    const int raw = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (raw < 0) return fail(system_error(quoted("open", path), errno));
    return Fd(raw);
}

Result<std::string> read_all(int fd, std::size_t bytes_max) {
    std::string bytes;
    std::array<char, 65536> buffer{};
    while (true) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(system_error("read", errno));
        if (count == 0) return bytes;
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
        if (bytes.size() > bytes_max)
            return fail(ErrorCode::ResourceExhausted,
                        "it is larger than the limit of " + std::to_string(bytes_max) + " bytes");
    }
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
    LAVANT_TRY(const Fd file, open_file(path, O_RDONLY));
    return read_all(file.get(), bytes_max).map_error(in("'" + path + "'"));
}

std::string working_folder() {
    std::string path(4096, '\0');
    if (::getcwd(path.data(), path.size()) == nullptr) return "/";
    path.resize(path.find('\0'));
    return path;
}

Result<void> write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(system_error("write", errno));
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes, int mode) {
    const std::string beside = path + ".tmp" + std::to_string(::getpid());
    LAVANT_TRY(Fd file, open_file(beside, O_WRONLY | O_CREAT | O_TRUNC, mode));
    LAVANT_TRY_VOID(write_all(file.get(), bytes).map_error(in(beside)));
    if (::fsync(file.get()) != 0) return fail(system_error(quoted("sync", beside), errno));
    file.reset();
    if (::rename(beside.c_str(), path.c_str()) != 0)
        return fail(system_error(quoted("rename to", path), errno));
    return sync_directory(parent_of(path));
}

Result<void> sync_directory(const std::string& path) {
    LAVANT_TRY(const Fd directory, open_file(path, O_RDONLY | O_DIRECTORY));
    if (::fsync(directory.get()) != 0) return fail(system_error(quoted("sync", path), errno));
    return {};
}

Result<void> make_directories(const std::string& path, int mode) {
    if (::mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0) return {};
    if (errno == EEXIST) {
        struct stat found {};
        if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
        return fail(ErrorCode::AlreadyExists, "cannot make folder '" + path + "': a file is in its place");
    }
    if (errno != ENOENT) return fail(system_error(quoted("make folder", path), errno));
    const std::string parent = parent_of(path);
    if (parent == path) return fail(ErrorCode::NotFound, "cannot make folder '" + path + "'");
    LAVANT_TRY_VOID(make_directories(parent, mode));
    if (::mkdir(path.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST)
        return fail(system_error(quoted("make folder", path), errno));
    return {};
}

Result<void> remove_contents(const std::string& path) {
    const Folder folder = open_folder(AT_FDCWD, path.c_str());
    if (!folder) return fail(system_error(quoted("empty folder", path), errno));
    if (const int error = empty(folder.get(), 0))
        return fail(system_error(quoted("empty folder", path), error));
    return {};
}

Result<void> remove_tree(const std::string& path) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return fail(system_error(quoted("remove", path), errno));
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
    LAVANT_TRY_VOID(remove_contents(path));
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT)
        return fail(system_error(quoted("remove", path), errno));
    return {};
}

bool exists(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0;
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_name_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

Result<std::vector<DirectoryEntry>> list_directory(const std::string& path) {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return fail(system_error(quoted("list", path), errno));
    std::vector<DirectoryEntry> entries;
    while (const dirent* found = ::readdir(directory)) {
        const std::string name = found->d_name;
        if (name == "." || name == "..") continue;
        struct stat status {};
        if (::fstatat(::dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        entries.push_back({.name = name,
                           .is_directory = S_ISDIR(status.st_mode),
                           .is_file = S_ISREG(status.st_mode),
                           .is_link = S_ISLNK(status.st_mode),
                           .bytes = static_cast<std::uint64_t>(status.st_size)});
    }
    ::closedir(directory);
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    return entries;
}

}  // namespace lavant
