#include "adapters/blobs_fs/publishing.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "adapters/blobs_fs/beneath.h"
#include "adapters/blobs_fs/blob_names.h"

namespace lavant::blobs {
namespace {

Result<std::vector<std::string>> names_in(const Fd& folder) {
    Fd own = open_beneath(folder.get(), "", O_RDONLY | O_DIRECTORY);
    if (!own) return fail(system_error("list a staged folder", errno));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
    if (!stream) return fail(system_error("list a staged folder", errno));
    (void)own.release();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
    return names;
}

bool is_folder(int parent, const std::string& name) {
    struct stat status {};
    return ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

struct Place {
    int folder;
    const std::string& name;
};

Result<void> merge(const Place& from, const Place& to, const std::string& shown, std::size_t depth);

// One entry: a whole folder moves at once where nothing is in its place, a file replaces a file.
Result<void> move_entry(const Place& from, const Place& to, const std::string& shown, std::size_t depth) {
    const bool moves_folder = is_folder(from.folder, from.name);
    const unsigned int flags = moves_folder ? RENAME_NOREPLACE : 0;
    if (::renameat2(from.folder, from.name.c_str(), to.folder, to.name.c_str(), flags) == 0) return {};
    if (errno == ENOENT) return {};  // moved by a call that ran at the same time
    if (moves_folder && errno == EEXIST && is_folder(to.folder, to.name))
        return merge(from, to, shown, depth + 1);
    if (errno == EISDIR || errno == EEXIST || errno == ENOTDIR || errno == ENOTEMPTY)
        return fail(ErrorCode::Conflict, "cannot publish '" + shown +
                                             "': a blob and a folder of the same name exclude each other; "
                                             "remove what is there or choose another name");
    return fail(system_error("publish '" + shown + "'", errno));
}

bool is_final(ErrorCode code) {
    return code == ErrorCode::InvalidArgument || code == ErrorCode::AlreadyExists ||
           code == ErrorCode::Conflict;
}

// The target is synced before the source vanishes: a source that is gone means that everything is safe.
Result<void> merge(const Place& from, const Place& to, const std::string& shown, std::size_t depth) {
    if (depth > kSegments)
        return fail(ErrorCode::InvalidArgument, "cannot publish '" + shown + "': it is too deep");
    const Fd source = open_beneath(from.folder, from.name, O_RDONLY | O_DIRECTORY);
    if (!source && errno == ENOENT) return {};  // moved by a call that ran at the same time
    const Fd target = open_beneath(to.folder, to.name, O_RDONLY | O_DIRECTORY);
    if (!source || !target) return fail(system_error("open '" + shown + "' to publish it", errno));
    LAVANT_TRY(const auto names, names_in(source));
    Result<void> moved;  // one thing that cannot be moved keeps nothing else back
    for (const std::string& name : names) {
        const std::string inner = shown.empty() ? name : shown + "/" + name;
        Result<void> one = move_entry({source.get(), name}, {target.get(), name}, inner, depth);
        // A failure that a repetition may mend is told rather than one that it will not.
        if (!one && (moved || !is_final(one.error().code))) moved = std::move(one);
    }
    LAVANT_TRY_VOID(sync_fd(target.get(), "folder '" + shown + "'"));
    LAVANT_TRY_VOID(sync_fd(source.get(), "the staged folder of '" + shown + "'"));
    if (!moved) return moved;
    if (::unlinkat(from.folder, from.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        return fail(system_error("remove the staged folder of '" + shown + "'", errno));
    return {};
}

}  // namespace

Result<void> publish_beneath(int container, const std::string& from, const std::string& to) {
    const SplitPath source = split_path(from);
    const SplitPath target = split_path(to);
    const Fd from_folder = open_beneath(container, source.folder, O_RDONLY | O_DIRECTORY);
    if (!from_folder && errno == ENOENT) return {};
    if (!from_folder) return fail(system_error("open the staged folder '" + from + "'", errno));
    struct stat status {};
    const bool is_there =
        ::fstatat(from_folder.get(), source.base.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
        return fail(ErrorCode::Conflict, "cannot publish '" + from + "': it is neither a file nor a folder");
    if (!is_there) {
        // An earlier call may have renamed and died before it synced.
        const Fd to_folder = open_beneath(container, target.folder, O_RDONLY | O_DIRECTORY);
        if (to_folder) LAVANT_TRY_VOID(sync_fd(to_folder.get(), "folder '" + target.folder + "'"));
        return sync_fd(from_folder.get(), "folder '" + source.folder + "'");
    }
    if (to.empty()) return merge({from_folder.get(), source.base}, {container, to}, "", 1);
    UnsyncedFolders unsynced;
    LAVANT_TRY(const Fd to_folder, make_folders_beneath(container, target.folder, unsynced)
                                       .map_error(in("cannot publish '" + to + "'")));
    LAVANT_TRY_VOID(unsynced.sync());
    LAVANT_TRY_VOID(move_entry({from_folder.get(), source.base}, {to_folder.get(), target.base}, to, 1));
    LAVANT_TRY_VOID(sync_fd(to_folder.get(), "folder '" + target.folder + "'"));
    return sync_fd(from_folder.get(), "folder '" + source.folder + "'");
}

}  // namespace lavant::blobs
