#include "wire/messages.h"

#include <gtest/gtest.h>

#include <random>

#include "wire/codec.h"

namespace lavant::wire {
namespace {

struct Old {
    int a = 7;
    std::string b;
};
struct New {
    int a = 7;
    std::string b;
    std::vector<std::string> c;
    bool d = true;
};
BOOST_DESCRIBE_STRUCT(Old, (), (a, b))
BOOST_DESCRIBE_STRUCT(New, (), (a, b, c, d))

FromAgent some_report() {
    return TaskReport{
        .task = {{42}, 3, 1},
        .phase = TaskPhase::Ended,
        .at_micros = 1'700'000'000'000'000,
        .end = {.reason = EndReason::Signaled, .signal = 9, .message = "x", .usage = {.cpu_micros = -1}}};
}

TEST(Messages, SurviveTheTripOverTheWire) {
    const Result<FromAgent> back = decode_from_agent(encode_frame(some_report()));
    ASSERT_TRUE(back);
    const auto& report = std::get<TaskReport>(*back);
    EXPECT_EQ(report.task, (TaskRef{{42}, 3, 1}));
    EXPECT_EQ(report.phase, TaskPhase::Ended);
    EXPECT_EQ(report.end, std::get<TaskReport>(some_report()).end);
}

TEST(Messages, SkipFieldsThatOneSideDoesNotKnow) {
    const std::string bytes = encode(New{.a = 1, .b = "b", .c = {"x", "y"}, .d = false});
    const Result<Old> old = decode<Old>(bytes);
    ASSERT_TRUE(old);
    EXPECT_EQ(old->a, 1);
    const Result<New> again = decode<New>(encode(Old{.a = 7, .b = "b"}));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->a, 7);
    EXPECT_TRUE(again->d);
}

TEST(Messages, WriteAFalseThatDiffersFromItsDefault) {
    EXPECT_FALSE(decode<New>(encode(New{.d = false}))->d);
    EXPECT_EQ(decode<Old>(encode(Old{.a = 0}))->a, 0);
}

TEST(Messages, RefuseEveryTruncation) {
    const std::string frame = encode_frame(some_report());
    for (std::size_t length = 0; length < frame.size(); ++length)
        EXPECT_FALSE(decode_from_agent(frame.substr(0, length))) << length;
    EXPECT_FALSE(decode_from_agent(frame + "x"));
}

TEST(Messages, SurviveRandomDamage) {
    const std::string frame = encode_frame(some_report());
    for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
        std::mt19937 random(seed);
        std::string damaged = frame;
        for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
        (void)decode_from_agent(damaged);
        (void)decode_to_agent(damaged);
        (void)decode_launch(damaged);
    }
}

TEST(Messages, DoNotBelieveHugeCounts) {
    EXPECT_FALSE(decode<std::vector<std::string>>(std::string("\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", 9)));
    EXPECT_FALSE(decode<Old>(std::string("\xbb\xff\xff\xff\xff\xff\xff\xff\xff", 9)));
}

}  // namespace
}  // namespace lavant::wire
