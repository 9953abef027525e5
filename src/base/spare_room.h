#pragma once
// Room set aside on a disk for what must be written even when it is full: a file that gives way piece by
// piece. What is given back to the disk is anybody's, so it is given in the moment it is needed.

#include <cstdint>
#include <mutex>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace lavant {

class SpareRoom {
 public:
    // On the disk of `path`, once refill() is called. A file system that cannot set room aside has none.
    SpareRoom(std::string path, std::uint64_t bytes) : path_(std::move(path)), bytes_max_(bytes) {}

    // Sets aside what is missing, if several times as much is free. Any thread, as the next ones.
    void refill();
    // False: nothing is left to give.
    bool give_way(std::uint64_t bytes);
    // Gives way as far as it must and can for that much to be free.
    void free_up(std::uint64_t bytes);
    std::uint64_t bytes();

    // Writes again, with more room, as long as there is some to give and `write` fails for want of it.
    template <class Write>
    auto with_room(std::uint64_t bytes, Write write) -> decltype(write()) {
        auto written = write();
        while (!written && written.error().code == ErrorCode::ResourceExhausted && give_way(bytes))
            written = write();
        return written;
    }

 private:
    bool open();
    bool give(std::uint64_t bytes);
    std::uint64_t free_on_disk() const;

    const std::string path_;
    const std::uint64_t bytes_max_;
    std::mutex mutex_;  // guards what follows
    Fd file_;
    std::uint64_t bytes_ = 0;
};

}  // namespace lavant
