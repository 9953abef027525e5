#include "core/model/location.h"

#include <algorithm>

#include "base/text.h"

namespace lavant {

namespace {

constexpr std::string_view kNames =
    "local australiacentral australiacentral2 australiaeast australiasoutheast austriaeast "
    "belgiumcentral brazilsouth brazilsoutheast canadacentral canadaeast centralindia "
    "centralus chilecentral chinaeast2 chinanorth3 eastasia eastus eastus2 francecentral "
    "francesouth germanynorth germanywestcentral indonesiacentral israelcentral italynorth "
    "japaneast japanwest jioindiacentral jioindiawest koreacentral koreasouth malaysiawest "
    "mexicocentral newzealandnorth northcentralus northeurope norwayeast norwaywest "
    "polandcentral qatarcentral southafricanorth southafricawest southcentralus southeastasia "
    "southindia spaincentral swedencentral swedensouth switzerlandnorth switzerlandwest "
    "uaecentral uaenorth uksouth ukwest usgovarizona usgovtexas usgovvirginia westcentralus "
    "westeurope westindia westus westus2 westus3";

std::string plain(std::string_view name) {
    std::string found = to_lower(name);
    std::erase(found, ' ');
    return found;
}

}  // namespace

const std::vector<std::string>& location_names() {
    static const std::vector<std::string> names = [] {
        const auto words = split(kNames, ' ');
        return std::vector<std::string>(words.begin(), words.end());
    }();
    return names;
}

std::optional<std::string> find_location(std::string_view name) {
    std::string wanted = plain(name);
    if (std::ranges::find(location_names(), wanted) == location_names().end()) return std::nullopt;
    return wanted;
}

std::string location_problem(std::string_view name) {
    const auto near = nearest(plain(name), location_names());
    return "there is no location '" + std::string(name) + "'; " +
           (near ? "did you mean " + *near + "?"
                 : "there is local, and there are Azure's regions (westeurope)");
}

}  // namespace lavant
