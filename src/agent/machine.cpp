#include "agent/machine.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/check.h"

namespace lavant::agent {
namespace {

constexpr std::size_t kForgottenMax = 4096;
constexpr std::size_t kBeatsMax = 64;
constexpr Duration kJump = std::chrono::seconds(5);

bool looks_stopped(const ports::TaskExit& exit) {
    return exit.signal == SIGTERM || exit.signal == SIGKILL || exit.exit_code == 128 + SIGTERM ||
           exit.exit_code == 128 + SIGKILL;
}

}  // namespace

Machine::Machine(Hello identity, MachineSettings settings)
    : identity_(std::move(identity)), settings_(settings) {}

std::vector<Action> Machine::step(const Event& event, Instant now) {
    if (left_) return {};
    actions_.clear();
    watch_jump(now);
    now_ = now;
    std::visit([this](const auto& known) { on(known); }, event);
    if (!left_) {
        watch_lease();
        watch_tasks();
        beat();
        watch_abandonment();
    }
    return std::exchange(actions_, {});
}

std::optional<Instant> Machine::next_wake() const {
    if (left_) return std::nullopt;
    std::optional<Instant> wake;
    auto consider = [&wake](Instant at) { wake = wake ? std::min(*wake, at) : at; };
    if (control_up_) consider(beat_at_);
    if (!control_up_ && tasks_.empty()) consider(alone_since_ + settings_.abandoned);
    for (const auto& [ref, held] : tasks_) {
        if (!is_live(held)) continue;
        const bool doomed = held.killed || (held.kill_at && *held.kill_at <= now_);
        if (!doomed) consider(heard_at_ + settings_.lease);
        if (held.phase != Phase::Running) continue;
        if (held.kill_at) consider(*held.kill_at);
        if (held.report_at) consider(*held.report_at);
        if (may_time_out(held)) consider(held.running_since + held.timeout);
    }
    return wake;
}

std::vector<TaskReport> Machine::inventory() const {
    std::vector<TaskReport> reports;
    reports.reserve(tasks_.size());
    for (const auto& [ref, held] : tasks_) reports.push_back(report_of(held));
    return reports;
}

bool Machine::ends_by_itself(TaskRef task) const {
    const auto found = tasks_.find(task);
    if (found == tasks_.end() || found->second.unwanted) return false;
    const std::optional<EndReason>& wanted = found->second.wanted_end;
    return !wanted || *wanted == EndReason::Timeout;
}

// --- events ---

void Machine::on(const Started& event) {
    alone_since_ = now_;
    heard_at_ = event.heard_at ? std::min(*event.heard_at, now_) : now_;
    for (const RecoveredTask& recovered : event.tasks) {
        Held held;
        held.ref = recovered.task;
        held.phase = Phase::Running;
        held.since = held.running_since = recovered.running_since;
        held.timeout = recovered.timeout;
        held.log_bytes = recovered.log_bytes;
        held.log_sent = held.log_durable = std::min(recovered.log_durable, recovered.log_bytes);
        tasks_.emplace(recovered.task, std::move(held));
    }
}

void Machine::on(const LinkUp& event) {
    if (event.link == Link::Bulk) {
        bulk_up_ = true;
        for (auto& [ref, held] : tasks_) {
            held.log_sent = held.beat_sent = held.log_durable;
            ship(held);
        }
        return;
    }
    control_up_ = true;
    hello_at_ = now_;
    beat_at_ = now_ + settings_.heartbeat;
    beats_.clear();
    Hello hello = identity_;
    hello.tasks = inventory();
    for (auto& [ref, held] : tasks_) held.said_at = now_;
    say(std::move(hello));
}

void Machine::on(const LinkDown& event) {
    if (event.link == Link::Control && control_up_) alone_since_ = now_;
    (event.link == Link::Control ? control_up_ : bulk_up_) = false;
}

void Machine::on(const Refused&) { leave(); }

void Machine::on(const FromServer& event) {
    // Whatever comes down a control link answers its Hello; the bulk link proves nothing of the kind.
    if (control_up_ && !std::holds_alternative<LogDurable>(event.message))
        heard_at_ = std::max(heard_at_, hello_at_);
    std::visit([this](const auto& known) { hear(known); }, event.message);
}

void Machine::on(const Prepared& event) {
    Held* held = find(event.task);
    if (held == nullptr || held->phase != Phase::Preparing) return;
    held->timeout = event.timeout;
    held->log_bytes = std::max(held->log_bytes, event.log_bytes);
    if (event.problem) {
        finish(*held,
               {.reason = EndReason::PrepareFailed,
                .error_code = event.problem->error_code,
                .message = event.problem->message},
               event.log_bytes);
        return;
    }
    held->phase = Phase::Launching;
    actions_.push_back(Launch{held->ref});
    ship(*held);
}

void Machine::on(const Launched& event) {
    Held* held = find(event.task);
    if (held == nullptr || held->phase != Phase::Launching) return;
    enter(*held, Phase::Running);
    held->running_since = now_;
    if (held->unwanted) return;
    held->report_at = now_ + settings_.report_delay;
    if (held->wanted_end && held->kill_at > now_) actions_.push_back(Signal{held->ref, SIGTERM});
}

void Machine::on(const LaunchFailed& event) {
    Held* held = find(event.task);
    if (held == nullptr || held->phase != Phase::Launching) return;
    if (held->unwanted) return erase(held->ref);
    TaskEnd end{.reason = EndReason::PrepareFailed, .error_code = "SystemError", .message = event.message};
    if (held->wanted_end) end = {.reason = *held->wanted_end};
    finish(*held, std::move(end), event.log_bytes);
}

void Machine::on(const Exited& event) {
    Held* held = find(event.task);
    if (held == nullptr || (held->phase != Phase::Running && held->phase != Phase::Launching)) return;
    if (held->unwanted) return erase(held->ref);
    held->staging = event.has_files;
    if (event.has_files) actions_.push_back(StageOutputs{held->ref});
    held->log_in_report = held->alone && held->log_sent == 0 && !event.has_files && !event.log.empty() &&
                          event.log.size() == event.log_bytes;
    finish(*held, end_of(*held, event), event.log_bytes);
    // With nothing to stage the end is a moment away: one report serves for both.
    if (held->staging) report(*held);
}

void Machine::on(const LogGrew& event) {
    Held* held = find(event.task);
    if (held == nullptr || held->phase == Phase::Finalizing || held->phase == Phase::Ended) return;
    held->log_bytes = std::max(held->log_bytes, event.log_bytes);
    ship(*held);
}

void Machine::on(const OutputsStaged& event) {
    Held* held = find(event.task);
    if (held == nullptr || held->phase != Phase::Finalizing || !held->staging) return;
    held->staging = false;
    held->end.has_outputs = event.any;
    if (!event.problem.empty()) {
        if (held->end.succeeded()) {
            held->end.reason = EndReason::PrepareFailed;
            held->end.error_code = "SystemError";
        }
        held->end.message += (held->end.message.empty() ? "" : "; ") + event.problem;
    }
    end_if_safe(*held);
}

void Machine::on(const Tick&) {}

// --- messages ---

void Machine::hear(const Welcome& message) {
    if (message.lease_micros > 0) settings_.lease = Duration(message.lease_micros);
    if (message.heartbeat_micros > 0) {
        settings_.heartbeat = Duration(message.heartbeat_micros);
        beat_at_ = std::min(beat_at_, now_ + settings_.heartbeat);
    }
    while (!beats_.empty() && beats_.front().first <= message.heard) {
        heard_at_ = std::max(heard_at_, beats_.front().second);
        beats_.pop_front();
    }
}

void Machine::hear(const StartTask& message) {
    if (find(message.task) != nullptr || is_stale(message.task)) return;
    const bool full = tasks_.size() >= settings_.tasks_max;
    Held& held = tasks_[message.task];
    held.ref = message.task;
    held.since = now_;
    if (full) {
        return finish(held,
                      {.reason = EndReason::PrepareFailed,
                       .error_code = "SystemError",
                       .message = "the node holds as many tasks as it may; use more nodes"},
                      0);
    }
    held.start = message;
    held.alone = message.task.attempt == 1 && is_alone(message);
    // An older attempt of the same job has no business here any more, and must be dead before this one
    // starts.
    for (const TaskRef& ref : refs()) {
        if (ref.job == message.task.job && ref.attempt < message.task.attempt) forget(*find(ref));
    }
    begin_waiting(message.task.job);
}

void Machine::hear(const StopTask& message) {
    Held* held = find(message.task);
    if (held == nullptr) return;
    stop(*held, message.preempted ? EndReason::Preempted : EndReason::Stopped,
         Duration(std::max<std::int64_t>(message.grace_micros, 0)));
}

void Machine::hear(const ForgetTask& message) {
    Held* held = find(message.task);
    if (held != nullptr) forget(*held);
}

void Machine::hear(const LogDurable& message) {
    Held* held = find(message.task);
    if (held == nullptr) return;
    const std::uint64_t durable = std::min(message.bytes, held->log_bytes);
    if (durable <= held->log_durable) return;
    held->log_durable = durable;
    held->log_sent = std::max(held->log_sent, durable);
    actions_.push_back(KeepLog{held->ref, durable});
    ship(*held);
    end_if_safe(*held);
}

void Machine::hear(const ReleaseNode&) { leave(); }

// --- what they lead to ---

Machine::Held* Machine::find(TaskRef task) {
    const auto it = tasks_.find(task);
    return it == tasks_.end() ? nullptr : &it->second;
}

bool Machine::is_stale(TaskRef task) const {
    if (forgotten_.contains(task)) return true;
    const TaskRef newer{task.job, task.attempt + 1, 0};
    const auto held = tasks_.lower_bound(newer);
    if (held != tasks_.end() && held->first.job == task.job) return true;
    const auto gone = forgotten_.lower_bound(newer);
    return gone != forgotten_.end() && gone->job == task.job;
}

bool Machine::is_live(const Held& held) {
    return held.phase == Phase::Preparing || held.phase == Phase::Launching || held.phase == Phase::Running;
}

bool Machine::may_time_out(const Held& held) {
    return held.timeout > Duration::zero() && !held.wanted_end && !held.killed;
}

// Ranks of one attempt run side by side; none begins while one of an older attempt may have processes.
void Machine::begin_waiting(JobId job) {
    std::optional<int> oldest_live;
    for (auto it = tasks_.lower_bound(TaskRef{job, 0, 0}); it != tasks_.end() && it->first.job == job; ++it) {
        Held& held = it->second;
        const int attempt = it->first.attempt;
        const bool older_lives = oldest_live && *oldest_live < attempt;
        if (is_live(held)) oldest_live = oldest_live.value_or(attempt);
        if (older_lives || held.phase != Phase::Assigned) continue;
        oldest_live = oldest_live.value_or(attempt);
        // Not reported: the server takes an assigned task for one that is prepared.
        enter(held, Phase::Preparing);
        actions_.push_back(Prepare{std::exchange(held.start, {})});
    }
}

void Machine::enter(Held& held, Phase phase) {
    held.phase = phase;
    held.since = now_;
}

void Machine::stop(Held& held, EndReason why, Duration grace) {
    switch (held.phase) {
        case Phase::Assigned:
        case Phase::Preparing:
            if (held.phase == Phase::Preparing) actions_.push_back(CancelPrepare{held.ref});
            return finish(held, {.reason = why}, held.log_bytes);
        case Phase::Launching:
        case Phase::Running:
            if (held.killed) return;
            held.kill_at = held.kill_at ? std::min(*held.kill_at, now_ + grace) : now_ + grace;
            if (held.wanted_end) return;
            held.wanted_end = why;
            if (held.phase == Phase::Running && grace > Duration::zero())
                actions_.push_back(Signal{held.ref, SIGTERM});
            return;
        case Phase::Finalizing:
        case Phase::Ended:
            return;
    }
}

void Machine::kill(Held& held) {
    actions_.push_back(Kill{held.ref});
    held.killed = true;
    held.kill_at = now_ + settings_.kill_again;
}

void Machine::forget(Held& held) {
    switch (held.phase) {
        case Phase::Preparing:
            actions_.push_back(CancelPrepare{held.ref});
            return erase(held.ref);
        case Phase::Launching:
        case Phase::Running:
            held.unwanted = true;
            if (!held.killed) held.kill_at = now_;
            return;
        case Phase::Assigned:
        case Phase::Finalizing:
        case Phase::Ended:
            return erase(held.ref);
    }
}

void Machine::erase(TaskRef task) {
    actions_.push_back(Forget{task});
    tasks_.erase(task);
    if (forgotten_.insert(task).second) forgotten_order_.push_back(task);
    if (forgotten_order_.size() > kForgottenMax) {
        forgotten_.erase(forgotten_order_.front());
        forgotten_order_.pop_front();
    }
    begin_waiting(task.job);
}

void Machine::finish(Held& held, TaskEnd end, std::uint64_t log_bytes) {
    enter(held, Phase::Finalizing);
    held.end = std::move(end);
    held.start = {};
    held.log_bytes = std::max(held.log_bytes, log_bytes);
    ship(held);
    end_if_safe(held);
}

void Machine::end_if_safe(Held& held) {
    const bool log_is_safe = held.log_in_report || held.log_durable >= held.log_bytes;
    if (held.phase != Phase::Finalizing || held.staging || !log_is_safe) return;
    enter(held, Phase::Ended);
    report(held);
}

void Machine::ship(Held& held) {
    const std::uint64_t to = std::min(held.log_bytes, held.log_durable + settings_.log_window_bytes);
    if (!bulk_up_ || held.unwanted || held.log_in_report || to <= held.log_sent) return;
    actions_.push_back(SendLog{held.ref, held.log_sent, to});
    held.log_sent = to;
}

void Machine::say(FromAgent message) {
    if (control_up_) actions_.push_back(Say{std::move(message)});
}

void Machine::report(Held& held) {
    held.said_at = now_;
    held.report_at.reset();
    say(report_of(held));
}

void Machine::leave() {
    for (const auto& [ref, held] : tasks_) {
        if (held.phase == Phase::Preparing) actions_.push_back(CancelPrepare{ref});
        if (held.phase == Phase::Launching || held.phase == Phase::Running) actions_.push_back(Kill{ref});
    }
    actions_.push_back(Leave{});
    tasks_.clear();
    left_ = true;
}

void Machine::watch_jump(Instant now) {
    if (settings_.wake_grace <= Duration::zero()) return;
    const std::optional<Instant> due = next_wake();
    if (due && now > *due + kJump)
        heard_at_ = std::max(heard_at_, now - settings_.lease + settings_.wake_grace);
}

void Machine::watch_lease() {
    if (now_ < heard_at_ + settings_.lease) return;
    for (auto& [ref, held] : tasks_) {
        if (is_live(held)) stop(held, EndReason::LeaseExpired, Duration::zero());
    }
}

void Machine::watch_abandonment() {
    if (!control_up_ && tasks_.empty() && now_ >= alone_since_ + settings_.abandoned) leave();
}

void Machine::watch_tasks() {
    for (auto& [ref, held] : tasks_) {
        if (held.phase != Phase::Running) continue;
        if (held.report_at && now_ >= *held.report_at) report(held);
        if (may_time_out(held) && now_ >= held.running_since + held.timeout)
            stop(held, EndReason::Timeout, settings_.timeout_grace);
        if (held.kill_at && now_ >= *held.kill_at) kill(held);
    }
}

void Machine::beat() {
    if (!control_up_ || now_ < beat_at_) return;
    say(Heartbeat{++last_beat_});
    beats_.emplace_back(last_beat_, now_);
    if (beats_.size() > kBeatsMax) beats_.pop_front();
    beat_at_ = now_ + settings_.heartbeat;
    for (auto& [ref, held] : tasks_) repeat_unanswered(held);
}

// What has had no answer for a whole heartbeat is said once more: the receiver takes repetitions well.
void Machine::repeat_unanswered(Held& held) {
    if (held.phase == Phase::Ended && held.said_at + settings_.heartbeat <= now_) report(held);
    if (bulk_up_ && held.beat_sent > held.log_durable && held.beat_durable == held.log_durable) {
        held.log_sent = held.log_durable;
        ship(held);
    }
    held.beat_sent = held.log_sent;
    held.beat_durable = held.log_durable;
}

std::vector<TaskRef> Machine::refs() const {
    std::vector<TaskRef> all;
    all.reserve(tasks_.size());
    for (const auto& [ref, held] : tasks_) all.push_back(ref);
    return all;
}

TaskReport Machine::report_of(const Held& held) const {
    TaskReport report{.task = held.ref, .at_micros = to_micros(held.since)};
    if (held.running_since != Instant{})
        report.ran_micros = std::max<std::int64_t>((now_ - held.running_since).count(), 1);
    switch (held.phase) {
        case Phase::Assigned:
            report.phase = TaskPhase::Assigned;
            break;
        case Phase::Preparing:
        case Phase::Launching:
            report.phase = TaskPhase::Preparing;
            break;
        case Phase::Running:
            report.phase = TaskPhase::Running;
            break;
        case Phase::Finalizing:
            report.phase = TaskPhase::Finalizing;
            break;
        case Phase::Ended:
            report.phase = TaskPhase::Ended;
            report.end = held.end;
            break;
    }
    return report;
}

TaskEnd Machine::end_of(const Held& held, const Exited& event) const {
    TaskEnd end{.exit_code = event.exit.exit_code,
                .signal = event.exit.signal,
                .message = event.message,
                .traceback_line = event.traceback_line,
                .log = held.log_in_report ? event.log : "",
                .usage = event.exit.usage};
    // An agent that was killed between its signal and the exit has lost its reason; the run time tells it.
    const bool overran = held.timeout > Duration::zero() && looks_stopped(event.exit) &&
                         Duration(event.exit.usage.wall_micros) >= held.timeout;
    // One that comes to its end in the grace of a preemption has done its work: nothing is left to try again.
    const bool finished = held.wanted_end == EndReason::Preempted && event.exit.known &&
                          event.exit.exit_code == 0 && event.exit.signal == 0;
    if (held.wanted_end && !finished) {
        end.reason = *held.wanted_end;
    } else if (!event.exit.known) {
        end.reason = EndReason::NodeLost;
        if (end.message.empty())
            end.message = "the command and its supervisor vanished, probably with the machine";
    } else if (event.exit.out_of_memory) {
        end.reason = EndReason::OutOfMemory;
    } else if (overran) {
        end.reason = EndReason::Timeout;
    } else {
        end.reason = event.exit.signal != 0 ? EndReason::Signaled : EndReason::Exited;
    }
    return end;
}

}  // namespace lavant::agent
