#include "adapters/blobs_fs/old_blocks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "adapters/blobs_fs/blob_names.h"
#include "base/files.h"

namespace lavant::blobs {
namespace {

struct Sweep {
    const std::string& temporary;
    Instant before;
    std::size_t dropped = 0;
};

// Putting a block into a folder, also in the place of another, is a change of the folder.
Result<void> drop_if_old(const std::string& folder, Sweep& sweep) {
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return {};  // committed meanwhile
    const std::int64_t micros = status.st_mtim.tv_sec * 1'000'000LL + status.st_mtim.tv_nsec / 1'000;
    if (from_micros(micros) >= sweep.before) return {};
    const std::string doomed = sweep.temporary + "/old-blocks-" + std::to_string(++sweep.dropped);
    if (::rename(folder.c_str(), doomed.c_str()) == 0) return remove_tree(doomed);
    if (errno == ENOENT) return {};
    return fail(system_error("remove old blocks '" + folder + "'", errno));
}

// A folder of blobs may have such a name too; blocks are files.
bool holds_no_folder(const std::string& folder) {
    const Result<std::vector<DirectoryEntry>> entries = list_directory(folder);
    return entries && std::ranges::none_of(*entries, &DirectoryEntry::is_directory);
}

Result<void> visit(const std::string& folder, std::size_t depth, Sweep& sweep) {
    if (depth > kSegments + 1) return {};
    LAVANT_TRY(const std::vector<DirectoryEntry> entries, list_directory(folder));
    for (const DirectoryEntry& entry : entries) {
        if (!entry.is_directory) continue;
        const std::string inner = folder + "/" + entry.name;
        if (depth > 0 && entry.name.ends_with(kBlocksSuffix) && holds_no_folder(inner)) {
            LAVANT_TRY_VOID(drop_if_old(inner, sweep));
            continue;
        }
        const std::size_t before = sweep.dropped;
        LAVANT_TRY_VOID(visit(inner, depth + 1, sweep));
        if (sweep.dropped > before) (void)::rmdir(inner.c_str());  // if nothing is left in it
    }
    return {};
}

}  // namespace

Result<std::size_t> drop_old_blocks(const std::string& folder, const std::string& temporary, Instant before) {
    Sweep sweep{.temporary = temporary, .before = before};
    LAVANT_TRY_VOID(visit(folder, 0, sweep));
    return sweep.dropped;
}

}  // namespace lavant::blobs
