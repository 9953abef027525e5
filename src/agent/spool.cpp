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
#include "base/text.h"

namespace lavant::agent {
namespace {

bool holds_only(const std::string& folder, std::initializer_list<std::string_view> names) {
    const Fd file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0 || (found.st_mode & 07777) != 0755) return false;
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

bool is_untouched(const std::string& working_folder) {
    return holds_only(working_folder, {"outputs", "logs"}) && holds_only(working_folder + "/outputs", {}) &&
           holds_only(working_folder + "/logs", {});
}

Result<std::string> Spool::take(bool empty) {
    if (!empty && !spares_.empty()) {
        std::string folder = std::move(spares_.back());
        spares_.pop_back();
        return folder;
    }
    constexpr int kTakenMax = 10'000;  // by tasks of earlier agents
    for (int tries = 0; tries < kTakenMax; ++tries) {
        std::string folder = folder_ + "/" + std::to_string(++last_);
        if (::mkdir(folder.c_str(), 0700) == 0) return folder;
        if (errno == ENOENT) LAVANT_TRY_VOID(make_directories(folder_));
        if (errno != EEXIST && errno != ENOENT) return fail(system_error("make '" + folder + "'", errno));
    }
    return fail(ErrorCode::ResourceExhausted, "'" + folder_ + "' holds more tasks than a node may have");
}

Result<void> Spool::give_back(const std::string& folder, bool reusable) {
    if (reusable && spares_.size() < kSparesMax) {
        spares_.push_back(folder);
        return {};
    }
    return folder.empty() ? Result<void>{} : remove_tree(folder);
}

}  // namespace lavant::agent
