#pragma once
// Token buckets by name: how often somebody may do something. A bucket is full at first and refills evenly;
// what it holds above its burst is lost. A cost larger than what is left may be charged and leaves a debt, so
// that one large upload passes and the next ones wait.

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"

namespace lavant::api {

struct Rate {
    double per_s = 0;  // 0: no limit
    double burst = 0;
};

class RateBuckets {
 public:
    explicit RateBuckets(std::size_t names_max = 10'000) : names_max_(names_max) {}

    // How long until something may be charged; zero: now. Any thread, as all here.
    Duration wait_for(const std::string& name, const Rate& rate, Instant now);
    void charge(const std::string& name, const Rate& rate, double cost, Instant now);
    // Both in one: zero and charged, or the time to wait and nothing charged.
    Duration take(const std::string& name, const Rate& rate, double cost, Instant now);

 private:
    struct Bucket {
        double level = 0;
        Instant at{};
        Instant full_at{};
    };
    Bucket& refilled(const std::string& name, const Rate& rate, Instant now);
    static Duration wait_of(const Bucket& bucket, const Rate& rate);
    static void spend(Bucket& bucket, const Rate& rate, double cost, Instant now);

    const std::size_t names_max_;
    std::mutex mutex_;  // guards what follows
    std::unordered_map<std::string, Bucket> buckets_;
};

// Whole seconds for a Retry-After header: at least one.
std::string retry_after(Duration wait);
// "127.0.0.1:5123" without the port.
std::string host_of_peer(std::string_view peer);

}  // namespace lavant::api
