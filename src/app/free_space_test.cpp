#include "app/free_space.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lavant::app {
namespace {

using namespace std::chrono_literals;

class HandClock final : public ports::Clock {
 public:
    Instant now() override { return at; }
    Instant at{1h};
};

TEST(FreeSpace, RefusesBelowTheFloorAndNamesTheRemedy) {
    HandClock clock;
    std::uint64_t free = 100U << 20U;
    FreeSpace space([&] { return std::optional(free); }, 100U << 20U, clock);
    EXPECT_TRUE(space.check_room());
    EXPECT_FALSE(space.check_room(1));
    free += 1;
    clock.at += 1s;
    EXPECT_TRUE(space.check_room(1));
    EXPECT_FALSE(space.check_room(~0ULL));
    free -= 2;
    clock.at += 1s;
    const auto refused = space.check_room();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ResourceExhausted);
    EXPECT_NE(refused.error().message.find("delete old jobs"), std::string::npos);
}

TEST(FreeSpace, AsksTheFileSystemAtMostOnceASecond) {
    HandClock clock;
    int asked = 0;
    FreeSpace space([&] { return ++asked, std::optional<std::uint64_t>(5); }, 1, clock);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(space.check_room());
    EXPECT_EQ(asked, 1);
    clock.at += 1s;
    EXPECT_TRUE(space.check_room());
    EXPECT_EQ(asked, 2);
}

TEST(FreeSpace, LetsWorkInWhenTheFileSystemCannotTell) {
    HandClock clock;
    FreeSpace space([] { return std::optional<std::uint64_t>{}; }, 1, clock);
    EXPECT_TRUE(space.check_room());
}

}  // namespace
}  // namespace lavant::app
