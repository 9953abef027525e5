#pragma once
// What may be used and what is used, in cores. The plane decides by it, and the API shows the same numbers.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/node.h"
#include "core/model/quota.h"

namespace lavant {

// The team's own machine as it is: it has no VM family, so nothing counts against it.
inline constexpr std::string_view kLocalFamily = "local";

inline constexpr std::int64_t kUnlimitedCores = std::numeric_limits<std::int64_t>::max();

// Nobody sets more: sums of a workspace's pools stay far below what 64 bits hold.
inline constexpr std::int64_t kQuotaCoresMax = 1'000'000'000;

// What the subscription has where nobody set anything.
struct QuotaDefaults {
    std::int64_t family_cores = 1000;
    std::int64_t low_priority_family_cores = 1000;
    std::int64_t total_cores = 10000;
    std::int64_t low_priority_total_cores = 10000;
    bool operator==(const QuotaDefaults&) const = default;
};

class QuotaBook {
 public:
    QuotaBook() = default;
    explicit QuotaBook(QuotaDefaults defaults) : defaults_(defaults) {}

    void set(const Quota& quota);

    // What somebody set at this level, or nothing.
    std::optional<std::int64_t> find(const QuotaKey& key, QuotaLevel level) const;

    // The workspace is unlimited unless somebody set a limit; the subscription has the defaults.
    std::int64_t limit(const QuotaKey& key, QuotaLevel level) const;

    std::int64_t limit(const QuotaKey& key) const;  // the smaller of both levels

 private:
    std::int64_t default_of(const QuotaKey& key) const;

    QuotaDefaults defaults_;
    std::map<std::pair<QuotaKey, QuotaLevel>, std::int64_t> set_;
};

// What a pool's cores count against: its family and the region's total. Cores of kLocalFamily count only
// against that family, which has no end.
std::vector<QuotaKey> quota_keys_of(const Pool& pool);

// What a pool with `nodes` that are not gone holds. A compute holds all that it may grow to, so that it can
// grow; one that is being deleted only the nodes that are still there; a serverless pool what it has.
std::int64_t cores_held(const Pool& pool, int nodes);

using QuotaUsage = std::map<QuotaKey, std::int64_t>;

// Of these pools, with both keys of each. Nodes that are gone do not count, nor do those of other pools.
QuotaUsage usage_of(const std::vector<Pool>& pools, const std::vector<Node>& nodes);

}  // namespace lavant
