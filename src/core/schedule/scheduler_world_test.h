#pragma once
// Drives a scheduler as an owner does, and remembers what it decided.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/scheduler.h"

namespace lavant::schedule {

using namespace std::chrono_literals;

inline constexpr Resources kNode{.cpu_millis = 1000, .memory_bytes = 10};

class World final : public Actions {
 public:
    explicit World(int nodes = 100)
        : scheduler({.capacity = {.cpu_millis = 1000LL * nodes, .memory_bytes = 10LL * nodes, .gpus = 8}},
                    QuotaBook()) {}

    PoolId pool(int nodes_max, Tier tier = Tier::Dedicated, bool packed = false) {
        Pool row{.id = {++pools_}, .key = "p" + std::to_string(pools_), .node_resources = kNode};
        row.nodes_max = nodes_max;
        row.terms = {
            .location = "l", .family = "f", .tier = tier, .vcpus = 1, .node_limit = kNode, .packed = packed};
        if (packed) row.terms.node_limit = {.cpu_millis = 4000, .memory_bytes = 40, .gpus = 0};
        rows[row.id] = row;
        scheduler.put_pool(row);
        return row.id;
    }

    JobId submit(PoolId pool, Ask ask = {}) {
        ask.job = {++jobs_};
        ask.pool = pool;
        ask.since = now;
        if (ask.on_node == Resources{}) ask.on_node = {.cpu_millis = 1000, .memory_bytes = 10};
        asks[ask.job] = ask;
        scheduler.job_waits(ask);
        decide();
        return ask.job;
    }
    void decide() { scheduler.decide(now, *this); }
    // Every node that was asked for is there.
    void start_nodes() {
        for (const NodeId id : std::exchange(requested, {})) scheduler.node_ready(id);
        decide();
    }
    void end(JobId job) {
        for (const NodeId id : placed.at(job)) scheduler.job_leaves(job, id);
        placed.erase(job);
        decide();
    }
    void gone() {
        for (const NodeId id : std::exchange(released, {})) scheduler.node_gone(id);
        for (const NodeId id : std::exchange(preempted, {})) {
            const auto all = placed;
            for (const auto& [job, nodes] : all)
                if (std::ranges::count(nodes, id) > 0) {
                    for (const NodeId one : nodes) scheduler.job_leaves(job, one);
                    placed.erase(job);
                    scheduler.job_waits(asks.at(job));
                }
            scheduler.node_gone(id);
        }
        decide();
    }
    bool runs(JobId job) const { return placed.contains(job); }

    void place(const Ask& ask, const std::vector<NodeId>& nodes) override {
        scheduler.job_placed(ask.pool, turn_of(ask), nodes, now);
        placed[ask.job] = nodes;
    }
    void request(PoolId id) override {
        scheduler.node_added({++nodes_}, id, rows.at(id).node_resources);
        requested.push_back({nodes_});
    }
    void release(NodeId node, const std::string& why) override {
        scheduler.node_leaves(node);
        released.push_back(node);
        reason = why;
    }
    void preempt(NodeId node, const std::string& why) override {
        scheduler.node_leaves(node);
        preempted.push_back(node);
        reason = why;
    }

    Scheduler scheduler;
    Instant now = from_micros(1'000'000'000);
    std::map<PoolId, Pool> rows;
    std::map<JobId, Ask> asks;
    std::map<JobId, std::vector<NodeId>> placed;
    std::vector<NodeId> requested;
    std::vector<NodeId> released;
    std::vector<NodeId> preempted;
    std::string reason;

 private:
    std::int64_t pools_ = 0;
    std::int64_t jobs_ = 0;
    std::int64_t nodes_ = 0;
};

}  // namespace lavant::schedule
