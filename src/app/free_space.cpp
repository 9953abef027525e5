#include "app/free_space.h"

#include <sys/statvfs.h>

#include <chrono>
#include <utility>

namespace lavant::app {

FreeSpace::Probe FreeSpace::probe_of(std::string folder) {
    return [folder = std::move(folder)]() -> std::optional<std::uint64_t> {
        struct statvfs answer {};
        if (::statvfs(folder.c_str(), &answer) != 0) return std::nullopt;
        return static_cast<std::uint64_t>(answer.f_bavail) * answer.f_frsize;
    };
}

std::optional<std::uint64_t> FreeSpace::free_bytes() {
    const Instant now = clock_.now();
    const std::lock_guard lock(mutex_);
    if (!asked_at_ || now - *asked_at_ >= std::chrono::seconds(1)) {
        free_ = probe_();
        asked_at_ = now;
    }
    return free_;
}

Result<void> FreeSpace::check_room(std::uint64_t bytes) {
    const std::optional<std::uint64_t> free = free_bytes();
    if (!free || (*free >= floor_bytes_ && *free - floor_bytes_ >= bytes)) return {};
    return fail(
        ErrorCode::ResourceExhausted,
        (bytes == 0 ? "the server's disk is nearly full: "
                    : "the server's disk has no room for " + std::to_string(bytes >> 20U) + " MiB more: ") +
            std::to_string(*free >> 20U) + " MiB are free and " + std::to_string(floor_bytes_ >> 20U) +
            " MiB are kept in reserve; delete old jobs or outputs, or give the data folder more room");
}

}  // namespace lavant::app
