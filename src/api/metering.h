#pragma once
// How much one key may ask for: requests a second, bytes uploaded a second, bytes of one body. The limits are
// the server's, or the key's own where it has some. What comes without a key counts for its host.

#include <optional>
#include <string>

#include "api/access.h"
#include "api/rate_buckets.h"
#include "ports/http.h"

namespace lavant::api {

// Far above what an SDK does; they stop a loop that runs away.
struct MeterSettings {
    int requests_per_s = 50'000;  // 0: no limit, as all here
    int upload_mib_per_s = 10'240;
    Rate failed_logins{.per_s = 10, .burst = 200};  // of one host
};

class Meter {
 public:
    explicit Meter(const MeterSettings& settings) : settings_(settings) {}

    // Counts a request. An answer if it is one too many (429) or too large for its key (413).
    std::optional<ports::HttpResponse> count(const Caller& caller, const ports::HttpRequest& request,
                                             Instant now);
    // The largest body a key may send; `otherwise` for one without a limit of its own.
    static std::uint64_t body_bytes(const Caller& caller, std::uint64_t otherwise);

 private:
    const MeterSettings settings_;
    RateBuckets requests_;
    RateBuckets uploads_;
};

}  // namespace lavant::api
