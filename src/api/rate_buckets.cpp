#include "api/rate_buckets.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lavant::api {
namespace {

constexpr double kMicrosPerSecond = 1e6;
constexpr double kLongestWaitS = 3'600;

}  // namespace

RateBuckets::Bucket& RateBuckets::refilled(const std::string& name, const Rate& rate, Instant now) {
    auto found = buckets_.find(name);
    if (found == buckets_.end()) {
        if (buckets_.size() >= names_max_) {
            std::erase_if(buckets_, [now](const auto& one) { return now >= one.second.full_at; });
            if (buckets_.size() >= names_max_) buckets_.clear();
        }
        found = buckets_.emplace(name, Bucket{rate.burst, now, now}).first;
    }
    Bucket& bucket = found->second;
    // A clock that was set back gives nothing.
    const double passed = std::max(0.0, static_cast<double>((now - bucket.at).count()) / kMicrosPerSecond);
    bucket.level = std::min(rate.burst, bucket.level + passed * rate.per_s);
    bucket.at = now;
    return bucket;
}

Duration RateBuckets::wait_of(const Bucket& bucket, const Rate& rate) {
    if (bucket.level >= 1) return Duration::zero();
    const double seconds = std::min((1 - bucket.level) / rate.per_s, kLongestWaitS);
    return Duration{static_cast<std::int64_t>(std::ceil(seconds * kMicrosPerSecond))};
}

void RateBuckets::spend(Bucket& bucket, const Rate& rate, double cost, Instant now) {
    bucket.level -= cost;
    const double missing = std::min((rate.burst - bucket.level) / rate.per_s, kLongestWaitS);
    bucket.full_at = now + Duration{static_cast<std::int64_t>(missing * kMicrosPerSecond)};
}

Duration RateBuckets::wait_for(const std::string& name, const Rate& rate, Instant now) {
    if (rate.per_s <= 0) return Duration::zero();
    const std::lock_guard lock(mutex_);
    if (!buckets_.contains(name)) return Duration::zero();
    return wait_of(refilled(name, rate, now), rate);
}

void RateBuckets::charge(const std::string& name, const Rate& rate, double cost, Instant now) {
    if (rate.per_s <= 0) return;
    const std::lock_guard lock(mutex_);
    spend(refilled(name, rate, now), rate, cost, now);
}

Duration RateBuckets::take(const std::string& name, const Rate& rate, double cost, Instant now) {
    if (rate.per_s <= 0) return Duration::zero();
    const std::lock_guard lock(mutex_);
    Bucket& bucket = refilled(name, rate, now);
    const Duration wait = wait_of(bucket, rate);
    if (wait == Duration::zero()) spend(bucket, rate, cost, now);
    return wait;
}

std::string retry_after(Duration wait) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
    return std::to_string(std::max<std::int64_t>(seconds, 1));
}

std::string host_of_peer(std::string_view peer) {
    std::string_view host = peer.substr(0, peer.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return std::string(host);
}

}  // namespace lavant::api
