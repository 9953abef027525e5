#include "core/model/location.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lavant {
namespace {

TEST(Location, IsFoundHoweverItIsSpelt) {
    EXPECT_EQ(find_location("local"), "local");
    EXPECT_EQ(find_location("West Europe"), "westeurope");
    EXPECT_EQ(find_location("EASTUS2"), "eastus2");
    EXPECT_EQ(find_location(""), std::nullopt);
    EXPECT_EQ(find_location("atlantis"), std::nullopt);
}

TEST(Location, HasEveryNameOnceAndInItsPlainSpelling) {
    for (const std::string& name : location_names()) {
        EXPECT_EQ(find_location(name), name);
        EXPECT_EQ(std::ranges::count(location_names(), name), 1) << name;
    }
}

TEST(Location, SuggestsTheNearest) {
    EXPECT_EQ(location_problem("westeurop"), "there is no location 'westeurop'; did you mean westeurope?");
    EXPECT_NE(location_problem("atlantis").find("there is local"), std::string::npos);
}

}  // namespace
}  // namespace lavant
