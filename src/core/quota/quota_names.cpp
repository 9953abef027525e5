#include "core/quota/quota_names.h"

#include <algorithm>

#include "base/text.h"
#include "core/model/size.h"
#include "core/quota/quota_book.h"

namespace lavant {
namespace {

std::string_view azure_tier(Tier tier) { return tier == Tier::Dedicated ? "Dedicated" : "LowPriority"; }

// "standardNCASv3_T4Family" -> "Standard NCASv3_T4 Family"
std::string spaced(std::string_view family) {
    constexpr std::string_view kFront = "standard";
    constexpr std::string_view kBack = "Family";
    std::string name(family);
    if (name.size() > kBack.size() && name.ends_with(kBack)) name.insert(name.size() - kBack.size(), " ");
    if (name.size() > kFront.size() && equals_ignoring_case(name.substr(0, kFront.size()), kFront)) {
        name.insert(kFront.size(), " ");
        name.front() = 'S';
    }
    return name;
}

}  // namespace

const std::vector<std::string>& quota_families() {
    static const std::vector<std::string> families = [] {
        std::vector<std::string> found;
        for (const Size& size : size_catalogue())
            if (size.family != kLocalFamily && std::ranges::find(found, size.family) == found.end())
                found.push_back(size.family);
        return found;
    }();
    return families;
}

Result<std::string> find_quota_family(std::string_view name) {
    if (equals_ignoring_case(name, kTotalFamily)) return std::string();
    for (const std::string& family : quota_families())
        if (equals_ignoring_case(family, name)) return family;
    if (const auto size = find_size(name); size && size->family != kLocalFamily) return size->family;
    std::vector<std::string> known = quota_families();
    known.emplace_back(kTotalFamily);
    const auto near = nearest(name, known);
    return fail(ErrorCode::InvalidArgument,
                "there is no VM family '" + std::string(name.substr(0, 100)) + "'; " +
                    (near ? "did you mean " + *near + "?"
                          : "lavant quota list --all shows them, and 'total' is all of a region"));
}

std::string_view family_word(const QuotaKey& key) {
    return key.family.empty() ? kTotalFamily : std::string_view(key.family);
}

std::string azure_value_of(const QuotaKey& key) {
    return key.family.empty() ? "Total" + std::string(azure_tier(key.tier)) + "Cores" : key.family;
}

std::string azure_name_of(const QuotaKey& key) {
    const std::string tier(azure_tier(key.tier));
    if (key.family.empty()) return "Total Cluster " + tier + " Regional vCPUs";
    return spaced(key.family) + " Cluster " + tier + " vCPUs";
}

std::vector<QuotaKey> quota_keys_in(const std::string& location) {
    std::vector<QuotaKey> keys;
    std::vector<std::string> families{""};
    families.insert(families.end(), quota_families().begin(), quota_families().end());
    for (const std::string& family : families)
        for (const Tier tier : {Tier::Dedicated, Tier::LowPriority}) keys.push_back({location, family, tier});
    return keys;
}

}  // namespace lavant
