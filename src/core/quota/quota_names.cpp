#include "core/quota/quota_names.h"

#include <set>

#include "base/text.h"
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

std::vector<std::string> families_of(const std::vector<Size>& sizes) {
    std::vector<std::string> found;
    std::set<std::string_view> known{kLocalFamily, ""};
    for (const Size& size : sizes)
        if (known.insert(size.family).second) found.push_back(size.family);
    return found;
}

Result<std::string> find_quota_family(std::string_view name, const std::vector<Size>& sizes) {
    if (equals_ignoring_case(name, kTotalFamily)) return std::string();
    std::vector<std::string> known = families_of(sizes);
    for (const std::string& family : known)
        if (equals_ignoring_case(family, name)) return family;
    for (const Size& size : sizes)
        if (equals_ignoring_case(size.name, name) && size.family != kLocalFamily) return size.family;
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

std::vector<QuotaKey> quota_keys_in(const std::string& location, const std::vector<std::string>& families) {
    std::vector<QuotaKey> keys{{location, "", Tier::Dedicated}, {location, "", Tier::LowPriority}};
    for (const std::string& family : families)
        for (const Tier tier : {Tier::Dedicated, Tier::LowPriority}) keys.push_back({location, family, tier});
    return keys;
}

}  // namespace lavant
