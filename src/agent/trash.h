#pragma once
// Folders of ended tasks are moved here at once and removed when the node is quiet: removing files is what a
// file system does worst while others are being made, and nobody waits for it.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ports/agent_link.h"

namespace lavant::agent {

class Trash {
 public:
    // What an earlier process left there goes too.
    Trash(std::string folder, ports::Reactor& reactor);
    ~Trash() { reactor_.cancel(timer_); }
    Trash(const Trash&) = delete;
    Trash& operator=(const Trash&) = delete;

    // Afterwards `path` is free to be made again.
    [[nodiscard]] Result<void> take(const std::string& path);

 private:
    void arm(Duration delay);
    void sweep();

    const std::string folder_;
    ports::Reactor& reactor_;
    std::uint64_t last_ = 0;
    std::uint64_t waiting_ = 0;
    std::uint64_t taken_since_look_ = 0;
    ports::Reactor::Timer timer_ = 0;  // 0: none
};

}  // namespace lavant::agent
