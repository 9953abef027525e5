#pragma once
// What the tests of the task machine share.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "agent/machine.h"

namespace lavant::agent {

using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr TaskRef kTask{{7}, 1, 0};
inline constexpr TaskRef kNext{{7}, 2, 0};

template <class T>
std::vector<T> all_of(const std::vector<Action>& actions) {
    std::vector<T> found;
    for (const Action& action : actions) {
        if (const T* one = std::get_if<T>(&action)) found.push_back(*one);
    }
    return found;
}

inline std::vector<TaskReport> reports_in(const std::vector<Action>& actions) {
    std::vector<TaskReport> found;
    for (const Say& say : all_of<Say>(actions)) {
        if (const auto* report = std::get_if<TaskReport>(&say.message)) found.push_back(*report);
    }
    return found;
}

inline std::vector<Hello> hellos_in(const std::vector<Action>& actions) {
    std::vector<Hello> found;
    for (const Say& say : all_of<Say>(actions)) {
        if (const auto* hello = std::get_if<Hello>(&say.message)) found.push_back(*hello);
    }
    return found;
}

// A machine under test with a clock that only moves when told.
class Rig {
 public:
    // Reports at once, unless told otherwise.
    explicit Rig(MachineSettings settings = {.report_delay = Duration::zero()})
        : machine_(Hello{.node = {3}, .boot = "b"}, settings) {
        step(Started{});
        step(LinkUp{Link::Control});
        step(LinkUp{Link::Bulk});
        hear(Welcome{.lease_micros = 600'000'000, .heartbeat_micros = 10'000'000});
    }

    std::vector<Action> step(const Event& event) { return machine_.step(event, now_); }
    std::vector<Action> hear(ToAgent message) { return step(FromServer{std::move(message)}); }
    std::vector<Action> after(Duration length) {
        now_ += length;
        return step(Tick{});
    }
    // As after(), but with every due tick on the way; heartbeats are answered.
    std::vector<Action> live(Duration length) {
        const Instant end = now_ + length;
        std::vector<Action> all;
        while (true) {
            const std::optional<Instant> wake = machine_.next_wake();
            if (!wake || *wake > end) break;
            now_ = std::max(now_, *wake);
            for (Action& action : step(Tick{})) {
                if (const auto* say = std::get_if<Say>(&action)) {
                    if (const auto* beat = std::get_if<Heartbeat>(&say->message))
                        hear(Welcome{.heard = beat->number});
                }
                all.push_back(std::move(action));
            }
        }
        now_ = end;
        return all;
    }
    void run(TaskRef task, Duration timeout = {}) {
        hear(StartTask{.task = task});
        step(Prepared{.task = task, .timeout = timeout});
        step(Launched{task});
    }
    std::vector<Action> exit(TaskRef task, ports::TaskExit how = {.known = true}) {
        return step(Exited{.task = task, .exit = how});
    }
    TaskPhase phase(TaskRef task) const {
        for (const TaskReport& report : machine_.inventory()) {
            if (report.task == task) return report.phase;
        }
        return TaskPhase::Lost;
    }
    Machine& machine() { return machine_; }
    Instant now() const { return now_; }

 private:
    Machine machine_;
    Instant now_ = from_micros(1'000'000'000);
};

}  // namespace lavant::agent
