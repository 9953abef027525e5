#include "app/host_turns.h"

#include <gtest/gtest.h>

namespace lavant::app {
namespace {

using std::chrono::seconds;

class HostTurnsTest : public testing::Test {
 protected:
    void add(const std::string& host) {
        ASSERT_TRUE(turns_.add(host, [] { return true; }));
    }
    // Whose turn it is, "" where nobody's.
    std::string take() {
        const auto turn = turns_.take(now_);
        return turn ? turn->host : "";
    }

    Instant now_ = from_micros(1'000'000);
    HostTurns turns_{{.rest = seconds{10}, .rest_max = seconds{30}, .waiting_max = 5}};
};

TEST_F(HostTurnsTest, OneOfAHostAtATimeAndHostsInTurn) {
    for (const char* host : {"a", "a", "b", "a"}) add(host);
    EXPECT_EQ(take(), "a");
    EXPECT_EQ(take(), "b");
    EXPECT_EQ(take(), "") << "both are busy";
    turns_.end("a", true, now_);
    turns_.end("b", true, now_);
    EXPECT_EQ(take(), "a");
    EXPECT_EQ(take(), "");
    EXPECT_FALSE(turns_.next_wake());
}

TEST_F(HostTurnsTest, AHostThatHeldUsUpRestsLongerEachTime) {
    for (int i = 0; i < 4; ++i) add("dead");
    for (const int rest : {10, 20, 30}) {
        ASSERT_EQ(take(), "dead");
        turns_.end("dead", false, now_);
        EXPECT_EQ(turns_.next_wake(), now_ + seconds{rest});
        now_ += seconds{rest} - Duration{1};
        EXPECT_EQ(take(), "");
        add("well");
        EXPECT_EQ(take(), "well") << "others are not held up";
        turns_.end("well", true, now_);
        now_ += Duration{1};
    }
    ASSERT_EQ(take(), "dead");
    turns_.end("dead", true, now_);
    add("dead");
    ASSERT_EQ(take(), "dead");
    turns_.end("dead", false, now_);
    EXPECT_EQ(turns_.next_wake(), now_ + seconds{10}) << "it had been well in between";
}

TEST_F(HostTurnsTest, ForgetsHostsThatNobodyAsksFor) {
    add("a");
    add("dead");
    EXPECT_EQ(take(), "a");
    EXPECT_EQ(take(), "dead");
    turns_.end("a", true, now_);
    turns_.end("dead", false, now_);
    EXPECT_EQ(turns_.hosts(), 1U);
    now_ += seconds{10};
    EXPECT_EQ(take(), "");
    EXPECT_EQ(turns_.hosts(), 0U);
}

TEST_F(HostTurnsTest, RefusesWhatIsTooMuchAndForgetsWhatWaits) {
    for (int i = 0; i < 5; ++i) add("a");
    EXPECT_FALSE(turns_.add("b", [] { return true; }));
    EXPECT_EQ(take(), "a");
    turns_.clear();
    EXPECT_EQ(turns_.waiting(), 0U);
    turns_.end("a", true, now_);
    EXPECT_EQ(take(), "");
    EXPECT_EQ(turns_.hosts(), 0U);
}

}  // namespace
}  // namespace lavant::app
