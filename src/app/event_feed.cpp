#include "app/event_feed.h"

#include <utility>

namespace lavant::app {

Result<EventFeed::Subscription> EventFeed::subscribe(const std::string& workspace, const std::string& job,
                                                     Sink sink) {
    const std::lock_guard lock(mutex_);
    if (keys_.size() >= subscribers_max_)
        return fail(ErrorCode::ResourceExhausted, "too many clients wait for events; try again in a moment");
    const Subscription subscription = ++last_;
    auto shared = std::make_shared<const Sink>(std::move(sink));
    std::string key = job.empty() ? std::string{} : key_of(workspace, job);
    if (key.empty()) {
        all_.emplace(subscription, std::move(shared));
    } else {
        by_job_[key].emplace(subscription, std::move(shared));
    }
    keys_.emplace(subscription, std::move(key));
    count_.store(keys_.size(), std::memory_order_relaxed);
    return subscription;
}

void EventFeed::unsubscribe(Subscription subscription) {
    SharedSink doomed;  // destroyed outside the lock: a sink may own the last reference to its subscriber
    const std::lock_guard lock(mutex_);
    const auto known = keys_.find(subscription);
    if (known == keys_.end()) return;
    if (known->second.empty()) {
        const auto at = all_.find(subscription);
        doomed = at->second;
        all_.erase(at);
    } else {
        const auto job = by_job_.find(known->second);
        const auto at = job->second.find(subscription);
        doomed = at->second;
        job->second.erase(at);
        if (job->second.empty()) by_job_.erase(job);
    }
    keys_.erase(known);
    count_.store(keys_.size(), std::memory_order_relaxed);
}

void EventFeed::publish(const std::vector<HistoryEvent>& events) {
    if (events.empty() || subscribers() == 0) return;
    std::vector<SharedSink> told;
    for (const HistoryEvent& event : events) {
        told.clear();
        {
            const std::lock_guard lock(mutex_);
            for (const auto& [subscription, sink] : all_) told.push_back(sink);
            if (event.kind == "job" && !by_job_.empty()) {
                const auto job = by_job_.find(key_of(event.workspace, event.subject));
                if (job != by_job_.end())
                    for (const auto& [subscription, sink] : job->second) told.push_back(sink);
            }
        }
        for (const SharedSink& sink : told) (*sink)(event);
    }
}

}  // namespace lavant::app
