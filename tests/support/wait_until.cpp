#include "tests/support/wait_until.h"

#include <unistd.h>

#include <chrono>

namespace lavant::test {

bool wait_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::usleep(1000);
    }
    return true;
}

}  // namespace lavant::test
