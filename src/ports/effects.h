#pragma once
#include <cstdint>

#include "core/model/effect.h"

namespace lavant::ports {

// Carries effects out, away from the control loop's thread; each result comes back to the loop as an event.
class EffectRunner {
 public:
    virtual ~EffectRunner() = default;
    virtual void run(const OutboxEntry& entry) = 0;
};

}  // namespace lavant::ports
