#pragma once
// The words of quotas: families as sizes have them, and the names Azure shows limits under.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/quota.h"
#include "core/model/size.h"

namespace lavant {

// What people write for all of a region; QuotaKey::family is "" then.
inline constexpr std::string_view kTotalFamily = "total";

// Of these sizes, each once, in their order. The machine itself is not among them: it has no limit.
std::vector<std::string> families_of(const std::vector<Size>& sizes);

// Case does not matter, and Standard_DS3_v2 finds the family of that size. "" for kTotalFamily.
[[nodiscard]] Result<std::string> find_quota_family(std::string_view name, const std::vector<Size>& sizes);

std::string_view family_word(const QuotaKey& key);  // the family, or kTotalFamily

// As Azure names them: "standardDSv2Family" or "TotalDedicatedCores", and "Standard DSv2 Family Cluster
// Dedicated vCPUs" or "Total Cluster Dedicated Regional vCPUs".
std::string azure_value_of(const QuotaKey& key);
std::string azure_name_of(const QuotaKey& key);

// Every limit of a location: the totals first, dedicated before low priority.
std::vector<QuotaKey> quota_keys_in(const std::string& location, const std::vector<std::string>& families);

}  // namespace lavant
