#include "api/metering.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lavant::api {
namespace {

using namespace std::chrono_literals;

class MeterTest : public testing::Test {
 protected:
    static Caller key(const std::string& name, KeyLimits limits = {}) {
        Caller caller;
        caller.key = name;
        caller.limits = limits;
        return caller;
    }
    static ports::HttpRequest with_body(std::uint64_t bytes) {
        ports::HttpRequest request;
        request.body_bytes = bytes;
        request.peer = "10.0.0.1:5";
        return request;
    }
    Meter meter_{MeterSettings{.requests_per_s = 5, .upload_mib_per_s = 1}};
    const Instant at_ = from_micros(1'790'000'000'000'000);
};

TEST_F(MeterTest, CountsRequestsByKeyAndSaysWhenToComeBack) {
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(meter_.count(key("a"), with_body(0), at_));
    const auto refused = meter_.count(key("a"), with_body(0), at_);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    std::string wait;
    for (const auto& [name, value] : refused->headers)
        if (name == "Retry-After") wait += value;
    EXPECT_EQ(wait, "1");
    EXPECT_FALSE(meter_.count(key("b"), with_body(0), at_));
    EXPECT_FALSE(meter_.count(key("a"), with_body(0), at_ + 1s));
}

TEST_F(MeterTest, AKeysOwnLimitsStandAboveTheServers) {
    const Caller slow = key("slow", {.requests_per_s = 1});
    EXPECT_FALSE(meter_.count(slow, with_body(0), at_));
    EXPECT_FALSE(meter_.count(slow, with_body(0), at_));
    EXPECT_TRUE(meter_.count(slow, with_body(0), at_));
    const Caller small = key("small", {.body_mib = 1});
    EXPECT_FALSE(meter_.count(small, with_body(1U << 20), at_));
    EXPECT_EQ(meter_.count(small, with_body((1U << 20) + 1), at_)->status, 413);
    EXPECT_EQ(Meter::body_bytes(small, 5U << 20), 1U << 20);
    EXPECT_EQ(Meter::body_bytes(key("a"), 5U << 20), 5U << 20);
}

TEST_F(MeterTest, OneLargeUploadPassesAndTheNextWaits) {
    EXPECT_FALSE(meter_.count(key("a"), with_body(10U << 20), at_));
    const auto refused = meter_.count(key("a"), with_body(1), at_);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    EXPECT_FALSE(meter_.count(key("a"), with_body(0), at_)) << "reading goes on";
    EXPECT_FALSE(meter_.count(key("a"), with_body(1), at_ + 9s));
}

TEST_F(MeterTest, WithoutAKeyTheHostCounts) {
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(meter_.count({}, with_body(0), at_));
    EXPECT_TRUE(meter_.count({}, with_body(0), at_));
}

}  // namespace
}  // namespace lavant::api
