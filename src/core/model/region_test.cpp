#include "core/model/region.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lavant {
namespace {

TEST(Region, NamesAreUniqueAndFitInASet) {
    const auto& regions = known_regions();
    EXPECT_EQ(std::set<std::string>(regions.begin(), regions.end()).size(), regions.size());
    EXPECT_GE(regions.size(), 40U);
    EXPECT_LE(regions.size(), kRegionsMax);
    for (const std::string& name : regions) EXPECT_EQ(find_region(name), name);
}

TEST(Region, IsFoundHoweverItIsSpelt) {
    EXPECT_EQ(find_region("West US 2"), "westus2");
    EXPECT_EQ(find_region("WESTEUROPE"), "westeurope");
    EXPECT_EQ(find_region("Local"), "local");
    for (const char* text : {"", " ", "wetus", "westus2 x", "west-us", "all"})
        EXPECT_EQ(find_region(text), std::nullopt) << text;
    EXPECT_EQ(find_region(std::string(100'000, 'a')), std::nullopt);
}

TEST(Region, TheProblemNamesTheNearest) {
    EXPECT_EQ(region_problem("WetUS2"), "there is no region 'WetUS2'; did you mean 'westus2'?");
    EXPECT_EQ(region_problem("the moon"),
              "there is no region 'the moon'; it is named like westus2, or local");
    EXPECT_LT(region_problem(std::string(100'000, 'a')).size(), 200U);
}

TEST(Region, ASetHasWhatItWasMadeOfAndLocal) {
    const RegionSet set = RegionSet::of("eastus  westus2");
    EXPECT_TRUE(set.has("eastus"));
    EXPECT_TRUE(set.has("local"));
    EXPECT_FALSE(set.has("eastus2"));
    EXPECT_FALSE(set.has("nowhere"));
    EXPECT_FALSE(set.is_all());
    EXPECT_EQ(set.names(), (std::vector<std::string>{"local", "eastus", "westus2"}));
    EXPECT_TRUE(RegionSet::all().is_all());
    EXPECT_EQ(RegionSet::all().names(), known_regions());
}

}  // namespace
}  // namespace lavant
