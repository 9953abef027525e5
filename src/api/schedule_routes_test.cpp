#include "api/schedule_routes.h"

#include <gtest/gtest.h>

#include "api/test_world.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kCron = R"({"triggerType":"Cron","expression":"15 10 * * 1"})";
const std::string kCommand =
    R"({"jobType":"Command","command":"echo hi","environmentId":"azureml:base:1","experimentName":"",)"
    R"("inputs":{"t":{"jobInputType":"literal","value":"${{creation_context.trigger_time}}"},)"
    R"("d":{"jobInputType":"uri_file","uri":"azureml://datastores/workspaceblobstore/paths/x"}},)"
    R"("outputs":{"o":{"jobOutputType":"uri_folder"}}})";

std::string body_of(const std::string& trigger, const std::string& job, const std::string& more = "") {
    return R"({"properties":{"displayName":"s","trigger":)" + trigger +
           R"(,"action":{"actionType":"CreateJob","jobDefinition":)" + job + "}" + more + "}}";
}

std::string_view header_of(const ports::HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers)
        if (key == name) return value;
    return {};
}

class Schedules : public testing::Test {
 protected:
    ports::HttpResponse call(const std::string& method, const std::string& path,
                             const std::string& body = "") {
        return world_.call({method, kWs + "/schedules" + path, body, {}});
    }
    std::size_t count(const std::string& view) {
        return json_of(call("GET", view.empty() ? "" : "?listViewType=" + view))["value"].size();
    }
    // The places of what a trigger is refused for.
    std::string refusal(const std::string& trigger) {
        const auto said = call("PUT", "/s", body_of(trigger, kCommand));
        EXPECT_EQ(said.status, 400) << trigger << said.body;
        std::string places;
        const Json body = json_of(said);
        for (const Json& detail : body["error"]["details"].items()) places += detail["target"].string() + " ";
        return places;
    }
    TestWorld world_;
};

TEST_F(Schedules, MakeNoJobsForWhoeverMayChangeThemAlone) {
    ASSERT_EQ(call("PUT", "/s", body_of(kCron, kCommand)).status, 201);
    const auto bob = world_.as("bob", Role::None);
    for (const char* schedule : {"s", "t"})
        ASSERT_EQ(world_
                      .call({"POST",
                             "/lavant/v1/role-assignments",
                             R"({"principal":"bob","role":"contributor","resource":"schedules/)" +
                                 std::string(schedule) + "\"}",
                             {{"Lavant-Workspace", "s1/g1/w1"}}})
                      .status,
                  201);
    const auto as_bob = [&](const std::string& method, const std::string& path, const std::string& body) {
        return world_.call({method, kWs + "/schedules" + path, body, bob}).status;
    };
    const std::string other =
        R"({"jobType":"Command","command":"cat secrets","environmentId":"azureml:base:1"})";
    EXPECT_EQ(as_bob("POST", "/s/trigger", ""), 403);
    EXPECT_EQ(as_bob("PUT", "/s", body_of(kCron, other)), 403) << "somebody else would run it";
    EXPECT_EQ(as_bob("PUT", "/t", body_of(kCron, kCommand)), 403);
    EXPECT_EQ(as_bob("PUT", "/s", body_of(R"({"triggerType":"Cron","expression":"0 0 * * *"})", kCommand)),
              200)
        << "when it runs is the schedule's own matter";
}

TEST_F(Schedules, AreKeptAndShown) {
    const auto made = call("PUT", "/s", body_of(kCron, kCommand));
    ASSERT_EQ(made.status, 201) << made.body;
    const Json shown = json_of(call("GET", "/s"));
    EXPECT_EQ(shown["id"].text(), kWs + "/schedules/s");
    EXPECT_TRUE(shown.get("properties.isEnabled").boolean());
    EXPECT_EQ(shown.get("properties.provisioningState").text(), "Succeeded");
    EXPECT_EQ(shown.get("properties.trigger.timeZone").text(), "UTC");
    const Json& job = shown.get("properties.action.jobDefinition");
    EXPECT_EQ(job.get("inputs.d.mode").text(), "ReadOnlyMount");
    EXPECT_EQ(job.get("outputs.o.mode").text(), "ReadWriteMount");
    EXPECT_FALSE(job["inputs"]["t"].has("mode"));
    EXPECT_TRUE(job.has("experimentName")) << "an empty one stays: it is not the default";
    EXPECT_EQ(json_of(made), shown);
    const std::string operation(header_of(made, "Azure-AsyncOperation"));
    ASSERT_TRUE(operation.starts_with("https://127.0.0.1:8443" + kWs + "/schedules/s/")) << operation;
    const auto done =
        world_.call({"GET", operation.substr(std::string("https://127.0.0.1:8443").size()), "", {}});
    EXPECT_EQ(json_of(done)["status"].text(), "Succeeded");
    EXPECT_EQ(call("PUT", "/s", body_of(kCron, kCommand)).status, 200);
}

TEST_F(Schedules, AreSwitchedOffAndThenDeleted) {
    ASSERT_EQ(call("PUT", "/s", body_of(kCron, kCommand)).status, 201);
    EXPECT_EQ(count(""), 1U);
    EXPECT_EQ(count("DisabledOnly"), 0U);
    const auto active = call("DELETE", "/s");
    EXPECT_EQ(active.status, 409);
    EXPECT_NE(active.body.find("Cannot delete an active trigger"), std::string::npos);
    EXPECT_NE(active.body.find("disable it first"), std::string::npos);
    ASSERT_EQ(call("PUT", "/s", body_of(kCron, kCommand, R"(,"isEnabled":false)")).status, 200);
    EXPECT_EQ(count("EnabledOnly"), 0U);
    EXPECT_EQ(count("DisabledOnly"), 1U);
    EXPECT_EQ(count("All"), 1U);
    EXPECT_EQ(call("GET", "?listViewType=Some").status, 400);
    EXPECT_EQ(call("POST", "/s/trigger").status, 409) << "it is disabled";
    EXPECT_EQ(call("DELETE", "/s").status, 204);
    const auto gone = call("GET", "/s");
    EXPECT_EQ(gone.status, 404);
    EXPECT_NE(gone.body.find("not found"), std::string::npos);
    EXPECT_EQ(call("DELETE", "/s").status, 204);
}

TEST_F(Schedules, SpellTheDaysOfTheWeekAsAzureDoes) {
    const auto made =
        call("PUT", "/s",
             body_of(R"({"triggerType":"Recurrence","frequency":"week","interval":1,)"
                     R"("startTime":"2022-05-10 10:15:00","timeZone":"Pacific Standard Time",)"
                     R"("schedule":{"hours":[10],"minutes":[15],"weekDays":["monday","SUNDAY"]}})",
                     kCommand));
    ASSERT_EQ(made.status, 201) << made.body;
    const Json trigger = json_of(made).get("properties.trigger");
    EXPECT_EQ(trigger.get("schedule.weekDays").dump(), R"(["Monday","Sunday"])");
    EXPECT_EQ(trigger["startTime"].text(), "2022-05-10 10:15:00") << "as it was written";
}

TEST_F(Schedules, RefuseWhatCanNeverHappen) {
    const std::string start = R"({"triggerType":"Recurrence","frequency":"day","interval":1)";
    EXPECT_EQ(refusal("null"), "properties.trigger ");
    EXPECT_EQ(refusal(R"({"triggerType":"Moon"})"), "properties.trigger.triggerType ");
    EXPECT_EQ(refusal(R"({"triggerType":"Cron"})"), "properties.trigger.expression ");
    EXPECT_EQ(refusal(R"({"triggerType":"Cron","expression":"61 * * * *"})"),
              "properties.trigger.expression ");
    EXPECT_EQ(refusal(R"({"triggerType":"Recurrence","frequency":"year","interval":0})"),
              "properties.trigger.frequency properties.trigger.interval ");
    EXPECT_EQ(
        refusal(start + R"(,"schedule":{"hours":[24],"minutes":["x"],"monthDays":[0],"weekDays":["Mo"]}})"),
        "properties.trigger.schedule.hours properties.trigger.schedule.minutes "
        "properties.trigger.schedule.monthDays properties.trigger.schedule.weekDays ");
    EXPECT_EQ(refusal(start + R"(,"startTime":"soon"})"), "properties.trigger.startTime ");
    EXPECT_EQ(refusal(start + R"(,"startTime":"2026-01-02T00:00:00","endTime":"2026-01-01T00:00:00"})"),
              "properties.trigger.endTime ");
    EXPECT_EQ(refusal(start + R"(,"timeZone":""})"), "properties.trigger.timeZone ");
    EXPECT_EQ(call("PUT", "/s", body_of(kCron, "7")).status, 400);
    EXPECT_EQ(call("PUT", "/s", body_of(kCron, R"({"inputs":[]})")).status, 400);
    EXPECT_EQ(
        call("PUT", "/s", R"({"properties":{"trigger":)" + kCron + R"(,"action":{"actionType":"Dance"}}})")
            .status,
        400);
    EXPECT_EQ(call("PUT", "/s", body_of(kCron, kCommand, R"(,"isEnabled":"no")")).status, 400);
    EXPECT_EQ(call("PUT", "/s", "{}").status, 400);
    EXPECT_EQ(call("PUT", "/%2e%2e", body_of(kCron, kCommand)).status, 400);
    EXPECT_EQ(call("PUT", "/" + std::string(256, 's'), body_of(kCron, kCommand)).status, 400);
    EXPECT_EQ(count("All"), 0U);
}

TEST_F(Schedules, SubmitTheirJobAtOnceWhenAsked) {
    ASSERT_EQ(call("PUT", "/s.1", body_of(kCron, kCommand)).status, 201);
    const auto said = call("POST", "/s.1/trigger", R"({"scheduleTime":"2026-01-31T10:00:00+00:00"})");
    ASSERT_EQ(said.status, 200) << said.body;
    const std::string name = json_of(said)["submissionId"].string();
    EXPECT_TRUE(name.starts_with("s-1-2026")) << name;
    const Json job = json_of(world_.call({"GET", kWs + "/jobs/" + name, "", {}}));
    EXPECT_EQ(job.get("properties.status").text(), "Queued");
    EXPECT_EQ(job.get("properties.experimentName").text(), "Default");
    EXPECT_EQ(job.get("properties.inputs.t.value").text(), "2026-01-31T10:00:00.000000Z");
    EXPECT_EQ(job.get("properties.properties")["azureml.scheduleName"].text(), "s.1");
    EXPECT_EQ(call("POST", "/s.1/trigger", R"({"scheduleTime":"soon"})").status, 400);
    EXPECT_EQ(call("POST", "/none/trigger").status, 404);
}

TEST_F(Schedules, RunAJobThatIsThereAgain) {
    ASSERT_EQ(world_.call({"PUT", kWs + "/jobs/first", R"({"properties":)" + kCommand + "}", {}}).status,
              201);
    ASSERT_EQ(call("PUT", "/s",
                   body_of(kCron, R"({"jobType":"Pipeline","experimentName":"","sourceJobId":")" + kWs +
                                      R"(/jobs/first","isArchived":false})"))
                  .status,
              201);
    const auto said = call("POST", "/s/trigger");
    ASSERT_EQ(said.status, 200) << said.body;
    const Json job =
        json_of(world_.call({"GET", kWs + "/jobs/" + json_of(said)["submissionId"].string(), "", {}}));
    EXPECT_EQ(job.get("properties.command").text(), "echo hi");
    ASSERT_EQ(
        call("PUT", "/s", body_of(kCron, R"({"jobType":"Pipeline","sourceJobId":"azureml:none"})")).status,
        200);
    EXPECT_EQ(call("POST", "/s/trigger").status, 404);
}

TEST_F(Schedules, PassOnWhyAJobIsRefused) {
    ASSERT_EQ(
        call("PUT", "/s", body_of(kCron, R"({"jobType":"Command","environmentId":"azureml:base:1"})")).status,
        201);
    EXPECT_EQ(call("POST", "/s/trigger").status, 400);
}

TEST_F(Schedules, AreNoBusinessOfAReader) {
    ASSERT_EQ(call("PUT", "/s", body_of(kCron, kCommand)).status, 201);
    const auto reader = world_.as("rob", Role::Reader);
    for (const auto& [method, path] : {std::pair{"PUT", "/s"}, {"DELETE", "/s"}, {"POST", "/s/trigger"}})
        EXPECT_EQ(world_.call({method, kWs + "/schedules" + path, body_of(kCron, kCommand), reader}).status,
                  403);
    EXPECT_EQ(world_.call({"GET", kWs + "/schedules/s", "", reader}).status, 200);
}

}  // namespace
}  // namespace lavant::api
