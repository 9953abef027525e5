#include "cli/usage_commands.h"

#include <gtest/gtest.h>

#include <chrono>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

using namespace std::chrono_literals;

TEST(Moment, IsAWhileAgoADayOrATime) {
    const Instant now = *parse_rfc3339("2026-03-10T12:00:00Z");
    EXPECT_EQ(parse_moment("7d", now), now - 168h);
    EXPECT_EQ(parse_moment("12h", now), now - 12h);
    EXPECT_EQ(parse_moment("90m", now), now - 90min);
    EXPECT_EQ(parse_moment("2w", now), now - 336h);
    EXPECT_EQ(parse_moment("2026-03-01", now), parse_rfc3339("2026-03-01T00:00:00Z"));
    EXPECT_EQ(parse_moment("2026-03-01T06:00:00+01:00", now), parse_rfc3339("2026-03-01T05:00:00Z"));
    for (const char* odd :
         {"", "d", "-7d", "7", "7y", "yesterday", "2026-13-01", "99999999999999999999d", "100001d"})
        EXPECT_EQ(parse_moment(odd, now), std::nullopt) << odd;
}

struct World {
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();
};

TEST(Usage, ShowsHoursAndDollarsAndTheSum) {
    World world;
    world.server.on("GET /lavant/v1/usage", 200,
                    R"({"value":[{"user":"ann","tasks":2,"nodeSeconds":5400,"price":12.345}],"rows":3,)"
                    R"("total":{"tasks":4,"nodeSeconds":7200,"price":0.0123},"currency":"USD"})");
    ASSERT_TRUE(show_usage(world.session, world.terminal.console(), {.since = "2026-01-31"}, {}));
    const std::string text = world.terminal.out.str();
    EXPECT_NE(text.find("USER   TASKS  NODE-HOURS  PRICE (USD)\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ann    2      1.50        12.35\n"), std::string::npos) << text;
    EXPECT_NE(text.find("(all)  4      2.00        0.0123\n"), std::string::npos) << text;
    EXPECT_EQ(world.terminal.err.str(), "the 1 largest; 2 more: -r N\n");
    EXPECT_NE(world.server.requests.back().url.find("by=user&top=50&since=2026-01-31T00%3A00%3A00"),
              std::string::npos)
        << world.server.requests.back().url;
}

TEST(Usage, ShowsHowBusyComputesWere) {
    World world;
    world.server.on("GET /lavant/v1/usage", 200,
                    R"({"value":[{"compute":"cpu","tasks":2,"nodeSeconds":100,"taskSeconds":25,"price":1},)"
                    R"({"compute":"new","tasks":1,"nodeSeconds":0,"taskSeconds":5,"price":0}],"rows":2,)"
                    R"("total":{"tasks":3,"nodeSeconds":100,"taskSeconds":30,"price":1}})");
    ASSERT_TRUE(show_usage(world.session, world.terminal.console(), {.by = "compute"}, {}));
    EXPECT_NE(world.terminal.out.str().find("BUSY"), std::string::npos);
    EXPECT_NE(world.terminal.out.str().find("25 %"), std::string::npos) << world.terminal.out.str();
    EXPECT_EQ(world.terminal.err.str(), "");
}

TEST(Usage, SaysWhenThereIsNone) {
    World world;
    world.server.on("GET /lavant/v1/usage", 200, R"({"value":[],"rows":0,"total":{}})");
    ASSERT_TRUE(show_usage(world.session, world.terminal.console(), {}, {}));
    EXPECT_EQ(world.terminal.out.str(), "");
    EXPECT_NE(world.terminal.err.str().find("nothing was used"), std::string::npos);
    const auto odd = show_usage(world.session, world.terminal.console(), {.since = "yesterday"}, {});
    ASSERT_FALSE(odd);
    EXPECT_EQ(odd.error().exit, Exit::Usage);
}

}  // namespace
}  // namespace lavant::cli
