#pragma once
// Drives a plane as the control loop does.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plane/plane.h"

namespace lavant::plane {

using namespace std::chrono_literals;

inline constexpr Resources kNode{.cpu_millis = 1000, .memory_bytes = 10};

// Remembers what came out.
class World {
 public:
    explicit World(int nodes_max = 4) : plane(settings(nodes_max)) {}

    static Settings settings(int nodes) {
        return {.capacity = {.cpu_millis = 1000 * nodes, .memory_bytes = 10 * nodes}};
    }
    Outcome apply(Event event) {
        Outcome out;
        plane.apply(event, now, out);
        plane.decide(now, out);
        for (const HistoryEvent& one : out.writes.events)
            if (one.kind == "job") story[one.subject] += (story[one.subject].empty() ? "" : " ") + one.what;
        for (const JobHead& head : out.writes.jobs_changed) heads[head.name] = head;
        for (const Job& job : out.writes.jobs_added) heads[job.head.name] = job.head;
        return out;
    }
    Outcome submit(const std::string& name, int instances = 1, const std::string& pool = "p") {
        Job job;
        job.head.workspace = "w";
        job.head.name = name;
        job.head.instances = instances;
        job.head.retry = retry;
        return apply(SubmitJob{.ticket = 1,
                               .job = job,
                               .pool = {.workspace = "w",
                                        .key = pool,
                                        .size = "s",
                                        .node_resources = kNode,
                                        .nodes_max = 100,
                                        .idle_before_release = 2min}});
    }
    Outcome tick(Duration passed) {
        now += passed;
        return apply(Tick{});
    }
    Outcome link(int node, std::vector<TaskReport> tasks = {}) {
        link_of[{node}] = links + 1;
        return apply(NodeLinked{{node}, ++links, {.node = {node}, .boot = "b", .tasks = std::move(tasks)}});
    }
    // Carries out StartNode and StopNode at once, and links every started node.
    void carry_out(const Outcome& out) {
        for (const OutboxEntry& entry : out.effects) {
            const Outcome next = apply(EffectDone{entry.id, true, ""});
            carry_out(next);
            if (const auto* start = std::get_if<StartNode>(&entry.effect))
                carry_out(link(static_cast<int>(start->node.value)));
        }
    }
    // What an attempt left is put away, and the next one begins.
    Outcome put_away(Outcome out) {
        while (true) {
            std::optional<std::int64_t> publish;
            for (const OutboxEntry& entry : out.effects)
                if (std::holds_alternative<PublishOutputs>(entry.effect)) publish = entry.id;
            if (!publish) return out;
            out = apply(EffectDone{*publish, true, ""});
        }
    }
    Outcome report(int node, TaskRef task, TaskPhase phase, TaskEnd end = {}) {
        return apply(
            TaskReported{{node}, links_of(node), {.task = task, .phase = phase, .end = std::move(end)}});
    }
    std::uint64_t links_of(int) const { return links; }  // tests with one node use the newest link
    std::string status(const std::string& name) { return std::string(name_of(heads.at(name).status)); }

    Plane plane;
    Instant now = from_micros(1'000'000'000);
    std::uint64_t links = 0;
    std::map<NodeId, std::uint64_t> link_of;
    RetryPolicy retry;
    std::map<std::string, std::string> story;
    std::map<std::string, JobHead> heads;
};

template <class Message>
int count(const Outcome& out) {
    return static_cast<int>(std::ranges::count_if(
        out.sends, [](const Send& send) { return std::holds_alternative<Message>(send.message); }));
}
template <class Kind>
int count_effects(const Outcome& out) {
    return static_cast<int>(std::ranges::count_if(
        out.effects, [](const OutboxEntry& entry) { return std::holds_alternative<Kind>(entry.effect); }));
}

// The first effect of that kind; the test must know that there is one.
template <class Kind>
const OutboxEntry& entry_of(const Outcome& out) {
    return *std::ranges::find_if(
        out.effects, [](const OutboxEntry& entry) { return std::holds_alternative<Kind>(entry.effect); });
}
template <class Kind>
std::int64_t effect_id(const Outcome& out) {
    return entry_of<Kind>(out).id;
}
template <class Kind>
std::optional<Kind> effect_of(const Outcome& out) {
    if (count_effects<Kind>(out) != 1) return std::nullopt;
    return std::get<Kind>(entry_of<Kind>(out).effect);
}

inline const TaskRef kFirst{{1}, 1, 0};

}  // namespace lavant::plane
