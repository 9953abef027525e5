#include "main/system_clock.h"

#include <time.h>

namespace lavant {
namespace {

Duration read(clockid_t clock) {
    timespec value{};
    ::clock_gettime(clock, &value);
    return Duration{value.tv_sec * 1'000'000 + value.tv_nsec / 1'000};
}

}  // namespace

SystemClock::SystemClock() : offset_(read(CLOCK_REALTIME) - read(CLOCK_BOOTTIME)) {}

Instant SystemClock::now() { return Instant{offset_ + read(CLOCK_BOOTTIME)}; }

}  // namespace lavant
