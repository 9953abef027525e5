#pragma once
// What a quota says to somebody who wants nodes: no, and what would do instead; or yes, but not now.

#include <string>

#include "base/result.h"
#include "core/quota/quota_book.h"

namespace lavant {

struct QuotaAsk {
    const Pool& pool;
    int nodes = 1;
    std::string field;  // where the count was said: "properties.resources.instanceCount"
    std::string word;   // as in YAML: "instance_count", "max_instances"
};

// InvalidArgument if this can never be: it names the family, the largest count that fits and the YAML for it,
// or sizes that fit where not even one node does. Otherwise which quota is short now, nullptr if none.
[[nodiscard]] Result<const QuotaKey*> check_limits(const QuotaBook& quotas, const QuotaUsage& used,
                                                   const QuotaAsk& ask, const std::vector<QuotaKey>& keys);

std::string in_words(const QuotaKey& key);  // "standardDSv2Family in local, dedicated"

}  // namespace lavant
