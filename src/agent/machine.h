#pragma once
// The agent's task machine: events in, actions out. Pure: no I/O, clock, threads or randomness, so that the
// simulation drives this very class. protocol/agent.md tells the rules in words.
//
//   Assigned -> Preparing -> Launching -> Running -> Finalizing -> Ended -> (forgotten)

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "core/model/messages.h"
#include "ports/sandbox.h"

namespace lavant::agent {

enum class Link { Control, Bulk };

// --- events ---

// A task whose command was launched by an earlier agent process. The runtime says Exited if it is over.
struct RecoveredTask {
    TaskRef task;
    Instant running_since{};
    Duration timeout{};             // zero: none
    std::uint64_t log_bytes = 0;    // length of its log stream
    std::uint64_t log_durable = 0;  // of which surely safe
};
struct Started {
    std::vector<RecoveredTask> tasks;
    std::optional<Instant>
        heard_at;  // what the earlier process knew: when it said what the server answered last
};
struct LinkUp {
    Link link = Link::Control;
};
struct LinkDown {
    Link link = Link::Control;
};
struct Refused {};  // the server does not know this node any more
struct FromServer {
    ToAgent message;
};
struct PrepareProblem {
    std::string error_code;  // of JobError
    std::string message;
};
struct Prepared {
    TaskRef task;
    std::optional<PrepareProblem> problem;
    Duration timeout{};           // of the launch, zero: none
    std::uint64_t log_bytes = 0;  // preparing writes into the log too
};
struct Launched {
    TaskRef task;
};
struct LaunchFailed {
    TaskRef task;
    std::string message;
    std::uint64_t log_bytes = 0;
};
struct Exited {
    TaskRef task;
    ports::TaskExit exit;
    std::string message;  // what the log tells, if anything
    std::string traceback_line;
    std::uint64_t log_bytes = 0;  // final
    std::string log;              // all of it, if it is short enough to go with the report
    bool has_files = false;       // something is to be staged
};
struct LogGrew {
    TaskRef task;
    std::uint64_t log_bytes = 0;  // length of the stream now
};
struct OutputsStaged {
    TaskRef task;
    bool any = false;
    std::string problem;  // "" if all is staged; only what a repetition would not mend
};
struct Tick {};

using Event = std::variant<Started, LinkUp, LinkDown, Refused, FromServer, Prepared, Launched, LaunchFailed,
                           Exited, LogGrew, OutputsStaged, Tick>;

// --- actions, to be carried out in their order ---

struct Say {
    FromAgent message;  // on the control link; lost if that is down
};
struct Prepare {
    StartTask start;
};
struct CancelPrepare {  // no Prepared is awaited any more
    TaskRef task;
};
struct Launch {
    TaskRef task;
};
struct Signal {
    TaskRef task;
    int number = 0;
};
struct Kill {  // every process of the task, at once; Exited follows
    TaskRef task;
};
struct SendLog {  // bytes [from, to) of the stream, on the bulk link
    TaskRef task;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};
struct KeepLog {  // all before `durable` is safe at the server
    TaskRef task;
    std::uint64_t durable = 0;
};
struct StageOutputs {
    TaskRef task;
};
struct Forget {  // its spool, and whatever is still under way for it
    TaskRef task;
};
struct Leave {};

using Action = std::variant<Say, Prepare, CancelPrepare, Launch, Signal, Kill, SendLog, KeepLog, StageOutputs,
                            Forget, Leave>;

struct MachineSettings {
    Duration lease = std::chrono::seconds(600);     // until the first Welcome
    Duration heartbeat = std::chrono::seconds(10);  // likewise
    // A command that ends within this time is reported once, with its end.
    Duration report_delay = std::chrono::milliseconds(10);
    Duration timeout_grace = std::chrono::seconds(10);
    Duration kill_again = std::chrono::seconds(10);
    // Agent and server on one machine are suspended together: what the lease still gets after a jump of the
    // clock.
    Duration wake_grace{};
    // Without tasks and without a link for so long: nobody will come to release this node.
    Duration abandoned = std::chrono::hours(2);
    std::uint64_t log_window_bytes = 4U << 20;  // sent and not yet durable, per task
    std::size_t tasks_max = 1024;
};

class Machine {
 public:
    Machine(Hello identity, MachineSettings settings);

    [[nodiscard]] std::vector<Action> step(const Event& event, Instant now);
    // When a Tick is due; nullopt: nothing waits for time.
    std::optional<Instant> next_wake() const;

    bool has_left() const { return left_; }
    Instant heard_at() const { return heard_at_; }  // for Started of the next process
    std::vector<TaskReport> inventory() const;
    bool ends_by_itself(TaskRef task) const;  // nobody stopped it; a time-out is an end of its own

 private:
    enum class Phase { Assigned, Preparing, Launching, Running, Finalizing, Ended };

    struct Held {
        TaskRef ref;
        StartTask start;  // until it is handed to Prepare
        Phase phase = Phase::Assigned;
        Instant since{};  // of the phase
        Instant running_since{};
        Duration timeout{};
        std::optional<EndReason> wanted_end;  // why we stop it; the first reason stays
        std::optional<Instant> kill_at;
        bool killed = false;
        bool unwanted = false;  // the server forgot it: no report, gone once dead
        std::uint64_t log_bytes = 0;
        std::uint64_t log_sent = 0;
        std::uint64_t log_durable = 0;
        std::uint64_t beat_sent = 0;  // the two above at the last heartbeat
        std::uint64_t beat_durable = 0;
        bool alone = false;          // the only task of a first attempt: nobody else writes its log
        bool log_in_report = false;  // the end brings it along: it is not sent by itself
        bool staging = false;
        TaskEnd end;
        Instant said_at{};
        std::optional<Instant> report_at;  // a report that waits, in case the end follows at once
    };

    void on(const Started& event);
    void on(const LinkUp& event);
    void on(const LinkDown& event);
    void on(const Refused& event);
    void on(const FromServer& event);
    void on(const Prepared& event);
    void on(const Launched& event);
    void on(const LaunchFailed& event);
    void on(const Exited& event);
    void on(const LogGrew& event);
    void on(const OutputsStaged& event);
    void on(const Tick& event);

    void hear(const Welcome& message);
    void hear(const StartTask& message);
    void hear(const StopTask& message);
    void hear(const ForgetTask& message);
    void hear(const LogDurable& message);
    void hear(const ReleaseNode& message);

    Held* find(TaskRef task);
    bool is_stale(TaskRef task) const;
    void begin_waiting(JobId job);
    void enter(Held& held, Phase phase);
    void stop(Held& held, EndReason why, Duration grace);
    void kill(Held& held);
    void forget(Held& held);
    void erase(TaskRef task);
    void finish(Held& held, TaskEnd end, std::uint64_t log_bytes);
    void end_if_safe(Held& held);
    void ship(Held& held);
    void say(FromAgent message);
    void report(Held& held);
    void leave();
    void watch_jump(Instant now);
    void watch_lease();
    void watch_abandonment();
    void watch_tasks();
    void beat();
    void repeat_unanswered(Held& held);
    std::vector<TaskRef> refs() const;
    static bool is_live(const Held& held);  // it has or may have processes
    static bool may_time_out(const Held& held);
    TaskReport report_of(const Held& held) const;
    TaskEnd end_of(const Held& held, const Exited& event) const;

    Hello identity_;
    MachineSettings settings_;
    std::map<TaskRef, Held> tasks_;
    std::set<TaskRef> forgotten_;  // the latest ones: a late StartTask must not wake them
    std::deque<TaskRef> forgotten_order_;
    bool control_up_ = false;
    bool bulk_up_ = false;
    bool left_ = false;
    Instant now_{};
    Instant heard_at_{};     // when we said the newest thing that the server answered
    Instant alone_since_{};  // without a control link
    Instant hello_at_{};
    Instant beat_at_{};  // when the next heartbeat is due
    std::int64_t last_beat_ = 0;
    std::deque<std::pair<std::int64_t, Instant>> beats_;  // said and not answered
    std::vector<Action> actions_;
};

}  // namespace lavant::agent
