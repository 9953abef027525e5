#pragma once
// How many cores may be in use: per VM family and region, and in the region as a whole, dedicated and
// low-priority apart. A subscription has limits and so has the workspace; the smaller one counts.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lavant {

enum class Tier { Dedicated, LowPriority };
std::string_view name_of(Tier tier);  // "dedicated", "low_priority"
std::optional<Tier> parse_tier(std::string_view name);

enum class QuotaLevel { Subscription, Workspace };
std::string_view name_of(QuotaLevel level);
std::optional<QuotaLevel> parse_quota_level(std::string_view name);

struct QuotaKey {
    std::string location;
    std::string family;  // as in the catalogue; "" all of the region
    Tier tier = Tier::Dedicated;
    auto operator<=>(const QuotaKey&) const = default;
};

// A limit that somebody set. What nobody set has the default of core/quota.
struct Quota {
    QuotaKey key;
    QuotaLevel level = QuotaLevel::Subscription;
    std::int64_t cores = 0;
    bool operator==(const Quota&) const = default;
};

}  // namespace lavant
