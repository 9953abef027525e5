#include "cli/build.h"

#include <gtest/gtest.h>

namespace lavant::cli {
namespace {

TEST(Builds, ALaterVersionSupersedesAnEarlierOneByNumbers) {
    EXPECT_TRUE(supersedes({"0.2.0"}, {"0.1.0"}));
    EXPECT_TRUE(supersedes({"0.10.0"}, {"0.9.9"}));
    EXPECT_TRUE(supersedes({"1.0"}, {"0.99.99"}));
    EXPECT_FALSE(supersedes({"0.1.0"}, {"0.2.0"}));
    EXPECT_FALSE(supersedes({"0.9.9"}, {"0.10.0"}));
    EXPECT_FALSE(supersedes({"0.1.0"}, {"0.1"}));
    for (const char* odd : {"", "x", "0.1.x", "0.-1", "99999999999999999999"}) {
        EXPECT_FALSE(supersedes({"0.1.0"}, {odd})) << odd;
        EXPECT_FALSE(supersedes({odd}, {"0.1.0"})) << odd;
    }
}

TEST(Builds, OfOneVersionTheLaterBuildSupersedesTheOther) {
    EXPECT_TRUE(supersedes({"0.1.0", "b", 2}, {"0.1.0", "a", 1}));
    EXPECT_FALSE(supersedes({"0.1.0", "b", 1}, {"0.1.0", "a", 2}))
        << "or two would replace each other for ever";
    EXPECT_FALSE(supersedes({"0.1.0", "b", 1}, {"0.1.0", "a", 1}));
    EXPECT_FALSE(supersedes({"0.1.0", "a", 2}, {"0.1.0", "a", 1})) << "the same program, copied";
    EXPECT_FALSE(supersedes({"0.1.0", "b", 2}, {"0.1.0", "", 1}));
    EXPECT_FALSE(supersedes({"0.1.0", "", 2}, {"0.1.0", "a", 1}));
    EXPECT_FALSE(supersedes({"0.1.0", "b", 2}, {"0.2.0", "a", 1})) << "the version counts first";
}

TEST(Builds, SayWhatChanged) {
    EXPECT_EQ(describe_change({"0.1.0", "a"}, {"0.2.0", "b"}), "0.1.0 -> 0.2.0");
    EXPECT_EQ(describe_change({"0.1.0", "0123456789"}, {"0.1.0", "abcdefabcdef"}),
              "0.1.0, build 01234567 -> abcdefab");
}

}  // namespace
}  // namespace lavant::cli
