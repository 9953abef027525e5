#pragma once
// The jobs that wait in one pool, and whose turn it is: the highest priority first; within a priority the
// user who has the fewest nodes of the pool in use, and of that user the oldest job. A job that waited for
// longer than `overtaken_max` is not overtaken any more.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/model/resources.h"

namespace lavant::schedule {

// Users are numbered by whoever owns the queue.
using UserNumber = int;

// What the scheduler knows of a job that waits.
struct Ask {
    JobId job;
    PoolId pool;
    int rank = 0;  // the lower, the earlier: minus the priority
    UserNumber user = 0;
    int instances = 1;        // nodes
    Resources on_node;        // what it takes of each, where a pool packs
    Duration bound{};         // it runs no longer; zero: nobody knows
    Instant since{};          // when it was submitted
    std::int64_t shares = 0;  // the scheduler's own: thousandths of nodes that it wants
};

// The order between the heads of different pools, and of what is older than what.
struct Turn {
    int rank = 0;
    JobId job;
    auto operator<=>(const Turn&) const = default;
};
inline Turn turn_of(const Ask& ask) { return {ask.rank, ask.job}; }

class FairQueue {
 public:
    void add(const Ask& ask);
    Ask remove(Turn turn);                         // which must be there
    void add_running(UserNumber user, int nodes);  // nodes in use by a user's jobs; negative when they end

    bool empty() const { return classes_.empty(); }
    std::size_t size() const { return size_; }
    const Ask& oldest() const;  // of the highest priority; not empty
    const Ask& next(Instant now, Duration overtaken_max) const;
    const Ask* find(Turn turn) const;
    // By priority, then age: at most `count`.
    std::vector<const Ask*> first(std::size_t count) const;
    // How many are before this one by priority and age, counted up to `most`, and what nodes they want.
    struct Ahead {
        std::int64_t jobs = 0;
        std::int64_t nodes = 0;
    };
    Ahead ahead_of(Turn turn, std::int64_t most) const;
    int running(UserNumber user) const;

 private:
    struct Class {  // one priority
        std::map<JobId, Ask> jobs;
        std::unordered_map<UserNumber, std::set<JobId>> lines;  // looked up, never iterated
        std::set<std::tuple<int, JobId, UserNumber>> heads;     // nodes in use, oldest job, user
    };
    void take_head_out(Class& one, UserNumber user);
    void put_head_in(Class& one, UserNumber user);

    std::map<int, Class> classes_;  // by rank; none is empty
    std::map<UserNumber, int> running_;
    std::size_t size_ = 0;
};

}  // namespace lavant::schedule
