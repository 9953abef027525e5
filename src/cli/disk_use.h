#pragma once
#include <cstdint>
#include <string>

namespace lavant::cli {

struct DiskUse {
    std::uint64_t bytes = 0;  // on the disk, not as the files are long
    bool is_whole = true;     // false: there is more than was counted
};

// What lies below a folder. Follows no link; stops after so many entries, so that an answer never takes long.
DiskUse measure_disk_use(const std::string& folder, std::size_t entries_max = 200'000);

std::string describe_bytes(std::uint64_t bytes);  // "1.5 GiB"

}  // namespace lavant::cli
