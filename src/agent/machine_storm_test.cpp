// Every event in every order: what must hold whatever happens.

#include <gtest/gtest.h>

#include <random>

#include "agent/machine_rig_test.h"

namespace lavant::agent {
namespace {

class Invariants {
 public:
    void see(const Action& action) {
        if (const auto* prepare = std::get_if<Prepare>(&action)) {
            EXPECT_TRUE(prepared_.insert(prepare->start.task).second) << "prepared twice";
        } else if (const auto* launch = std::get_if<Launch>(&action)) {
            EXPECT_TRUE(prepared_.contains(launch->task));
            EXPECT_TRUE(launched_.insert(launch->task).second) << "launched twice";
            for (const TaskRef& other : running_)
                EXPECT_TRUE(other.job != launch->task.job || other.attempt == launch->task.attempt)
                    << "two attempts at once";
            running_.insert(launch->task);
        } else if (const auto* say = std::get_if<Say>(&action)) {
            if (const auto* report = std::get_if<TaskReport>(&say->message)) see(*report);
        }
    }
    void exited(TaskRef task) { running_.erase(task); }
    void stopped(const StopTask& stop) { (stop.preempted ? preempted_ : stopped_).insert(stop.task); }
    void durable(TaskRef task, std::uint64_t bytes) { durable_[task] = std::max(durable_[task], bytes); }
    void grew(TaskRef task, std::uint64_t bytes) { bytes_[task] = std::max(bytes_[task], bytes); }
    const std::set<TaskRef>& running() const { return running_; }

 private:
    void see(const TaskReport& report) {
        if (report.phase != TaskPhase::Ended) return;
        EXPECT_FALSE(running_.contains(report.task)) << "ended and still running";
        EXPECT_GE(durable_[report.task], bytes_[report.task]) << "ended before its log was safe";
        const EndReason reason = report.end.reason;
        EXPECT_TRUE(reason != EndReason::Preempted || preempted_.contains(report.task));
        EXPECT_TRUE(reason != EndReason::Stopped || stopped_.contains(report.task));
    }
    std::set<TaskRef> prepared_, launched_, running_, preempted_, stopped_;
    std::map<TaskRef, std::uint64_t> durable_, bytes_;
};

class Storm {
 public:
    explicit Storm(std::uint32_t seed) : random_(seed) { give(Started{}); }
    void blow() {
        for (int i = 0; i < 400; ++i) give(any());
    }
    // Once the storm is over, every task must come to its end.
    void calm() {
        for (const Link link : {Link::Control, Link::Bulk}) give(LinkUp{link});
        for (int i = 0; i < 60; ++i) {
            for (const TaskReport& report : machine_.inventory()) {
                const TaskRef task = report.task;
                stop({.task = task});
                give(Prepared{.task = task});
                if (invariants_.running().contains(task)) {
                    give(Launched{task});
                    invariants_.exited(task);
                    give(Exited{.task = task, .exit = {.known = true}});
                }
                give(OutputsStaged{.task = task});
                invariants_.durable(task, 1U << 30);
                give(FromServer{LogDurable{.task = task, .bytes = 1U << 30}});
            }
        }
        for (const TaskReport& report : machine_.inventory()) {
            EXPECT_EQ(report.phase, TaskPhase::Ended);
            give(FromServer{ForgetTask{report.task}});
        }
        EXPECT_TRUE(machine_.inventory().empty());
    }

 private:
    void give(const Event& event) {
        now_ += Duration(random_() % 3'000'000);
        for (const Action& action : machine_.step(event, now_)) invariants_.see(action);
        const std::optional<Instant> wake = machine_.next_wake();
        if (wake && *wake <= now_) {
            for (const Action& action : machine_.step(Tick{}, now_)) invariants_.see(action);
            const std::optional<Instant> again = machine_.next_wake();
            EXPECT_TRUE(!again || *again > now_) << "a tick did not do what it was due for";
        }
    }
    void stop(const StopTask& message) {
        invariants_.stopped(message);
        give(FromServer{message});
    }
    Event any() {
        const TaskRef task{{1 + static_cast<std::int64_t>(random_() % 3)},
                           1 + static_cast<int>(random_() % 3),
                           static_cast<int>(random_() % 2)};
        const std::uint64_t bytes = random_() % 1000;
        switch (random_() % 16) {
            case 0:
                return LinkUp{random_() % 2 == 0 ? Link::Control : Link::Bulk};
            case 1:
                return LinkDown{random_() % 2 == 0 ? Link::Control : Link::Bulk};
            case 2:
            case 3:
                return FromServer{StartTask{.task = task, .processes = 2}};
            case 4:
                return stopped(task);
            case 5:
                return random_() % 4 == 0 ? Event{FromServer{ForgetTask{task}}} : Event{Tick{}};
            case 6:
                invariants_.durable(task, bytes);
                return FromServer{LogDurable{.task = task, .bytes = bytes}};
            case 7:
                return FromServer{Welcome{.heard = std::int64_t(random_() % 100)}};
            case 8:
            case 9:
                return Prepared{.task = task, .timeout = Duration(random_() % 20'000'000)};
            case 10:
            case 11:
                return launched(task);
            case 12:
            case 13:
                return exited(task, bytes);
            case 14:
                return grew(task, bytes);
            default:
                return OutputsStaged{.task = task, .any = random_() % 2 == 0};
        }
    }
    Event stopped(TaskRef task) {
        const StopTask message{.task = task,
                               .grace_micros = std::int64_t(random_() % 9'000'000),
                               .preempted = random_() % 2 == 0};
        invariants_.stopped(message);
        return FromServer{message};
    }
    Event launched(TaskRef task) {
        return invariants_.running().contains(task) ? Event{Launched{task}} : Event{Tick{}};
    }
    Event exited(TaskRef task, std::uint64_t bytes) {
        if (!invariants_.running().contains(task)) return Tick{};
        invariants_.exited(task);
        invariants_.grew(task, bytes);
        return Exited{.task = task,
                      .exit = {.known = true, .exit_code = static_cast<int>(random_() % 2)},
                      .log_bytes = bytes,
                      .has_files = random_() % 2 == 0};
    }
    Event grew(TaskRef task, std::uint64_t bytes) {
        if (!invariants_.running().contains(task)) return Tick{};
        invariants_.grew(task, bytes);
        return LogGrew{task, bytes};
    }

    std::mt19937 random_;
    Machine machine_{Hello{}, {}};
    Invariants invariants_;
    Instant now_ = from_micros(1'000'000'000);
};

TEST(Machine, KeepsItsInvariantsInAnyStorm) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Storm storm(seed);
        storm.blow();
        storm.calm();
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace lavant::agent
