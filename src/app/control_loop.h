#pragma once
// The single writer. Drains the inbox, lets the plane decide, commits one transaction per batch, and only
// then answers, sends and starts effects. It has no thread of its own: main gives it one, the simulation
// calls step().

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/loop_stats.h"
#include "base/result.h"
#include "core/plane/events.h"
#include "core/plane/plane.h"
#include "ports/clock.h"
#include "ports/effects.h"
#include "ports/nodes.h"
#include "ports/store.h"

namespace lavant::app {

using Answer = plane::Answer;
// Called once, on the loop's thread, after the commit: must not block.
using Callback = std::function<void(Result<Answer>)>;

struct LoopPorts {
    ports::Store& store;
    ports::AgentLinks& links;
    ports::EffectRunner& effects;
    ports::Clock& clock;
    // Makes the token a task gets for MLflow and our API.
    std::function<std::string(const JobHead&, int attempt)> make_job_token;
    // Told of every event that was committed, in order, on the loop's thread (SSE, waiters, logs).
    std::function<void(const std::vector<HistoryEvent>&)> published;
    // Adds what becomes of the outputs of a job that is about to be Completed to the same transaction. May be
    // absent. The loop's thread.
    std::function<Result<void>(const JobHead&, const std::string& launch, WriteBatch&)> register_outputs = {};
};

// When the store is looked after: a while after something was written, as soon as there is nothing else to
// do, or at the latest some time later. A loop without work has no upkeep either.
struct Upkeep {
    std::int64_t events_kept = 1'000'000;  // of the history
    Duration after = std::chrono::seconds{10};
    Duration latest = std::chrono::minutes{1};
    Duration pause = std::chrono::milliseconds{200};  // between two small pieces of it
};

class ControlLoop {
 public:
    ControlLoop(LoopPorts ports, plane::Settings settings, Upkeep upkeep = {});

    // Loads the live state and runs again what the outbox still holds.
    [[nodiscard]] Result<void> start(Instant now);

    // Any thread. False: the inbox is full; the caller answers 429.
    [[nodiscard]] bool post(plane::Event event, Callback callback = {});

    // Handles at most one batch. True if anything was done. The loop's thread only.
    bool step(Instant now);
    // When there is something to do without an event.
    std::optional<Instant> next_wake() const;
    // The store could not be read after a failed commit: the plane may be wrong, and nothing happens before
    // it was read.
    bool is_lost() const { return rebuild_at_.has_value(); }
    // Waits for an event or for the next instant at which something is due.
    void wait();
    void wake();  // any thread

    LoopStats stats() const;                              // any thread
    const plane::Plane& plane() const { return plane_; }  // the loop's thread only

 private:
    struct Pending {
        plane::Event event;
        Callback callback;
    };
    std::vector<Pending> drain();
    [[nodiscard]] Result<void> enrich(plane::Event& event);
    void finish(plane::Outcome& outcome, const Result<std::vector<bool>>& committed, Instant now);
    void rebuild(Instant now);
    void plan_tidy(Instant now);
    void tidy(Instant now);
    [[nodiscard]] Result<void> complete_start(StartTask& start);
    [[nodiscard]] Result<void> register_outputs(plane::Outcome& outcome);

    LoopPorts ports_;
    plane::Settings settings_;
    Upkeep upkeep_;
    plane::Plane plane_;
    std::map<plane::Ticket, Callback> callbacks_;
    plane::Ticket last_ticket_ = 0;
    std::optional<Instant> rebuild_at_;  // when the store is to be read again
    std::vector<std::string> doubtful_;  // workspaces whose deletion the failed commit had
    std::optional<Instant> tidy_at_;     // when there is nothing better to do
    Instant tidy_by_{};                  // whatever else there is to do
    Instant census_at_{};
    std::map<JobId, int> registration_failures_;  // of jobs that are about to be Completed
    std::map<JobId, std::string> launches_;  // of jobs submitted lately, so that placing them reads nothing

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable arrived_;
    std::deque<Pending> inbox_;
    Instant oldest_at_{};  // when the inbox became not empty
    bool waking_ = false;
    LoopStats stats_;
};

}  // namespace lavant::app
