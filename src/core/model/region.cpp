#include "core/model/region.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace lavant {
namespace {

constexpr std::size_t kShownChars = 80;

std::optional<std::size_t> place_of(std::string_view name) {
    const auto found = std::ranges::find(known_regions(), name);
    if (found == known_regions().end()) return std::nullopt;
    return static_cast<std::size_t>(found - known_regions().begin());
}

}  // namespace

const std::vector<std::string>& known_regions() {
    static const std::vector<std::string> regions{
        std::string(kLocalRegion),
        "eastus",
        "eastus2",
        "centralus",
        "northcentralus",
        "southcentralus",
        "westcentralus",
        "westus",
        "westus2",
        "westus3",
        "canadacentral",
        "canadaeast",
        "mexicocentral",
        "brazilsouth",
        "brazilsoutheast",
        "northeurope",
        "westeurope",
        "uksouth",
        "ukwest",
        "francecentral",
        "francesouth",
        "germanywestcentral",
        "germanynorth",
        "switzerlandnorth",
        "switzerlandwest",
        "norwayeast",
        "norwaywest",
        "swedencentral",
        "polandcentral",
        "italynorth",
        "spaincentral",
        "uaenorth",
        "uaecentral",
        "qatarcentral",
        "israelcentral",
        "southafricanorth",
        "southafricawest",
        "centralindia",
        "southindia",
        "westindia",
        "jioindiawest",
        "eastasia",
        "southeastasia",
        "japaneast",
        "japanwest",
        "koreacentral",
        "koreasouth",
        "australiaeast",
        "australiasoutheast",
        "australiacentral",
        "newzealandnorth",
    };
    return regions;
}

std::optional<std::string> find_region(std::string_view text) {
    std::string name = to_lower(text);
    std::erase(name, ' ');
    if (!place_of(name)) return std::nullopt;
    return name;
}

std::string region_problem(std::string_view text) {
    std::string message = "there is no region '" + std::string(text.substr(0, kShownChars)) + "'";
    if (const auto near = nearest(to_lower(text), known_regions()))
        return message + "; did you mean '" + *near + "'?";
    return message + "; it is named like westus2, or " + std::string(kLocalRegion);
}

RegionSet RegionSet::all() {
    RegionSet set;
    for (std::size_t i = 0; i < known_regions().size(); ++i) set.bits_.set(i);
    return set;
}

RegionSet RegionSet::of(std::string_view names) {
    RegionSet set;
    set.bits_.set(*place_of(kLocalRegion));
    for (const std::string_view name : split(names, ' ')) {
        if (name.empty()) continue;
        const auto place = place_of(name);
        CHECK(place.has_value(), "every region of a set is known");
        set.bits_.set(*place);
    }
    return set;
}

bool RegionSet::has(std::string_view name) const {
    const auto place = place_of(name);
    return place && bits_.test(*place);
}

std::vector<std::string> RegionSet::names() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < known_regions().size(); ++i)
        if (bits_.test(i)) names.push_back(known_regions()[i]);
    return names;
}

}  // namespace lavant
