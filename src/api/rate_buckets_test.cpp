#include "api/rate_buckets.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lavant::api {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = Instant{Duration{1'000'000'000}};
constexpr Rate kTwoASecond{.per_s = 2, .burst = 3};

TEST(RateBuckets, GivesABurstAndThenRefillsEvenly) {
    RateBuckets buckets;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(buckets.take("ann", kTwoASecond, 1, kStart), 0s);
    EXPECT_EQ(buckets.take("ann", kTwoASecond, 1, kStart), 500ms);
    EXPECT_EQ(buckets.take("bob", kTwoASecond, 1, kStart), 0s);  // everybody has one of their own
    EXPECT_EQ(buckets.take("ann", kTwoASecond, 1, kStart + 500ms), 0s);
    EXPECT_GT(buckets.take("ann", kTwoASecond, 1, kStart + 500ms), 0s);
    EXPECT_EQ(buckets.take("ann", kTwoASecond, 1, kStart + 1h), 0s);
}

TEST(RateBuckets, ALargeCostPassesOnceAndLeavesADebt) {
    RateBuckets buckets;
    const Rate bytes{.per_s = 100, .burst = 100};
    EXPECT_EQ(buckets.wait_for("ann", bytes, kStart), 0s);
    buckets.charge("ann", bytes, 1'100, kStart);
    EXPECT_GT(buckets.wait_for("ann", bytes, kStart + 10s), 0s);
    EXPECT_EQ(buckets.wait_for("ann", bytes, kStart + 11s), 0s);
}

TEST(RateBuckets, NoRateIsNoLimitAndAClockSetBackGivesNothing) {
    RateBuckets buckets;
    for (int i = 0; i < 1'000; ++i) EXPECT_EQ(buckets.take("ann", {}, 1, kStart), 0s);
    for (int i = 0; i < 3; ++i) (void)buckets.take("bob", kTwoASecond, 1, kStart);
    EXPECT_GT(buckets.take("bob", kTwoASecond, 1, kStart - 1h), 0s);
}

TEST(RateBuckets, ForgetsFullOnesWhenThereAreTooMany) {
    RateBuckets buckets(2);
    for (int i = 0; i < 4; ++i) (void)buckets.take("ann", kTwoASecond, 1, kStart);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(buckets.take("n" + std::to_string(i), kTwoASecond, 1, kStart + i * 10s), 0s);
}

TEST(RateBuckets, TellsSecondsAndHosts) {
    EXPECT_EQ(retry_after(1ms), "1");
    EXPECT_EQ(retry_after(0s), "1");
    EXPECT_EQ(retry_after(1500ms), "2");
    EXPECT_EQ(host_of_peer("127.0.0.1:5123"), "127.0.0.1");
    EXPECT_EQ(host_of_peer("[::1]:5123"), "::1");
    EXPECT_EQ(host_of_peer(""), "");
}

}  // namespace
}  // namespace lavant::api
