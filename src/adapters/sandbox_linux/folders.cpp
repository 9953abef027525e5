#include "adapters/sandbox_linux/folders.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/files.h"

namespace lavant::sandbox_linux {
namespace {

constexpr int kDepthMax = 128;

Result<void> copy_bytes(int from, int to, const std::string& path) {
    if (::ioctl(to, FICLONE, from) == 0) return {};
    constexpr std::size_t kChunkBytes = 1U << 30;
    while (true) {
        const ssize_t count = ::sendfile(to, from, nullptr, kChunkBytes);
        if (count == 0) return {};
        if (count < 0 && errno != EINTR) return fail(system_error("copy '" + path + "'", errno));
    }
}

Result<void> copy_file(const std::string& from, const std::string& to, Owner owner) {
    LAVANT_TRY(const Fd source, open_file(from, O_RDONLY | O_NOFOLLOW));
    struct stat found {};
    if (::fstat(source.get(), &found) != 0) return fail(system_error("look at '" + from + "'", errno));
    LAVANT_TRY(const Fd target, open_file(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    LAVANT_TRY_VOID(copy_bytes(source.get(), target.get(), from));
    if (owner && ::fchown(target.get(), *owner, *owner) != 0)
        return fail(system_error("give '" + to + "'", errno));
    if (::fchmod(target.get(), (found.st_mode & 0777) | 0600) != 0)
        return fail(system_error("set the mode of '" + to + "'", errno));
    return {};
}

Result<void> copy_link(const std::string& from, const std::string& to, Owner owner) {
    std::array<char, 4096> target{};
    const ssize_t count = ::readlink(from.c_str(), target.data(), target.size() - 1);
    if (count < 0) return fail(system_error("read link '" + from + "'", errno));
    if (::symlink(target.data(), to.c_str()) != 0) return fail(system_error("make link '" + to + "'", errno));
    if (owner && ::lchown(to.c_str(), *owner, *owner) != 0)
        return fail(system_error("give '" + to + "'", errno));
    return {};
}

Result<void> copy_folder(const std::string& from, const std::string& to, Owner owner, int depth) {
    if (depth > kDepthMax)
        return fail(ErrorCode::InvalidArgument, "folder '" + from + "' is nested more than 128 deep");
    LAVANT_TRY_VOID(make_folder_for(to, owner));
    LAVANT_TRY(const auto entries, list_directory(from));
    for (const DirectoryEntry& entry : entries) {
        const std::string source = from + "/" + entry.name;
        const std::string target = to + "/" + entry.name;
        if (entry.is_directory) LAVANT_TRY_VOID(copy_folder(source, target, owner, depth + 1));
        if (entry.is_file) LAVANT_TRY_VOID(copy_file(source, target, owner));
        if (entry.is_link) LAVANT_TRY_VOID(copy_link(source, target, owner));
    }
    return {};
}

Result<void> give_below(const std::string& path, uid_t owner, int depth) {
    if (depth > kDepthMax)
        return fail(ErrorCode::InvalidArgument, "'" + path + "' is nested more than 128 deep");
    if (::lchown(path.c_str(), owner, owner) != 0)
        return fail(system_error("give '" + path + "' to user " + std::to_string(owner), errno));
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return {};
    LAVANT_TRY(const auto entries, list_directory(path));
    for (const DirectoryEntry& entry : entries)
        LAVANT_TRY_VOID(give_below(path + "/" + entry.name, owner, depth + 1));
    return {};
}

// A real folder: one that is reached by a link may be anybody's.
Result<void> make_real_folder(const std::string& path, Owner owner) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0 && !S_ISDIR(found.st_mode) && ::unlink(path.c_str()) != 0)
        return fail(system_error("remove '" + path + "'", errno));
    return make_folder_for(path, owner);
}

Result<void> move_file(const std::string& from, const std::string& to, Owner owner) {
    struct stat found {};
    if (::lstat(to.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) LAVANT_TRY_VOID(remove_tree(to));
    if (owner && ::lchown(from.c_str(), *owner, *owner) != 0)
        return fail(system_error("give '" + from + "'", errno));
    if (::rename(from.c_str(), to.c_str()) != 0) return fail(system_error("move '" + from + "'", errno));
    return {};
}

Result<void> move_folder(const std::string& from, const std::string& to, Owner owner, int depth) {
    if (depth > kDepthMax)
        return fail(ErrorCode::InvalidArgument, "folder '" + from + "' is nested more than 128 deep");
    LAVANT_TRY_VOID(make_real_folder(to, owner));
    LAVANT_TRY(const auto entries, list_directory(from));
    for (const DirectoryEntry& entry : entries) {
        const std::string source = from + "/" + entry.name;
        const std::string target = to + "/" + entry.name;
        if (entry.is_directory) LAVANT_TRY_VOID(move_folder(source, target, owner, depth + 1));
        if (entry.is_file) LAVANT_TRY_VOID(move_file(source, target, owner));
    }
    return {};
}

// What is left of the limit below `path`; nothing: it is exceeded, or cannot be seen.
std::optional<TreeSize> left_after(const std::string& path, TreeSize left) {
    const auto entries = list_directory(path);
    if (!entries) return std::nullopt;
    for (const DirectoryEntry& entry : *entries) {
        const std::uint64_t bytes = entry.is_file ? entry.bytes : 0;
        if (left.files <= 0 || bytes > left.bytes) return std::nullopt;
        left = {.files = left.files - 1, .bytes = left.bytes - bytes};
        if (!entry.is_directory) continue;
        const auto rest = left_after(path + "/" + entry.name, left);
        if (!rest) return std::nullopt;
        left = *rest;
    }
    return left;
}

}  // namespace

bool is_small_tree(const std::string& path, TreeSize limit) { return left_after(path, limit).has_value(); }

Result<void> copy_tree(const std::string& from, const std::string& to, Owner owner) {
    return copy_folder(from, to, owner, 0);
}

Result<void> move_tree(const std::string& from, const std::string& to, Owner owner) {
    return move_folder(from, to, owner, 0);
}

Result<void> give_tree(const std::string& path, uid_t owner) { return give_below(path, owner, 0); }

Result<void> make_folder_for(const std::string& path, Owner owner) {
    struct stat found {};
    if (::mkdir(path.c_str(), 0755) != 0) {
        if (errno != EEXIST) LAVANT_TRY_VOID(make_directories(path, 0755));
        if (owner && ::lstat(path.c_str(), &found) == 0 && found.st_uid == *owner) return {};
    }
    if (owner && ::lchown(path.c_str(), *owner, *owner) != 0)
        return fail(system_error("give '" + path + "' to user " + std::to_string(*owner), errno));
    return {};
}

}  // namespace lavant::sandbox_linux
