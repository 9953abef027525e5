#pragma once
// When a waiting job will start: the scheduler itself, run forward on a copy of what there is.

#include <functional>
#include <optional>

#include "core/schedule/scheduler.h"

namespace lavant::schedule {

struct ForecastAsk {
    PoolId pool;
    Turn turn;
    // How long a job of this pool usually runs; nullopt: none has ended yet.
    std::function<std::optional<Duration>(PoolId)> usual_length;
    std::size_t jobs_max = 2000;  // that are looked at ahead of it
};

struct Forecast {
    std::optional<Instant> starts_at;  // nullopt: nobody can tell
    bool at_least = false;             // not before then: more jobs are ahead than were looked at
};

Forecast forecast_start(const Scheduler& scheduler, const ForecastAsk& ask, Instant now);

}  // namespace lavant::schedule
