#pragma once
// How many nodes of a pool will be free when, by what is known for certain: for conservative backfill.

#include <map>
#include <optional>

#include "base/time.h"

namespace lavant::schedule {

class Profile {
 public:
    Profile(Instant now, int free) : steps_{{now, free}} {}
    void add_from(Instant at, int nodes);  // so many more are free from then on

    // The earliest instant from which `nodes` are free for `length` (zero: for ever).
    std::optional<Instant> earliest(int nodes, Duration length) const;
    // They are taken then, for so long.
    void reserve(Instant at, int nodes, Duration length);

 private:
    void split(Instant at);
    std::map<Instant, int> steps_;  // free from this instant to the next
};

}  // namespace lavant::schedule
