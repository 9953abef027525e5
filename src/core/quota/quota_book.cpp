#include "core/quota/quota_book.h"

#include <algorithm>

namespace lavant {

void QuotaBook::set(const Quota& quota) { set_[{quota.key, quota.level}] = quota.cores; }

std::optional<std::int64_t> QuotaBook::find(const QuotaKey& key, QuotaLevel level) const {
    const auto found = set_.find({key, level});
    if (found == set_.end()) return std::nullopt;
    return found->second;
}

std::int64_t QuotaBook::default_of(const QuotaKey& key) const {
    const bool dedicated = key.tier == Tier::Dedicated;
    if (key.family.empty()) return dedicated ? defaults_.total_cores : defaults_.low_priority_total_cores;
    return dedicated ? defaults_.family_cores : defaults_.low_priority_family_cores;
}

std::int64_t QuotaBook::limit(const QuotaKey& key, QuotaLevel level) const {
    if (key.family == kLocalFamily) return kUnlimitedCores;
    if (const auto cores = find(key, level)) return *cores;
    return level == QuotaLevel::Workspace ? kUnlimitedCores : default_of(key);
}

std::int64_t QuotaBook::limit(const QuotaKey& key) const {
    return std::min(limit(key, QuotaLevel::Subscription), limit(key, QuotaLevel::Workspace));
}

std::vector<QuotaKey> quota_keys_of(const Pool& pool) {
    const PoolTerms& terms = pool.terms;
    std::vector<QuotaKey> keys{{.location = terms.location, .family = terms.family, .tier = terms.tier}};
    if (!terms.family.empty() && terms.family != kLocalFamily)
        keys.push_back({.location = terms.location, .family = "", .tier = terms.tier});
    return keys;
}

std::int64_t cores_held(const Pool& pool, int nodes) {
    // A cluster that was made smaller has more nodes than it may until they are gone.
    const bool holds_all = !pool.is_serverless() && !pool.leaving;
    const std::int64_t counted = holds_all ? std::max(pool.nodes_max, nodes) : nodes;
    return counted * pool.terms.vcpus;
}

QuotaUsage usage_of(const std::vector<Pool>& pools, const std::vector<Node>& nodes) {
    std::map<PoolId, int> counts;
    for (const Node& node : nodes)
        if (!is_gone(node.state)) ++counts[node.pool];
    QuotaUsage usage;
    for (const Pool& pool : pools) {
        const auto count = counts.find(pool.id);
        const std::int64_t cores = cores_held(pool, count == counts.end() ? 0 : count->second);
        for (QuotaKey& key : quota_keys_of(pool)) usage[std::move(key)] += cores;
    }
    return usage;
}

}  // namespace lavant
