#include "cli/schedule_commands.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"
#include "tests/support/temporary_folder.h"

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
    EXPECT_EQ(
        world.terminal.err.str(),
        "warning: nightly is kept; nothing fires it by the clock yet: lavant schedule trigger nightly\n");
}

FileOptions changes(std::vector<std::string> settings, std::vector<std::string> tags = {}) {
    return {
        .file = "", .words = {{"name", "nightly"}}, .tags = std::move(tags), .settings = std::move(settings)};
}

TEST(ScheduleUpdate, MovesTheTriggerAndSetsTags) {
    World world;
    const auto changed =
        update_schedule(world.session, world.terminal.console(),
                        changes({"trigger.interval=3", "trigger.time_zone=UTC", "tags.a=b"}, {"c=d"}), {});
    ASSERT_TRUE(changed) << changed.error().error.message;
    EXPECT_EQ(world.sent().get("trigger.interval").integer(), 3);
    EXPECT_EQ(world.sent().get("tags.a").text(), "b");
    EXPECT_EQ(world.sent().get("tags.c").text(), "d");
    EXPECT_FALSE(world.sent().has("provisioningState"));
}

TEST(ScheduleUpdate, SaysWhatIsWrongWithAValue) {
    const auto refusal_of = [](const FileOptions& options) {
        World world;
        const auto refused = update_schedule(world.session, world.terminal.console(), options, {});
        if (refused) return std::string("it was done");
        EXPECT_EQ(refused.error().exit, Exit::Usage);
        EXPECT_EQ(world.server.asked().size() <= 1, true);
        return refused.error().error.message;
    };
    EXPECT_NE(refusal_of(changes({"trigger.interval=x"})).find("must be an integer"), std::string::npos);
    EXPECT_NE(refusal_of(changes({"is_enabled=maybe"})).find("must be true or false"), std::string::npos);
    EXPECT_NE(refusal_of(changes({"create_job=y"})).find("-f FILE"), std::string::npos);
    EXPECT_NE(refusal_of(changes({"x"})).find("path=value"), std::string::npos);
    EXPECT_NE(refusal_of(changes({}, {"x"})).find("KEY=VALUE"), std::string::npos);
    EXPECT_NE(refusal_of(changes({})).find("say what to change"), std::string::npos);
}

TEST(ScheduleUpdate, SendsNothingOnADryRun) {
    World world;
    FileOptions options = changes({"trigger.interval=3"});
    options.dry_run = true;
    ASSERT_TRUE(update_schedule(world.session, world.terminal.console(), options, {}));
    EXPECT_EQ(world.server.asked(), std::vector<std::string>{"GET " + kSchedule});
    EXPECT_NE(world.terminal.out.str().find("\"interval\": 3"), std::string::npos)
        << world.terminal.out.str();
    EXPECT_NE(world.terminal.err.str().find("nothing was sent"), std::string::npos);
}

TEST(ScheduleReplace, NeedsOneThatIsThere) {
    World world;
    world.terminal.variables = {{"LAVANT_ENDPOINT", "https://server"}, {"LAVANT_TOKEN", "key"}};
    const test::TemporaryFolder folder;
    const std::string file = folder / "nightly.yml";
    ASSERT_TRUE(write_file_atomically(file,
                                      "name: nosuch\n"
                                      "trigger: {type: cron, expression: 0 3 * * *}\n"
                                      "create_job: azureml:old\n"));
    Context context = world.terminal.context(world.server);
    FileOptions options{.file = file};
    const auto refused = replace_schedule(context, {}, options, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit, Exit::Refused) << refused.error().error.message;
    options.words["name"] = "nightly";
    const auto changed = replace_schedule(context, {}, options, {});
    ASSERT_TRUE(changed) << changed.error().error.message;
    EXPECT_EQ(world.server.asked().back(), "PUT " + kSchedule);
    options.dry_run = true;
    ASSERT_TRUE(replace_schedule(context, {}, options, {}));
    EXPECT_EQ(world.server.asked().back(), "GET " + kSchedule);
}

TEST(ScheduleEnable, PutsItBackWithTheSwitchTurned) {
    World world;
    ASSERT_TRUE(enable_schedule(world.session, world.terminal.console(), "nightly", false));
    EXPECT_FALSE(world.sent()["isEnabled"].boolean(true));
    EXPECT_TRUE(world.sent()["action"].is_object());
    // The fake server answers with one that is enabled.
    EXPECT_TRUE(world.terminal.err.str().starts_with("disabled nightly\n"));
}

TEST(ScheduleEnable, OfOneThatIsNotThereIsRefused) {
    World world;
    const auto refused = enable_schedule(world.session, world.terminal.console(), "nosuch", true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit, Exit::Refused);
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
    EXPECT_EQ(removed.error().error.message,
              "cannot delete schedule 'nightly': it is enabled; disable it first: lavant schedule disable "
              "nightly");
}

TEST(ScheduleDelete, OfOneThatIsNotThereIsRefused) {
    World world;
    world.server.on("DELETE " + kWorkspacePath + "/schedules/nosuch", 204, "");
    Context context = world.terminal.context(world.server);
    const auto removed = delete_schedule(world.session, context, "nosuch", true);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().exit, Exit::Refused);
    EXPECT_NE(removed.error().error.message.find("cannot delete schedule 'nosuch'"), std::string::npos);
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
