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

TEST(Messages, TellATaskAllOfItsPlace) {
    const StartTask sent{.task = {{42}, 3, 5},
                         .instances = 4,
                         .hosts = {"a", "b"},
                         .launch = "l",
                         .job_token = "t",
                         .link = 9,
                         .processes = 2,
                         .port = 20'010,
                         .gpus = "0,GPU-7",
                         .resume = true};
    const Result<ToAgent> back = decode_to_agent(encode_frame(ToAgent{sent}));
    ASSERT_TRUE(back);
    const auto& start = std::get<StartTask>(*back);
    EXPECT_EQ(start.task, sent.task);
    EXPECT_EQ(start.processes, 2);
    EXPECT_EQ(start.port, 20'010);
    EXPECT_EQ(start.gpus, "0,GPU-7");
    EXPECT_TRUE(start.resume);
    EXPECT_EQ(start.link, 0U) << "it is the server's own";
    const auto bare = decode_to_agent(encode_frame(ToAgent{StartTask{}}));
    EXPECT_EQ(std::get<StartTask>(*bare).processes, 1);
    EXPECT_FALSE(std::get<StartTask>(*bare).resume);

    const StopTask stop{.task = {{42}, 3, 5}, .why = "w", .grace_micros = 7, .preempted = true};
    const auto stopped = decode_to_agent(encode_frame(ToAgent{stop}));
    ASSERT_TRUE(stopped);
    EXPECT_TRUE(std::get<StopTask>(*stopped).preempted);
    EXPECT_EQ(std::get<StopTask>(*stopped).grace_micros, 7);
}

TEST(Messages, KeepWhatAJobAndAPoolWereMadeWith) {
    const Demand demand{.user = "u",
                        .processes = 4,
                        .bound = std::chrono::hours{2},
                        .task = {1, 2, 3},
                        .grace = Duration::zero()};
    EXPECT_EQ(decode_demand(encode_demand(demand)), demand) << "no grace at all differs from the usual one";
    EXPECT_EQ(decode_demand(encode_demand({})), Demand{});
    EXPECT_EQ(decode_demand("\xa0")->grace, std::chrono::seconds{30}) << "one that says nothing";
    const PoolTerms terms{.compute = "c",
                          .arm_id = "/a",
                          .subnet = "/s",
                          .location = "local",
                          .family = "f",
                          .tier = Tier::LowPriority,
                          .vcpus = 4,
                          .node_limit = {1, 2, 3},
                          .packed = true,
                          .price = 9};
    EXPECT_EQ(decode_pool_terms(encode_pool_terms(terms)), terms);
    EXPECT_EQ(decode_pool_terms(encode_pool_terms({})), PoolTerms{});
}

TEST(Messages, KeepWhatAnEffectIsToDo) {
    for (const Effect& effect :
         {Effect{StartNode{{1}, {2}, "s", {1, 2, 3}, "0,GPU-7"}}, Effect{StartNode{{1}, {2}, "s", {}}},
          Effect{PublishOutputs{{1}, "w", "n", 2, true, true}},
          Effect{PublishOutputs{{1}, "w", "n", 2, true, false}}, Effect{PublishOutputs{{1}, "w", "n", 2}}})
        EXPECT_EQ(decode_effect(encode_effect(effect)), effect);
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
