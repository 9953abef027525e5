// What users do, and what befalls them.

#include "tests/simulation/world.h"

namespace lavant::simulation {

using namespace std::chrono_literals;

void World::plan_workload() {
    const std::int64_t jobs = 30 + upto(15);
    for (std::int64_t i = 0; i < jobs; ++i) {
        asked_.push_back(
            {.name = "job" + std::to_string(i), .instances = chance(15) ? 2 + static_cast<int>(upto(1)) : 1});
        const auto index = static_cast<std::size_t>(i);
        const Duration when = between(0s, 40min);
        after(when, [this, index] { submit(index); });
        if (chance(15)) after(when + between(0s, 5min), [this, index] { cancel(index); });
        if (chance(30)) {
            const bool again = chance(50);
            after(when + between(0s, 30min), [this, index, again] { remove(index, again); });
        }
    }
}

// A client that gets no answer asks again under the same name.
void World::submit(std::size_t index) {
    Asked& asked = asked_[index];
    if (asked.acknowledged) return;
    Job job;
    job.head.workspace = "w";
    job.head.name = asked.name;
    job.head.instances = asked.instances;
    job.head.priority = index % 7 == 0 ? 1 : 0;
    job.head.retry.retries_max = 1000;
    if (index % 11 == 0) job.head.retry.retries_max = 1;
    if (index % 3 == 0) job.head.retry.on_exit_codes = {1};
    job.body.launch = "launch of " + asked.name;
    job.head.demand.user = "user" + std::to_string(index % 3);
    if (index % 5 == 0) job.head.demand.processes = 2;
    if (index % 2 == 0) job.head.demand.bound = 30min;
    Pool pool = pool_of(index);
    post(plane::SubmitJob{.ticket = 0, .job = std::move(job), .pool = std::move(pool), .stored = {}},
         [this, index](const Result<app::Answer>& answer) {
             if (!dying_ && answer) asked_[index].acknowledged = true;
         });
    after(20s, [this, index] { submit(index); });
}

void World::cancel(std::size_t index) {
    if (asked_[index].cancel_acknowledged) return;
    post(
        plane::CancelJob{
            .ticket = 0, .workspace = "w", .name = asked_[index].name, .who = "user", .stored = {}},
        [this, index](const Result<app::Answer>& answer) {
            if (!dying_ && answer) asked_[index].cancel_acknowledged = true;
        });
}

// Asks until the job is gone. Whoever asked may submit another one under the same name at once.
void World::remove(std::size_t index, bool submit_again) {
    const auto gone = [this, index, submit_again] {
        if (asked_[index].deleted || !asked_[index].acknowledged) return;
        asked_[index].deleted = !submit_again;
        if (!submit_again) return;
        asked_[index].acknowledged = asked_[index].cancel_acknowledged = false;
        submit(index);
    };
    auto done = std::make_shared<bool>(false);
    if (asked_[index].acknowledged)
        post(
            plane::DeleteJob{
                .ticket = 0, .workspace = "w", .name = asked_[index].name, .who = "user", .stored = {}},
            [this, done, gone](const Result<app::Answer>& answer) {
                if (dying_ || (!answer && answer.error().code != ErrorCode::NotFound)) return;
                *done = true;
                gone();
            });
    after(45s, [this, index, submit_again, done] {
        if (!*done) remove(index, submit_again);
    });
}

void World::plan_nemeses() {
    after(between(5s, 90s), [this] {
        if (!nemeses_on_) return;
        strike();
        plan_nemeses();
    });
}

void World::strike() {
    if (nemeses_.kill_server && chance(20)) kill_server();
    std::vector<NodeId> ids;
    for (const auto& [id, node] : nodes_)
        if (node->machine_up) ids.push_back(id);
    if (ids.empty()) return;
    SimNode& node = *nodes_.at(ids[static_cast<std::size_t>(upto(std::ssize(ids) - 1))]);
    const NodeId id = node.id;
    auto later = [this, id](Duration delay, std::function<void(SimNode&)> what) {
        after(delay, [this, id, what] {
            const auto found = nodes_.find(id);
            if (found != nodes_.end()) what(*found->second);
        });
    };
    // One that dies where nobody can start it again leaves its tasks to themselves: no lease holds there.
    if (nemeses_.kill_agents && chance(30) && !node.suspended && !node.out_of_reach) kill_agent(node);
    if (nemeses_.clock_jumps && chance(10)) node.clock_ahead += between(1s, 20min);
    if (nemeses_.partitions && chance(30) && !node.partitioned) {
        note(to_string(id) + " is cut off");
        node.partitioned = true;
        node.out_of_reach = node.agent && nemeses_.bad_provider && chance(50);
        const std::uint64_t link = node.link;
        later(between(0s, 30s), [this, link](SimNode& cut) { disconnect(cut, link); });
        const bool beyond_two_leases = node.out_of_reach && chance(30);
        const Duration length = beyond_two_leases ? between(20min, 40min)
                                : chance(80)      ? between(1s, 3min)
                                                  : between(3min, 20min);
        later(length, [](SimNode& healed) { healed.partitioned = healed.out_of_reach = false; });
    }
    if (nemeses_.suspends && chance(15) && !node.suspended) {
        note(to_string(id) + " is suspended");
        node.suspended = true;
        const std::uint64_t link = node.link;
        later(between(1s, 60s), [this, link](SimNode& cut) { disconnect(cut, link); });
        later(between(5s, 15min), [this](SimNode& woken) {
            woken.suspended = false;
            note(to_string(woken.id) + " wakes");
            if (woken.agent) feed(woken, agent::Tick{});
            for (const auto& what : std::exchange(woken.held_back, {})) what();
        });
    }
    if (nemeses_.lose_nodes && chance(15) && !node.suspended) {
        note(to_string(id) + " is rebooted");
        kill_agent(node);
        for (auto& [ref, process] : node.spool) process.dead = true;
        node.spool.clear();  // the agent empties the spool of another boot
        node.heard_at.reset();
        ++node.machine_boot;
    }
    if (nemeses_.lose_nodes && chance(15)) {
        note(to_string(id) + " burns down");
        kill_agent(node);
        node.machine_up = false;
        node.suspended = false;
        for (auto& [ref, process] : node.spool) process.dead = true;
    }
}

}  // namespace lavant::simulation
