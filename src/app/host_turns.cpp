#include "app/host_turns.h"

#include <algorithm>

#include "base/check.h"

namespace lavant::app {

bool HostTurns::add(const std::string& host, Work work) {
    if (waiting_ >= settings_.waiting_max) return false;
    Host& one = hosts_[host];
    one.work.push_back(std::move(work));
    ++waiting_;
    if (one.work.size() == 1) queue(host, one);
    return true;
}

void HostTurns::queue(const std::string& name, Host& host) {
    if (!host.is_busy && !host.rests_until && !host.work.empty()) ready_.push_back(name);
}

void HostTurns::wake(Instant now) {
    while (!resting_.empty() && resting_.begin()->first <= now) {
        const auto host = hosts_.find(resting_.begin()->second);
        resting_.erase(resting_.begin());
        CHECK(host != hosts_.end(), "a host at rest is known");
        host->second.rests_until.reset();
        if (host->second.work.empty()) {
            hosts_.erase(host);
        } else {
            queue(host->first, host->second);
        }
    }
}

std::optional<HostTurns::Turn> HostTurns::take(Instant now) {
    wake(now);
    if (ready_.empty()) return std::nullopt;
    Turn turn{std::move(ready_.front()), {}};
    ready_.pop_front();
    Host& host = hosts_.at(turn.host);
    turn.work = std::move(host.work.front());
    host.work.pop_front();
    host.is_busy = true;
    --waiting_;
    return turn;
}

void HostTurns::end(const std::string& host, bool went_on, Instant now) {
    const auto found = hosts_.find(host);
    CHECK(found != hosts_.end() && found->second.is_busy, "what ends has begun");
    Host& one = found->second;
    one.is_busy = false;
    if (!went_on) {
        Duration rest = settings_.rest;
        for (int past = one.held_up++; past > 0 && rest < settings_.rest_max; --past) rest *= 2;
        one.rests_until = now + std::min(rest, settings_.rest_max);
        resting_.emplace(*one.rests_until, host);
        return;
    }
    one.held_up = 0;
    if (one.work.empty()) {
        hosts_.erase(found);
    } else {
        queue(host, one);
    }
}

std::optional<Instant> HostTurns::next_wake() const {
    if (resting_.empty()) return std::nullopt;
    return resting_.begin()->first;
}

void HostTurns::clear() {
    for (auto& [name, host] : hosts_) host.work.clear();
    ready_.clear();
    waiting_ = 0;
}

}  // namespace lavant::app
