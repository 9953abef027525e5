#include "adapters/blobs_fs/containers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "adapters/blobs_fs/beneath.h"
#include "adapters/blobs_fs/blob_names.h"

namespace lavant::blobs {
namespace {

bool is_folder_at(int folder, const std::string& base) {
    struct stat status {};
    return ::fstatat(folder, base.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

// There is no way to ask for it without setting it; called while the process has one thread.
mode_t current_umask() {
    const mode_t mask = ::umask(077);
    ::umask(mask);
    return mask;
}

}  // namespace

Containers::Containers(int root) : root_(root), umask_(current_umask()) {}

std::string Containers::mapped_folder(const std::string& container) const {
    const std::shared_lock lock(mutex_);
    const auto found = mapped_.find(container);
    return found == mapped_.end() ? "" : found->second;
}

Result<Container> Containers::open(const std::string& container) const {
    LAVANT_TRY_VOID(check_container_name(container));
    Container opened;
    const std::string mapped = mapped_folder(container);
    if (mapped.empty()) {
        opened.folder = open_beneath(root_, container, O_RDONLY | O_DIRECTORY);
    } else {
        opened.folder = Fd(::open(mapped.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        opened.is_mapped = true;
        opened.folder_mode = 0777 & ~umask_;
        opened.file_mode = 0666 & ~umask_;
    }
    if (opened.folder) return opened;
    if (errno == ENOENT && mapped.empty())
        return fail(ErrorCode::NotFound,
                    "no container '" + container + "'; make it before storing blobs in it");
    if (errno == ENOENT)
        return fail(ErrorCode::NotFound, "the folder '" + mapped +
                                             "' of this datastore is not there any more; bring it back, or " +
                                             "delete the datastore");
    return fail(system_error("open container '" + container + "'", errno));
}

Fd Containers::open_blob(const std::string& container, const std::string& name, int flags) const {
    if (mapped_folder(container).empty()) return open_beneath(root_, container + "/" + name, flags);
    const Result<Container> opened = open(container);
    if (!opened) return errno = ENOENT, Fd();
    return open_beneath(opened->folder.get(), name, flags);
}

bool Containers::has(const std::string& container) const {
    if (!check_container_name(container)) return false;
    return mapped_folder(container).empty() ? is_folder_at(root_, container) : open(container).has_value();
}

Result<void> Containers::map(const std::string& container, const std::string& folder) {
    LAVANT_TRY_VOID(check_container_name(container));
    if (!folder.starts_with('/'))
        return fail(ErrorCode::InvalidArgument,
                    "cannot use '" + folder + "': write the whole path, from '/'");
    if (is_folder_at(root_, container))
        return fail(ErrorCode::AlreadyExists, "there is a container '" + container + "' already");
    const std::unique_lock lock(mutex_);
    mapped_[container] = folder;
    return {};
}

void Containers::unmap(const std::string& container) {
    const std::unique_lock lock(mutex_);
    mapped_.erase(container);
}

Result<Fd> open_temporary(const Container& container) {
    UnsyncedFolders unsynced;  // lost by a power cut: so be it
    return make_folders_beneath(container.folder.get(), kTemporaryBelow, unsynced);
}

std::string path_in(const Fd& folder, const std::string& name) {
    return "/proc/self/fd/" + std::to_string(folder.get()) + "/" + name;
}

}  // namespace lavant::blobs
