#include "core/schedule/forecast.h"

#include <algorithm>
#include <queue>

namespace lavant::schedule {
namespace {

constexpr std::int64_t kFirstInvented = std::int64_t{1} << 40;  // numbers of nodes that exist only here
constexpr int kStepsMax = 5'000;

class Future final : public Actions {
 public:
    Future(const Scheduler& present, const ForecastAsk& ask, Instant now)
        : scheduler_(present.settings(), present.quotas()), ask_(ask), now_(now) {
        complete_ = present.copy_ahead_of(ask.pool, ask.turn, ask.jobs_max, scheduler_);
        for (const auto& [id, job] : scheduler_.running())
            if (const auto end = end_of(job)) plan_end(id, *end);
        for (const NodeId node : scheduler_.leaving_nodes()) plan_departure(node);
        has_target_ = !scheduler_.queue(ask.pool).empty();
        for (const NodeId node : scheduler_.starting_nodes())
            plan(now + present.settings().start_estimate, [this, node] { scheduler_.node_ready(node); });
    }

    Forecast run() {
        for (int step = 0; step < kStepsMax; ++step) {
            scheduler_.decide(now_, *this);
            if (placed_) return {now_, false};
            if (!complete_ && nobody_waits()) return has_target_ ? Forecast{now_, true} : Forecast{};
            if (planned_.empty()) return {};
            now_ = std::max(now_, planned_.top().at);
            while (!planned_.empty() && planned_.top().at <= now_) {
                const std::function<void()> what = planned_.top().what;
                planned_.pop();
                what();
            }
        }
        return {now_, true};
    }

    void place(const Ask& ask, const std::vector<NodeId>& nodes) override {
        scheduler_.job_placed(ask.pool, turn_of(ask), nodes, now_);
        placed_ = placed_ || ask.job == ask_.turn.job;
        if (const auto end = end_of(scheduler_.running().at(ask.job))) plan_end(ask.job, *end);
    }
    void request(PoolId pool) override {
        const NodeId node{kFirstInvented + ++invented_};
        scheduler_.node_added(node, pool, scheduler_.node_cost(pool));
        plan(now_ + scheduler_.settings().start_estimate, [this, node] { scheduler_.node_ready(node); });
    }
    void release(NodeId node, const std::string& /*why*/) override {
        scheduler_.node_leaves(node);
        plan(now_ + Duration(1), [this, node] { scheduler_.node_gone(node); });
    }
    // Whoever is preempted comes back later than what is asked for here.
    void preempt(NodeId node, const std::string& /*why*/) override {
        scheduler_.node_leaves(node);
        plan_departure(node);
    }

 private:
    struct Planned {
        Instant at{};
        std::int64_t order = 0;
        std::function<void()> what;
        bool operator<(const Planned& other) const {  // the earliest on top
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    void plan(Instant at, std::function<void()> what) { planned_.push({at, ++order_, std::move(what)}); }
    void plan_end(JobId job, Instant at) {
        plan(at, [this, job] { end(job); });
    }

    // What runs there has its grace.
    void plan_departure(NodeId node) {
        plan(now_ + scheduler_.settings().preemption_grace, [this, node] {
            std::vector<JobId> jobs;
            for (const auto& [id, job] : scheduler_.running())
                if (job.nodes.contains(node)) jobs.push_back(id);
            for (const JobId id : jobs) end(id);
            scheduler_.node_gone(node);
        });
    }

    void end(JobId job) {
        const auto found = scheduler_.running().find(job);
        if (found == scheduler_.running().end()) return;
        const std::set<NodeId> nodes = found->second.nodes;
        for (const NodeId node : nodes) scheduler_.job_leaves(job, node);
    }

    // One that runs for longer than usual is taken to have half of its time behind it.
    std::optional<Instant> end_of(const Scheduler::RunningJob& job) const {
        const std::optional<Duration> usual = ask_.usual_length(job.pool);
        if (usual) {
            const Instant end = job.since + *usual > now_ ? job.since + *usual : now_ + (now_ - job.since);
            return std::max(now_, std::min(end, job.ends_by.value_or(Instant::max())));
        }
        if (job.ends_by) return std::max(now_, *job.ends_by);
        return std::nullopt;
    }

    bool nobody_waits() const { return scheduler_.queue(ask_.pool).empty(); }

    Scheduler scheduler_;
    const ForecastAsk& ask_;
    Instant now_;
    bool complete_ = false;
    bool has_target_ = false;  // its pool has somebody who waits here too
    bool placed_ = false;
    std::int64_t invented_ = 0;
    std::int64_t order_ = 0;
    std::priority_queue<Planned> planned_;
};

}  // namespace

Forecast forecast_start(const Scheduler& scheduler, const ForecastAsk& ask, Instant now) {
    return Future(scheduler, ask, now).run();
}

}  // namespace lavant::schedule
