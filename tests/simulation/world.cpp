#include "tests/simulation/world.h"

#include <cstdio>

namespace lavant::simulation {

using namespace std::chrono_literals;

int Nemeses::count() const {
    return kill_server + kill_agents + lose_nodes + bad_network + partitions + bad_commits + bad_provider +
           clock_jumps + suspends;
}

Nemeses draw_nemeses(std::mt19937_64& random) {
    Nemeses drawn;
    while (drawn.count() < 3) {
        auto flip = [&] { return random() % 2 == 0; };
        drawn = {flip(), flip(), flip(), flip(), flip(), flip(), flip(), flip(), flip()};
    }
    return drawn;
}

std::string describe(const Nemeses& nemeses) {
    std::string text;
    auto add = [&](bool on, const char* name) { text += on ? std::string(" ") + name : ""; };
    add(nemeses.kill_server, "kill_server");
    add(nemeses.kill_agents, "kill_agents");
    add(nemeses.lose_nodes, "lose_nodes");
    add(nemeses.bad_network, "bad_network");
    add(nemeses.partitions, "partitions");
    add(nemeses.bad_commits, "bad_commits");
    add(nemeses.bad_provider, "bad_provider");
    add(nemeses.clock_jumps, "clock_jumps");
    add(nemeses.suspends, "suspends");
    return text;
}

World::World(std::uint64_t seed, bool verbose)
    : random_(seed), verbose_(verbose), nemeses_(draw_nemeses(random_)) {}

Report World::run() {
    note("nemeses:" + describe(nemeses_));
    plan_workload();
    plan_computes();
    plan_nemeses();
    start_server();
    const Instant peace = born_ + 1h;
    const Instant end = born_ + 6h;
    while (!planned_.empty() && report_.failures.empty()) {
        if (nemeses_on_ && planned_.top().at > peace) {
            now_ = peace;
            nemeses_on_ = false;
            note("the nemeses stop");
            if (!loop_) start_server();
        }
        Planned next = planned_.top();
        planned_.pop();
        if (next.at > end) break;
        now_ = next.at;
        next.what();
        ++report_.steps;
    }
    if (report_.failures.empty()) check_end();
    report_.hash ^= random_();  // The generator's state is part of what happened.
    report_.jobs = asked_.size();
    return report_;
}

void World::after(Duration delay, std::function<void()> what) {
    planned_.push({now_ + delay, ++order_, std::move(what)});
}

std::int64_t World::upto(std::int64_t max) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(max + 1));
}

bool World::chance(int percent) { return upto(99) < percent; }

Duration World::between(Duration least, Duration most) {
    return least + Duration{upto((most - least).count())};
}

void World::note(const std::string& line) {
    for (const char c : line)
        report_.hash = (report_.hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
    report_.hash ^= static_cast<std::uint64_t>(to_micros(now_));
    if (!verbose_) return;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - born_).count();
    std::printf("%8lld.%03lld %s\n", static_cast<long long>(passed / 1000),
                static_cast<long long>(passed % 1000), line.c_str());
}

void World::fail(const std::string& what) {
    note("FAILED: " + what);
    report_.failures.push_back(what);
}

}  // namespace lavant::simulation
