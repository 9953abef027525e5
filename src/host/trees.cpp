#include "host/trees.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace lavant::host {
namespace {

// Names below an open folder, not paths from the root: a task may nest deeper than any path is long.
constexpr int kDepthMax = 2048;

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

Folder open_folder(int above, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = ::openat(above, name, kFlags);
    if (fd < 0 && errno == EACCES && ::fchmodat(above, name, 0700, 0) == 0) fd = ::openat(above, name, kFlags);
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
    if (depth > kDepthMax) return ELOOP;
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

Result<void> remove_contents(const std::string& folder) {
    const Folder opened = open_folder(AT_FDCWD, folder.c_str());
    if (!opened) return fail(system_error("empty folder '" + folder + "'", errno));
    if (const int error = empty(opened.get(), 0))
        return fail(system_error("empty folder '" + folder + "'", error));
    return {};
}

Result<void> remove_whole_tree(const std::string& folder) {
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
    LAVANT_TRY_VOID(remove_contents(folder));
    if (::rmdir(folder.c_str()) != 0 && errno != ENOENT)
        return fail(system_error("remove folder '" + folder + "'", errno));
    return {};
}

}  // namespace lavant::host
