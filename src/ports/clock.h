#pragma once
#include "base/time.h"

namespace lavant::ports {

// now() is UTC, never goes back, and counts time spent suspended: it is anchored at start to the wall clock
// and driven by the boot-time clock. Any thread.
class Clock {
 public:
    virtual ~Clock() = default;
    virtual Instant now() = 0;
};

}  // namespace lavant::ports
