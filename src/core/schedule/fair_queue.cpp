#include "core/schedule/fair_queue.h"

#include "base/check.h"

namespace lavant::schedule {

int FairQueue::running(UserNumber user) const {
    const auto found = running_.find(user);
    return found == running_.end() ? 0 : found->second;
}

void FairQueue::take_head_out(Class& one, UserNumber user) {
    const auto line = one.lines.find(user);
    if (line != one.lines.end()) one.heads.erase({running(user), *line->second.begin(), user});
}

void FairQueue::put_head_in(Class& one, UserNumber user) {
    const auto line = one.lines.find(user);
    if (line != one.lines.end()) one.heads.insert({running(user), *line->second.begin(), user});
}

void FairQueue::add(const Ask& ask) {
    Class& one = classes_[ask.rank];
    take_head_out(one, ask.user);
    one.jobs[ask.job] = ask;
    one.lines[ask.user].insert(ask.job);
    put_head_in(one, ask.user);
    ++size_;
}

Ask FairQueue::remove(Turn turn) {
    const auto found = classes_.find(turn.rank);
    CHECK(found != classes_.end() && found->second.jobs.contains(turn.job), "a queued job is in its queue");
    Class& one = found->second;
    const Ask ask = one.jobs.at(turn.job);
    take_head_out(one, ask.user);
    one.jobs.erase(turn.job);
    std::set<JobId>& line = one.lines.at(ask.user);
    line.erase(turn.job);
    if (line.empty()) one.lines.erase(ask.user);
    put_head_in(one, ask.user);
    if (one.jobs.empty()) classes_.erase(found);
    --size_;
    return ask;
}

void FairQueue::add_running(UserNumber user, int nodes) {
    for (auto& [rank, one] : classes_) take_head_out(one, user);
    if ((running_[user] += nodes) == 0) running_.erase(user);
    for (auto& [rank, one] : classes_) put_head_in(one, user);
}

const Ask& FairQueue::oldest() const { return classes_.begin()->second.jobs.begin()->second; }

const Ask& FairQueue::next(Instant now, Duration overtaken_max) const {
    const Ask& first = oldest();
    if (now - first.since > overtaken_max) return first;
    const Class& one = classes_.begin()->second;
    return one.jobs.at(std::get<JobId>(*one.heads.begin()));
}

const Ask* FairQueue::find(Turn turn) const {
    const auto found = classes_.find(turn.rank);
    if (found == classes_.end()) return nullptr;
    const auto job = found->second.jobs.find(turn.job);
    return job == found->second.jobs.end() ? nullptr : &job->second;
}

std::vector<const Ask*> FairQueue::first(std::size_t count) const {
    std::vector<const Ask*> asks;
    for (const auto& [rank, one] : classes_)
        for (const auto& [id, ask] : one.jobs) {
            if (asks.size() == count) return asks;
            asks.push_back(&ask);
        }
    return asks;
}

FairQueue::Ahead FairQueue::ahead_of(Turn turn, std::int64_t most) const {
    Ahead ahead;
    for (const auto& [rank, one] : classes_)
        for (const auto& [id, ask] : one.jobs) {
            if (Turn{rank, id} >= turn || ahead.jobs == most) return ahead;
            ++ahead.jobs;
            ahead.nodes += ask.instances;
        }
    return ahead;
}

}  // namespace lavant::schedule
