#include "agent/kept_folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/log.h"

namespace lavant::agent {

std::string KeptFolders::place_of(TaskRef task) const {
    return folder_ + "/" + std::to_string(task.job.value) + "." + std::to_string(task.attempt) + "." +
           std::to_string(task.index);
}

Result<void> KeptFolders::take(TaskRef task, const std::string& task_folder) {
    CHECK(task_folder.starts_with('/'), "a task that is kept has a folder");
    LAVANT_TRY_VOID(make_directories(folder_));
    const std::string place = place_of(task);
    LAVANT_TRY_VOID(remove_tree(place));
    if (::rename(task_folder.c_str(), place.c_str()) != 0)
        return fail(system_error("keep '" + task_folder + "'", errno));
    // The launch holds the job's token.
    for (const char* name : {"/launch.bin", "/inputs", "/code.new"})
        LAVANT_TRY_VOID(remove_tree(place + name));
    (void)::utimensat(AT_FDCWD, place.c_str(), nullptr, 0);  // The age counts from now.
    make_room();
    return {};
}

void KeptFolders::make_room() const {
    const Result<std::vector<DirectoryEntry>> entries = list_directory(folder_);
    if (!entries || entries->size() <= kKeptMax) return;
    std::vector<std::pair<Instant, std::string>> ages;
    for (const DirectoryEntry& entry : *entries) {
        const std::string path = folder_ + "/" + entry.name;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) continue;
        const std::int64_t micros = status.st_mtim.tv_sec * 1'000'000LL + status.st_mtim.tv_nsec / 1000;
        ages.emplace_back(from_micros(micros), path);
    }
    std::ranges::sort(ages);
    for (std::size_t i = 0; i + kKeptMax < ages.size(); ++i) {
        const Result<void> removed = remove_tree(ages[i].second);
        if (!removed) log(Level::Warning, "kept_folder_not_removed", {{"error", removed.error().message}});
    }
}

}  // namespace lavant::agent
