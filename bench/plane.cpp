// The plane with many nodes and a long queue: how long one change takes to be decided, how long a pass over
// all of it, and what a queued job costs in memory. Prints one JSON object.
//
// plane_bench [NODES] [JOBS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/plane/plane.h"

namespace {

using namespace lavant;
using Steady = std::chrono::steady_clock;

constexpr int kPools = 100;

double micros_since(Steady::time_point start) {
    return std::chrono::duration<double, std::micro>(Steady::now() - start).count();
}

std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    statm >> total >> resident;
    return resident * 4096;
}

class World {
 public:
    World(int nodes, int jobs) : nodes_(nodes), jobs_(jobs), plane_(settings()) {}

    plane::Settings settings() const {
        plane::Settings settings;
        settings.capacity = {.cpu_millis = 1000LL * nodes_, .memory_bytes = 1LL * nodes_};
        settings.quotas.family_cores = settings.quotas.total_cores = nodes_;
        return settings;
    }

    // Clusters at their maximum, every node busy, and the rest of the jobs in the queues.
    void fill() {
        for (int i = 0; i < kPools; ++i) {
            plane::PutCompute put{.asset = {}, .pool = Pool{}, .is_new = true};
            put.asset.key = {"w", "computes", "c" + std::to_string(i), ""};
            put.pool->size = "s";
            put.pool->node_resources = {.cpu_millis = 1000, .memory_bytes = 1};
            put.pool->nodes_max = nodes_ / kPools;
            put.pool->idle_before_release = std::chrono::minutes(2);
            put.pool->terms = {.location = "l", .family = "f", .vcpus = 1};
            apply(put);
        }
        for (int i = 0; i < nodes_; ++i) submit();
        for (const OutboxEntry& entry : plane_.outbox()) apply(plane::EffectDone{entry.id});
        for (int i = 1; i <= nodes_; ++i) apply(plane::NodeLinked{{i}, 1, {.node = {i}, .boot = "b"}});
        const std::int64_t before = resident_bytes();
        for (int i = 0; i < jobs_; ++i) submit();
        bytes_per_job_ = static_cast<double>(resident_bytes() - before) / jobs_;
    }

    // A task ends, and the next of the queue gets its node.
    std::vector<double> change(int times) {
        std::vector<double> micros;
        for (int i = 0; i < times; ++i) {
            const TaskRef task{{1 + i}, 1, 0};
            const NodeId node = node_of(task);
            plane::Outcome out;
            const auto start = Steady::now();
            plane_.apply(plane::TaskReported{node, 1, {.task = task, .phase = TaskPhase::Ended}}, now_, out);
            plane_.decide(now_, out);
            micros.push_back(micros_since(start));
            if (out.writes.tasks.size() != 2) std::abort();  // one ended, one began
        }
        std::ranges::sort(micros);
        return micros;
    }

    // Made anew from its rows: everything is looked at.
    double full_pass() {
        const LiveRows rows = plane_.rows();
        plane::Plane anew(settings(), rows, now_);
        plane::Outcome out;
        const auto start = Steady::now();
        anew.decide(now_, out);
        return micros_since(start);
    }

    // Every node comes free at once: as many jobs are placed in one pass.
    double mass_placement() {
        plane::Outcome out;
        const LiveRows rows = plane_.rows();
        for (const Task& task : rows.tasks)
            if (task.phase < TaskPhase::Ended)
                plane_.apply(plane::TaskReported{task.node, 1, {.task = task.ref, .phase = TaskPhase::Ended}},
                             now_, out);
        const auto start = Steady::now();
        plane_.decide(now_, out);
        return micros_since(start);
    }

    double bytes_per_job() const { return bytes_per_job_; }

 private:
    void apply(plane::Event event) {
        plane::Outcome out;
        plane_.apply(event, now_, out);
        plane_.decide(now_, out);
        for (const Task& task : out.writes.tasks)
            placed_.resize(
                std::max<std::size_t>(placed_.size(), 1 + static_cast<std::size_t>(task.ref.job.value)));
        for (const Task& task : out.writes.tasks)
            placed_[static_cast<std::size_t>(task.ref.job.value)] = task.node;
    }
    NodeId node_of(TaskRef task) const { return placed_.at(static_cast<std::size_t>(task.job.value)); }
    void submit() {
        ++submitted_;
        Job job;
        job.head.workspace = "default";
        job.head.name = "brave_garden_" + std::to_string(1'000'000'000 + submitted_);
        job.head.workspace = "w";
        job.head.demand.user = "user" + std::to_string(submitted_ % 50) + "@example.org";
        job.head.demand.bound = submitted_ % 2 == 0 ? Duration(std::chrono::hours(1)) : Duration{};
        Pool pool;
        pool.workspace = "w";
        pool.key = "compute/c" + std::to_string(submitted_ % kPools);
        apply(plane::SubmitJob{.job = std::move(job), .pool = std::move(pool)});
    }

    int nodes_;
    int jobs_;
    plane::Plane plane_;
    Instant now_ = from_micros(1'700'000'000'000'000);
    int submitted_ = 0;
    double bytes_per_job_ = 0;
    std::vector<NodeId> placed_;
};

}  // namespace

int main(int argc, char** argv) {
    const int nodes = argc > 1 ? std::atoi(argv[1]) : 10'000;
    const int jobs = argc > 2 ? std::atoi(argv[2]) : 1'000'000 - nodes;
    World world(nodes, jobs);
    const auto start = Steady::now();
    world.fill();
    const double fill = micros_since(start);
    const std::vector<double> change = world.change(2000);
    const double pass = world.full_pass();
    const double mass = world.mass_placement();
    std::printf(
        "{\"nodes\": %d, \"jobs\": %d, \"fill_s\": %.2f, \"bytes_per_queued_job\": %.0f, "
        "\"change_us_median\": %.1f, \"change_us_p99\": %.1f, \"change_us_max\": %.1f, "
        "\"full_pass_ms\": %.1f, \"place_all_nodes_ms\": %.1f}\n",
        nodes, jobs, fill / 1e6, world.bytes_per_job(), change[change.size() / 2],
        change[change.size() * 99 / 100], change.back(), pass / 1e3, mass / 1e3);
    return 0;
}
