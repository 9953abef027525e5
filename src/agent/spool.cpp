#include "agent/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <string_view>

#include "base/files.h"
#include "base/log.h"

namespace lavant::agent {
namespace {

constexpr blkcnt_t kLogBlocksMax = 2048;  // of 512 bytes

bool holds_only(const std::string& folder, mode_t mode, std::initializer_list<std::string_view> names) {
    const Fd file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0 || (found.st_mode & 07777) != mode) return false;
    if (::flistxattr(file.get(), nullptr, 0) > 0) return false;
    alignas(dirent64) char buffer[1024];
    while (true) {
        const ssize_t bytes = ::getdents64(file.get(), buffer, sizeof buffer);
        if (bytes <= 0) return bytes == 0;
        for (ssize_t at = 0; at < bytes;) {
            const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
            const std::string_view name = entry->d_name;
            if (name != "." && name != ".." && std::ranges::find(names, name) == names.end()) return false;
            at += entry->d_reclen;
        }
    }
}

}  // namespace

bool is_untouched(const std::string& task_folder) {
    const std::string wd = task_folder + "/wd";
    struct stat log {};
    return holds_only(task_folder, 0700, {"launch.bin", "std_log.txt", "run.state", "wd"}) &&
           holds_only(wd, 0755, {"outputs", "logs"}) && holds_only(wd + "/outputs", 0755, {}) &&
           holds_only(wd + "/logs", 0755, {}) && ::lstat((task_folder + "/std_log.txt").c_str(), &log) == 0 &&
           S_ISREG(log.st_mode) && (log.st_mode & 07777) == 0600 && log.st_nlink == 1 &&
           log.st_blocks <= kLogBlocksMax;
}

Result<std::string> Spool::make() {
    constexpr int kTakenMax = 10'000;  // by tasks of earlier agents
    for (int tries = 0; tries < kTakenMax; ++tries) {
        std::string folder = folder_ + "/" + std::to_string(++last_);
        if (::mkdir(folder.c_str(), 0700) == 0) return folder;
        if (errno == ENOENT) LAVANT_TRY_VOID(make_directories(folder_));
        if (errno != EEXIST && errno != ENOENT) return fail(system_error("make '" + folder + "'", errno));
    }
    return fail(ErrorCode::ResourceExhausted, "'" + folder_ + "' holds more tasks than a node may have");
}

Result<std::string> Spool::take(const std::string& user) {
    for (auto spare = spares_.begin(); spare != spares_.end(); ++spare) {
        if (spare->user != user) continue;
        std::string folder = std::move(spare->folder);
        spares_.erase(spare);
        return folder;
    }
    return make();
}

void Spool::give_back(const std::string& folder, const std::string& user) {
    spares_.push_back({folder, user});
    if (spares_.size() <= kSparesMax) return;
    const Result<void> removed = remove_tree(spares_.front().folder);
    if (!removed) log(Level::Warning, "spool_not_removed", {{"error", removed.error().message}});
    spares_.erase(spares_.begin());
}

}  // namespace lavant::agent
