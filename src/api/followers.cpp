#include "api/followers.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace lavant::api {
namespace {

constexpr Duration kIdleTick = std::chrono::seconds(1);

}  // namespace

Followers::~Followers() {
    close();
    pump_->stop();
}

void Followers::add(std::shared_ptr<Follower> follower) {
    const std::lock_guard lock(mutex_);
    followers_.push_back(std::move(follower));
}

std::size_t Followers::count() const {
    const std::lock_guard lock(mutex_);
    return followers_.size();
}

Duration Followers::tick(Instant now) {
    const std::lock_guard one_at_a_time(ticking_);
    std::vector<std::shared_ptr<Follower>> current;
    {
        const std::lock_guard lock(mutex_);
        current = followers_;
    }
    Duration next = kIdleTick;
    std::vector<const Follower*> done;
    for (const auto& follower : current) {
        if (follower->tick(now)) {
            next = std::min(next, follower->patience(now));
        } else {
            done.push_back(follower.get());
        }
    }
    if (!done.empty()) {
        const std::lock_guard lock(mutex_);
        std::erase_if(followers_, [&](const auto& follower) {
            return std::find(done.begin(), done.end(), follower.get()) != done.end();
        });
    }
    return std::max(next, Duration(std::chrono::milliseconds(1)));
}

void Followers::close() {
    std::vector<std::shared_ptr<Follower>> current;
    {
        const std::lock_guard lock(mutex_);
        current.swap(followers_);
    }
    for (const auto& follower : current) follower->close();
}

}  // namespace lavant::api
