#include "cli/schedule_commands.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

const std::string kSchedule = kWorkspacePath + "/schedules/nightly";
const std::string kArm =
    R"({"id":")" + kSchedule +
    R"(","name":"nightly","properties":{"isEnabled":true,"provisioningState":"Succeeded","trigger":{"triggerType":)"
    R"("Recurrence","frequency":"Week","interval":2,"timeZone":"UTC","schedule":{"hours":[3],"minutes":[5],)"
    R"("weekDays":["Monday"]}},"action":{"actionType":"CreateJob","jobDefinition":{"jobType":"Pipeline",)"
    R"("sourceJobId":"/x/jobs/old","experimentName":"e"}}}})";

struct World {
    World() {
        server.on("GET " + kSchedule, 200, kArm);
        server.on("PUT " + kSchedule, 200, kArm);
    }
    wire::Json sent() const { return (*wire::parse_json(server.requests.back().body))["properties"]; }
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();
};

TEST(ScheduleShow, SaysWhenAndWhat) {
    World world;
    ASSERT_TRUE(show_schedule(world.session, world.terminal.console(), "nightly", {}));
    EXPECT_EQ(world.terminal.out.str(),
              "name        nightly\n"
              "state       enabled\n"
              "when        every 2 weeks on monday at 3:05\n"
              "time zone   UTC\n"
              "makes       pipeline job as old\n"
              "experiment  e\n");
}

TEST(ScheduleUpdate, MovesTheTrigger) {
    World world;
    const auto changed = update_schedule(world.session, world.terminal.console(), "nightly",
                                         {"trigger.interval=3", "trigger.time_zone=UTC", "tags.a=b"}, {});
    ASSERT_TRUE(changed) << changed.error().error.message;
    EXPECT_EQ(world.sent().get("trigger.interval").integer(), 3);
    EXPECT_EQ(world.sent().get("tags.a").text(), "b");
    EXPECT_FALSE(world.sent().has("provisioningState"));
    for (const char* bad : {"trigger.interval=x", "create_job=y", "is_enabled=maybe", "x"})
        EXPECT_EQ(update_schedule(world.session, world.terminal.console(), "nightly", {bad}, {}).error().exit,
                  Exit::Usage)
            << bad;
}

TEST(ScheduleEnable, PutsItBackWithTheSwitchTurned) {
    World world;
    ASSERT_TRUE(enable_schedule(world.session, world.terminal.console(), "nightly", false));
    EXPECT_FALSE(world.sent()["isEnabled"].boolean(true));
    EXPECT_TRUE(world.sent()["action"].is_object());
    EXPECT_EQ(world.terminal.err.str(), "disabled nightly\n");
}

TEST(ScheduleTrigger, PrintsTheJob) {
    World world;
    world.server.on("POST " + kSchedule + "/trigger", 200, R"({"submissionId":"nightly-1"})");
    ASSERT_TRUE(trigger_schedule(world.session, world.terminal.console(), "nightly", {}));
    EXPECT_EQ(world.terminal.out.str(), "nightly-1\n");
}

TEST(ScheduleDelete, OfOneThatIsEnabledSaysWhatToDo) {
    World world;
    world.server.on("DELETE " + kSchedule, 400,
                    R"({"error":{"code":"UserError","message":"Cannot delete an active trigger"}})");
    Context context = world.terminal.context(world.server);
    const auto removed = delete_schedule(world.session, context, "nightly", true);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().exit, Exit::Refused);
    EXPECT_NE(removed.error().error.message.find("disable it first: lavant schedule disable nightly"),
              std::string::npos);
}

TEST(ScheduleList, SaysWhatToDoIfThereIsNone) {
    World world;
    world.server.on("GET " + kWorkspacePath + "/schedules", 200, R"({"value":[]})");
    ASSERT_TRUE(list_schedules(world.session, world.terminal.console(), {}, {}));
    EXPECT_NE(world.terminal.err.str().find("--include-disabled"), std::string::npos);
    EXPECT_NE(world.server.requests.back().url.find("listViewType=EnabledOnly"), std::string::npos);
}

}  // namespace
}  // namespace lavant::cli
