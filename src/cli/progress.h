#pragma once
// How far something long is. Nothing is said of what takes less than a moment.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "cli/console.h"

namespace lavant::cli {

class Progress {
 public:
    // "uploading", of so many bytes in all. No console: nothing is said.
    Progress(const Console* console, std::string what, std::uint64_t bytes_all);
    ~Progress();  // the line goes
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void add(std::uint64_t bytes);  // any thread

 private:
    const Console* console_;
    std::string what_;
    std::uint64_t all_;
    std::mutex mutex_;  // guards what follows
    std::uint64_t done_ = 0;
    bool shown_ = false;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace lavant::cli
