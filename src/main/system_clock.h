#pragma once
// The real clock: wall time anchored at start, driven by the boot-time clock, which never goes back and
// counts time spent suspended.

#include "ports/clock.h"

namespace lavant {

class SystemClock final : public ports::Clock {
 public:
    SystemClock();
    Instant now() override;

 private:
    Duration offset_{};  // from boot time to wall time
};

}  // namespace lavant
