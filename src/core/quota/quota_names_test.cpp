#include "core/quota/quota_names.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/size.h"

namespace lavant {
namespace {

QuotaKey key(std::string family, Tier tier) { return {"local", std::move(family), tier}; }

TEST(QuotaNames, AreThoseOfAzure) {
    EXPECT_EQ(azure_name_of(key("", Tier::Dedicated)), "Total Cluster Dedicated Regional vCPUs");
    EXPECT_EQ(azure_name_of(key("", Tier::LowPriority)), "Total Cluster LowPriority Regional vCPUs");
    EXPECT_EQ(azure_name_of(key("standardDSv2Family", Tier::Dedicated)),
              "Standard DSv2 Family Cluster Dedicated vCPUs");
    EXPECT_EQ(azure_name_of(key("standardNCASv3_T4Family", Tier::LowPriority)),
              "Standard NCASv3_T4 Family Cluster LowPriority vCPUs");
    EXPECT_EQ(azure_value_of(key("", Tier::Dedicated)), "TotalDedicatedCores");
    EXPECT_EQ(azure_value_of(key("", Tier::LowPriority)), "TotalLowPriorityCores");
    EXPECT_EQ(azure_value_of(key("standardDSv2Family", Tier::LowPriority)), "standardDSv2Family");
}

TEST(QuotaNames, CoverEveryFamilyOnce) {
    const std::vector<std::string> families = families_of(size_catalogue());
    for (const Size& size : size_catalogue())
        EXPECT_EQ(std::ranges::count(families, size.family), 1) << size.name;
    const auto keys = quota_keys_in("westus", families);
    EXPECT_EQ(keys.size(), 2 * (families.size() + 1));
    EXPECT_EQ(keys[0], (QuotaKey{"westus", "", Tier::Dedicated}));
    EXPECT_EQ(keys[1], (QuotaKey{"westus", "", Tier::LowPriority}));
    EXPECT_TRUE(families_of({local_size({})}).empty());
}

TEST(QuotaFamily, IsFoundByItsNameOrByASize) {
    EXPECT_EQ(find_quota_family("STANDARDdsV2family", size_catalogue()).value(), "standardDSv2Family");
    EXPECT_EQ(find_quota_family("Standard_DS3_v2", size_catalogue()).value(), "standardDSv2Family");
    EXPECT_EQ(find_quota_family("Total", {}).value(), "");
}

TEST(QuotaFamily, SuggestsTheNearest) {
    EXPECT_EQ(find_quota_family("standardDSv2Famly", size_catalogue()).error().message,
              "there is no VM family 'standardDSv2Famly'; did you mean standardDSv2Family?");
    for (const std::string& odd : {std::string(), std::string("local"), std::string(9000, 'x')}) {
        const auto family = find_quota_family(odd, size_catalogue());
        ASSERT_FALSE(family);
        EXPECT_EQ(family.error().code, ErrorCode::InvalidArgument);
        EXPECT_LT(family.error().message.size(), 300U);
    }
}

TEST(QuotaFamily, HasAWordForAllOfThem) {
    EXPECT_EQ(family_word(key("", Tier::Dedicated)), "total");
    EXPECT_EQ(family_word(key("standardNCFamily", Tier::Dedicated)), "standardNCFamily");
}

}  // namespace
}  // namespace lavant
