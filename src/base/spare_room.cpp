#include "base/spare_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

namespace lavant {
namespace {

constexpr std::uint64_t kTimesFree = 4;

}  // namespace

// A predecessor's is taken over, with what is left of it.
bool SpareRoom::open() {
    if (file_) return true;
    auto opened = open_file(path_, O_RDWR | O_CREAT | O_NOFOLLOW);
    struct stat about {};
    if (!opened || ::fstat(opened->get(), &about) != 0) return false;
    file_ = *std::move(opened);
    bytes_ = static_cast<std::uint64_t>(about.st_size);
    return true;
}

void SpareRoom::refill() {
    const std::lock_guard lock(mutex_);
    if (!open() || bytes_ >= bytes_max_) return;
    if (free_on_disk() < kTimesFree * bytes_max_) return;
    // Not posix_fallocate: it would write every byte where the file system cannot do better.
    if (::fallocate(file_.get(), 0, 0, static_cast<off_t>(bytes_max_)) == 0) bytes_ = bytes_max_;
}

std::uint64_t SpareRoom::free_on_disk() const {
    struct statvfs about {};
    return ::fstatvfs(file_.get(), &about) == 0 ? std::uint64_t{about.f_bavail} * about.f_frsize : 0;
}

bool SpareRoom::give_way(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    return give(bytes);
}

void SpareRoom::free_up(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!open()) return;
    const std::uint64_t free = free_on_disk();
    if (free < bytes) static_cast<void>(give(bytes - free));
}

bool SpareRoom::give(std::uint64_t bytes) {
    if (!open() || bytes_ == 0) return false;
    bytes_ -= std::min(bytes, bytes_);
    return ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) == 0;
}

std::uint64_t SpareRoom::bytes() {
    const std::lock_guard lock(mutex_);
    return open() ? bytes_ : 0;
}

}  // namespace lavant
