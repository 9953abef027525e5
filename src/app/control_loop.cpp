#include "app/control_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/job_warning.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/plane/verdict.h"

namespace lavant::app {
namespace {

constexpr std::size_t kLaunchesKept = 4096;
constexpr Duration kCensusEvery = std::chrono::seconds{1};
constexpr Duration kRebuildPause = std::chrono::seconds{1};
constexpr int kRegistrationTries = 5;  // of a failure that may pass

}  // namespace

ControlLoop::ControlLoop(LoopPorts ports, plane::Settings settings, Upkeep upkeep)
    : ports_(std::move(ports)), settings_(settings), upkeep_(upkeep), plane_(settings) {}

Result<void> ControlLoop::start(Instant now) {
    LAVANT_TRY(const LiveRows rows, ports_.store.load_live());
    plane_ = plane::Plane(settings_, rows, now);
    launches_.clear();
    plan_tidy(now);
    for (const OutboxEntry& entry : plane_.outbox()) ports_.effects.run(entry);
    return {};
}

bool ControlLoop::post(plane::Event event, Callback callback) {
    {
        const std::scoped_lock lock(mutex_);
        // Ends of effects are as many as the outbox has entries, and each is told once: they are always
        // taken.
        if (inbox_.size() >= limits::kInboxEvents && !std::holds_alternative<plane::EffectDone>(event))
            return false;
        if (inbox_.empty()) oldest_at_ = ports_.clock.now();
        inbox_.push_back({std::move(event), std::move(callback)});
        if (inbox_.size() > 1) return true;  // Whoever put the first one has woken the loop.
    }
    arrived_.notify_one();
    return true;
}

std::vector<ControlLoop::Pending> ControlLoop::drain() {
    const std::scoped_lock lock(mutex_);
    if (!inbox_.empty()) stats_.lag_last = ports_.clock.now() - oldest_at_;
    const std::size_t count = std::min(inbox_.size(), limits::kBatchEvents);
    const auto end = inbox_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Pending> batch(std::make_move_iterator(inbox_.begin()), std::make_move_iterator(end));
    inbox_.erase(inbox_.begin(), end);
    return batch;
}

// The plane knows live jobs only; of the others it is told here.
Result<void> ControlLoop::enrich(plane::Event& event) {
    auto look_up = [this](const std::string& workspace, const std::string& name,
                          std::optional<Job>& stored) -> Result<void> {
        LAVANT_TRY(stored,
                   ports_.store.find_job(workspace, name).map_error(in("looking for job '" + name + "'")));
        return {};
    };
    if (auto* submit = std::get_if<plane::SubmitJob>(&event))
        return look_up(submit->job.head.workspace, submit->job.head.name, submit->stored);
    if (auto* cancel = std::get_if<plane::CancelJob>(&event);
        cancel && !plane_.is_live(cancel->workspace, cancel->name))
        return look_up(cancel->workspace, cancel->name, cancel->stored);
    if (auto* edit = std::get_if<plane::EditJob>(&event))
        return look_up(edit->workspace, edit->name, edit->stored);
    if (auto* gone = std::get_if<plane::DeleteJob>(&event))
        return look_up(gone->workspace, gone->name, gone->stored);
    return {};
}

bool ControlLoop::step(Instant now) {
    if (rebuild_at_) {
        if (now >= *rebuild_at_) rebuild(now);
        return !rebuild_at_;
    }
    std::vector<Pending> batch = drain();
    const bool due = plane_.next_wake() && *plane_.next_wake() <= now;
    const bool idle = batch.empty() && !due;
    if (tidy_at_ && now >= (idle ? *tidy_at_ : tidy_by_)) tidy(now);
    if (idle) return false;

    plane::Outcome outcome;
    for (Pending& pending : batch) {
        if (const Result<void> known = enrich(pending.event); !known) {
            if (pending.callback) pending.callback(tl::make_unexpected(known.error()));
            continue;
        }
        if (pending.callback) {
            callbacks_[++last_ticket_] = std::move(pending.callback);
            std::visit(
                [this](auto& event) {
                    if constexpr (requires { event.ticket; }) event.ticket = last_ticket_;
                },
                pending.event);
        }
        plane_.apply(pending.event, now, outcome);
    }
    plane_.decide(now, outcome);

    const Instant before = ports_.clock.now();
    Result<std::vector<bool>> committed = std::vector<bool>{};
    if (const Result<void> registered = register_outputs(outcome); !registered) {
        committed = tl::make_unexpected(registered.error());  // Nothing was stored, as after a failed commit.
    } else if (!outcome.writes.empty()) {
        committed = ports_.store.commit(outcome.writes);
        if (!tidy_at_) plan_tidy(now);
    }
    const Duration took = ports_.clock.now() - before;
    {
        const std::scoped_lock lock(mutex_);
        stats_.events += batch.size();
        ++stats_.batches;
        stats_.commits_failed += committed ? 0U : 1U;
        stats_.commit_total += took;
        stats_.commit_last = took;
        stats_.batch_last = batch.size();
        if (before - census_at_ >= kCensusEvery) {
            stats_.census = plane_.census();
            census_at_ = before;
        }
    }
    finish(outcome, committed, now);
    return true;
}

// After the commit: answer, publish, send, start effects. After a failed one: the plane no longer knows what
// is true.
void ControlLoop::finish(plane::Outcome& outcome, const Result<std::vector<bool>>& committed, Instant now) {
    auto answer = [this](plane::Ticket ticket, Result<Answer> result) {
        const auto found = callbacks_.find(ticket);
        if (found == callbacks_.end()) return;
        const Callback callback = std::move(found->second);
        callbacks_.erase(found);
        callback(std::move(result));
    };
    if (!committed) {
        log(Level::Error, "commit_failed", {{"message", committed.error().message}});
        doubtful_ = outcome.writes.workspaces_removed;
        CHECK(committed.error().code != ErrorCode::Conflict, "the store's rows are as the plane left them");
        const Error error{ErrorCode::Unavailable,
                          "the change could not be stored; try again: " + committed.error().message,
                          {}};
        for (const plane::Reply& reply : outcome.replies) answer(reply.ticket, tl::make_unexpected(error));
        for (const plane::AssetReply& reply : outcome.asset_replies)
            answer(reply.ticket, tl::make_unexpected(error));
        return rebuild(now);
    }
    for (Job& job : outcome.writes.jobs_added) {
        if (launches_.size() >= kLaunchesKept) launches_.erase(launches_.begin());
        launches_[job.head.id] = std::move(job.body.launch);
    }
    for (plane::Send& send : outcome.sends) {
        if (auto* start = std::get_if<StartTask>(&send.message)) {
            // Left unsaid for now: it is said again with the node's next heartbeat.
            if (const Result<void> complete = complete_start(*start); !complete) {
                log(Level::Warning, "start_put_off", {{"message", complete.error().message}});
                continue;
            }
        }
        ports_.links.send(send.node, std::move(send.message));
    }
    for (plane::Reply& reply : outcome.replies) answer(reply.ticket, std::move(reply.answer));
    for (const plane::AssetReply& reply : outcome.asset_replies) {
        const auto first = committed->begin() + static_cast<std::ptrdiff_t>(reply.first);
        Answer written;
        written.assets_written.assign(first, first + static_cast<std::ptrdiff_t>(reply.count));
        answer(reply.ticket, std::move(written));
    }
    if (ports_.published && !outcome.writes.events.empty()) ports_.published(outcome.writes.events);
    for (const OutboxEntry& entry : outcome.effects) ports_.effects.run(entry);
}

Result<void> ControlLoop::register_outputs(plane::Outcome& outcome) {
    if (!ports_.register_outputs) return {};
    for (const JobHead& head : outcome.completed) {
        const std::size_t assets = outcome.writes.assets.size();
        const std::size_t lineage = outcome.writes.lineage.size();
        const Result<void> registered = [&]() -> Result<void> {
            LAVANT_TRY(const std::string launch, ports_.store.load_launch(head.id));
            return ports_.register_outputs(head, launch, outcome.writes);
        }();
        // A row that cannot be read stays so: the job must not be kept from its end, nor all others with it.
        if (!registered && plane::may_pass(registered.error().code) &&
            ++registration_failures_[head.id] < kRegistrationTries)
            return registered;
        registration_failures_.erase(head.id);
        if (registered) continue;
        outcome.writes.assets.resize(assets);
        outcome.writes.lineage.resize(lineage);
        const std::string& why = registered.error().message;
        log(Level::Error, "outputs_not_registered", {{"job", head.name}, {"message", why}});
        warn_of(head, "its outputs did not become assets: " + why, outcome.writes);
    }
    return {};
}

Result<void> ControlLoop::complete_start(StartTask& start) {
    const auto kept = launches_.find(start.task.job);
    if (kept != launches_.end()) {
        start.launch = kept->second;
    } else {
        LAVANT_TRY(start.launch, ports_.store.load_launch(start.task.job));
    }
    const JobHead* head = plane_.find_job(start.task.job);
    if (head != nullptr && ports_.make_job_token)
        start.job_token = ports_.make_job_token(*head, start.task.attempt);
    return {};
}

// The store is asked until it answers: nothing can be decided without knowing what is true.
void ControlLoop::rebuild(Instant now) {
    const Result<LiveRows> rows = ports_.store.load_live();
    if (!rows) {
        log(Level::Error, "store_unreadable", {{"message", rows.error().message}});
        rebuild_at_ = now + kRebuildPause;
        return;
    }
    rebuild_at_.reset();
    plane::Plane anew(settings_, *rows, now);
    anew.remember_gone(plane_, doubtful_);
    plane_ = std::move(anew);
    launches_.clear();
    ports_.links.drop_links();
    for (const OutboxEntry& entry : plane_.outbox()) ports_.effects.run(entry);
}

void ControlLoop::plan_tidy(Instant now) {
    tidy_at_ = now + upkeep_.after;
    tidy_by_ = *tidy_at_ + upkeep_.latest;
}

// A failure is no reason to hurry: the next write brings the next try.
void ControlLoop::tidy(Instant now) {
    const Result<bool> more = ports_.store.tidy(upkeep_.events_kept);
    if (!more) log(Level::Warning, "store_not_tidied", {{"message", more.error().message}});
    tidy_at_.reset();
    if (!more.value_or(false)) return;
    tidy_by_ = now + upkeep_.pause;
    tidy_at_ = tidy_by_;
}

std::optional<Instant> ControlLoop::next_wake() const {
    if (rebuild_at_) return rebuild_at_;
    const std::optional<Instant> wake = plane_.next_wake();
    if (!wake || !tidy_at_) return wake ? wake : tidy_at_;
    return std::min(*wake, *tidy_at_);
}

void ControlLoop::wait() {
    const std::optional<Instant> wake = next_wake();
    std::unique_lock lock(mutex_);
    auto ready = [this] { return (!inbox_.empty() && !rebuild_at_) || waking_; };
    if (!wake) {
        arrived_.wait(lock, ready);
    } else if (const Duration left = *wake - ports_.clock.now(); left > Duration::zero()) {
        arrived_.wait_for(lock, left, ready);
    }
    waking_ = false;
}

void ControlLoop::wake() {
    {
        const std::scoped_lock lock(mutex_);
        waking_ = true;
    }
    arrived_.notify_one();
}

LoopStats ControlLoop::stats() const {
    const std::scoped_lock lock(mutex_);
    LoopStats copy = stats_;
    copy.inbox = inbox_.size();
    return copy;
}

}  // namespace lavant::app
