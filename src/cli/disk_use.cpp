#include "cli/disk_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>
#include <vector>

#include <fmt/format.h>

namespace lavant::cli {

DiskUse measure_disk_use(const std::string& folder, std::size_t entries_max) {
    struct Close {
        void operator()(::DIR* open) const { ::closedir(open); }
    };
    DiskUse use;
    std::vector<std::string> waiting{folder};
    std::size_t seen = 0;
    while (!waiting.empty()) {
        const std::string path = std::move(waiting.back());
        waiting.pop_back();
        const std::unique_ptr<::DIR, Close> open(::opendir(path.c_str()));
        if (!open) continue;  // gone meanwhile, or a node's own
        while (const ::dirent* entry = ::readdir(open.get())) {
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..") continue;
            if (++seen > entries_max) {
                use.is_whole = false;
                return use;
            }
            struct stat status {};
            if (::fstatat(::dirfd(open.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            use.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
            if (S_ISDIR(status.st_mode)) waiting.push_back(path + "/" + std::string(name));
        }
    }
    return use;
}

std::string describe_bytes(std::uint64_t bytes) {
    static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(kUnits)) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace lavant::cli
