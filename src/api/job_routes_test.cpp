#include "api/job_routes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/test_world.h"
#include "base/text.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

Json parsed(const std::string& text) {
    auto json = wire::parse_json(text);
    EXPECT_TRUE(json) << text;
    return json ? *json : Json();
}

std::string job_body(const std::string& more = "") {
    return R"({"properties":{"jobType":"Command","command":"echo hi","environmentId":"azureml:base:1",)"
           R"("experimentName":"exp1","displayName":"disp","tags":{"t":"1"},"properties":{})" +
           more + "}}";
}

class JobRoutes : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& name, const std::string& body) {
        return world_.call({"PUT", kWs + "/jobs/" + name + "?api-version=2025-01-01-preview", body, {}});
    }
    Json get(const std::string& name) {
        return parsed(world_.call({"GET", kWs + "/jobs/" + name, "", {}}).body);
    }
    Job stored(const std::string& name) { return *world_.store.find_job(kDefaultWorkspace, name).value(); }
    Launch launch_of(const std::string& name) { return *wire::decode_launch(stored(name).body.launch); }
    TestWorld world_;
};

TEST_F(JobRoutes, SubmitsAndShowsAJobAsTheSdkNeedsIt) {
    const auto response =
        put("a1", job_body(R"(,"description":"why","services":{"jl":{"jobServiceType":"JupyterLab"}})"));
    ASSERT_EQ(response.status, 201) << response.body;
    for (const Json& job : {parsed(response.body), get("a1")}) {
        const Json& properties = job["properties"];
        EXPECT_EQ(job["id"].text(), kWs + "/jobs/a1");
        EXPECT_EQ(job["name"].text(), "a1");
        EXPECT_EQ(job.get("systemData.createdBy").text(), "ann");
        EXPECT_EQ(properties["jobType"].text(), "Command");
        EXPECT_EQ(properties["status"].text(), "Queued");
        EXPECT_EQ(properties["displayName"].text(), "disp");
        EXPECT_EQ(properties["description"].text(), "why");
        EXPECT_EQ(properties["environmentId"].text(), "azureml:base:1");
        EXPECT_EQ(properties.get("tags.t").text(), "1");
        EXPECT_TRUE(properties["properties"].is_object());
        EXPECT_EQ(properties.get("services.Studio.jobServiceType").text(), "Studio");
        EXPECT_EQ(properties.get("services.jl.jobServiceType").text(), "JupyterLab");
        EXPECT_FALSE(properties["outputs"].has("default"));
    }
}

TEST_F(JobRoutes, FillsInDefaultsOfTheServer) {
    const std::string body =
        R"({"properties":{"jobType":"Command","command":"cat ${{inputs.d}} ${{outputs.o}}",)"
        R"("environmentId":"azureml:base:1","services":null,"tags":null,"identity":null,)"
        R"("inputs":{"d":{"jobInputType":"uri_file","uri":)"
        R"("azureml://subscriptions/s1/resourcegroups/g1/workspaces/w1/datastores/workspaceblobstore/)"
        R"(paths/x/y.csv"}},)"
        R"("outputs":{"o":{"jobOutputType":"uri_folder"}}}})";
    ASSERT_EQ(put("a1", body).status, 201);
    const Json properties = get("a1")["properties"];
    EXPECT_EQ(properties["experimentName"].text(), "Default");
    EXPECT_EQ(properties["displayName"].text(), "a1");
    EXPECT_EQ(properties.get("inputs.d.mode").text(), "ReadOnlyMount");
    EXPECT_EQ(properties.get("outputs.o.mode").text(), "ReadWriteMount");
    EXPECT_TRUE(properties["tags"].is_object());
    EXPECT_TRUE(properties["services"].is_object());
    const Launch launch = launch_of("a1");
    EXPECT_EQ(launch.inputs.front().value, "azureml://datastores/workspaceblobstore/paths/x/y.csv");
    EXPECT_EQ(launch.outputs.front().uri, "azureml://datastores/workspaceblobstore/paths/azureml/a1/o/");
    EXPECT_EQ(launch.environment.kind, "host");
    EXPECT_EQ(launch.workspace_name, "w1");
}

TEST_F(JobRoutes, EditsMetadataOfAnExistingJobAndNeverStartsItAgain) {
    ASSERT_EQ(put("a1", job_body()).status, 201);
    world_.set_status("a1", JobStatus::Completed);
    const auto again = put("a1", job_body(R"(,"isArchived":true)"));
    EXPECT_EQ(again.status, 200);
    EXPECT_TRUE(parsed(again.body).get("properties.isArchived").boolean());
    EXPECT_EQ(parsed(again.body).get("properties.status").text(), "Completed");
    EXPECT_EQ(get("a1").get("properties.displayName").text(), "disp");
    const std::string no_such_environment =
        R"({"properties":{"jobType":"Command","command":"x","environmentId":"azureml:gone:1",)"
        R"("displayName":"new"}})";
    EXPECT_EQ(put("a1", no_such_environment).status, 200);
    EXPECT_EQ(get("a1").get("properties.displayName").text(), "new");
}

TEST_F(JobRoutes, KeepsThePropertiesThatAnEditBrings) {
    ASSERT_EQ(put("a1", job_body()).status, 201);
    std::string body = job_body();
    body.replace(body.find(R"("properties":{}})"), 15, R"("properties":{"a":"1"})");
    EXPECT_EQ(put("a1", body).status, 200);
    EXPECT_EQ(get("a1").get("properties.properties").dump(), R"({"a":"1"})");
    EXPECT_EQ(put("a1", job_body()).status, 200);
    EXPECT_EQ(get("a1").get("properties.properties").dump(), R"({"a":"1"})") << "an edit adds and changes";
    EXPECT_EQ(get("a1").get("properties.command").text(), "echo hi");
}

TEST_F(JobRoutes, RefusesUnknownThingsAllAtOnceWithTheRemedy) {
    const auto response =
        put("a1", R"({"properties":{"jobType":"Command","command":"x","computeId":")" + kWs +
                      R"(/computes/nope","environmentId":"azureml:gone:1","codeId":"azureml:c:1",)"
                      R"("inputs":{"d":{"jobInputType":"uri_file","uri":"azureml:nodata:1"}}}})");
    EXPECT_EQ(response.status, 400);
    const Json error = parsed(response.body)["error"];
    EXPECT_EQ(error["details"].size(), 4U) << response.body;
    EXPECT_NE(error["message"].text().find("run serverless"), std::string::npos);
    const auto size = put("a1", job_body(R"(,"resources":{"instanceType":"Standard_DS3v2"})"));
    EXPECT_EQ(size.status, 400);
    EXPECT_NE(size.body.find("Standard_DS3_v2"), std::string::npos) << size.body;
    EXPECT_EQ(world_.call({"GET", kWs + "/jobs/a1", "", {}}).status, 404);
}

TEST_F(JobRoutes, RefusesNamesThatCouldLeadAstray) {
    for (const char* name : {"..", "a%2F..%2Fb", "a.b", "%00", "a%20b", "%C3%BC"})
        EXPECT_EQ(put(name, job_body()).status, 400) << name;
    EXPECT_EQ(put(std::string(241, 'a'), job_body()).status, 400) << "dcid.NAME is one part of a blob's name";
    EXPECT_EQ(put(std::string(240, 'a'), job_body()).status, 201);
}

TEST_F(JobRoutes, RefusesOutputsThatCouldNotBeKept) {
    for (const char* path : {"", "a//b", "../b", "a/./b", ".lavant-staging/x", "a\\tb"}) {
        const auto response = put("a1", job_body(R"(,"outputs":{"o":{"jobOutputType":"uri_folder","uri":)"
                                                 R"("azureml://datastores/workspaceblobstore/paths/)" +
                                                 std::string(path) + R"("}})"));
        EXPECT_EQ(response.status, 400) << path;
        const Json detail = parsed(response.body).get("error.details").items().at(0);
        EXPECT_EQ(detail["target"].text(), "properties.outputs.o.uri") << response.body;
        EXPECT_TRUE(detail["message"].text().starts_with("output 'o' cannot be kept there: ")) << path;
    }
    const std::string name(246, 'o');
    const auto long_name =
        put("a1", job_body(R"(,"outputs":{")" + name + R"(":{"jobOutputType":"uri_folder"}})"));
    EXPECT_EQ(long_name.status, 400) << "its usual place is a folder of that name";
}

TEST_F(JobRoutes, RefusesBodiesThatAreNotJobs) {
    for (const char* body : {"", "{", "[]", "{\"properties\":1}", "{\"properties\":{\"jobType\":\"Sweep\"}}"})
        EXPECT_EQ(put("a1", body).status, 400) << body;
}

TEST_F(JobRoutes, TakesInstancesAndRetriesFromTheJob) {
    ASSERT_EQ(put("a1", job_body(R"(,"resources":{"instanceType":"standard_ds4_v2","instanceCount":2},)"
                                 R"("queueSettings":{"jobTier":"Spot"})"))
                  .status,
              201);
    const std::string body =
        R"({"properties":{"jobType":"Command","command":"x","environmentId":"azureml:base:1",)"
        R"("computeId":"local",)"
        R"("properties":{"lavant.max_retries":"5","lavant.retry_on":"oom,exit:7",)"
        R"("lavant.python_home":"/opt/py"}}})";
    ASSERT_EQ(put("a2", body).status, 201);
    EXPECT_EQ(stored("a1").head.instances, 2);
    const JobHead head = stored("a2").head;
    EXPECT_EQ(head.retry.retries_max, 5);
    EXPECT_EQ(head.retry.on_exit_codes, std::vector<int>{7});
    EXPECT_FALSE(head.retry.on_node_lost);
    const auto wrong =
        put("a3", R"({"properties":{"jobType":"Command","command":"x","environmentId":"azureml:base:1",)"
                  R"("properties":{"lavant.max_retry":"5"}}})");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_NE(wrong.body.find("lavant.max_retries"), std::string::npos);
}

TEST_F(JobRoutes, MapsImagesOfTheCatalogueAndRefusesOthers) {
    const auto environment = [&](const std::string& name, const std::string& properties) {
        return world_
            .call({"PUT",
                   kWs + "/environments/" + name + "/versions/1",
                   R"({"properties":)" + properties + "}",
                   {}})
            .status;
    };
    ASSERT_EQ(environment("py", R"({"image":"python:3.11-slim"})"), 201);
    ASSERT_EQ(environment("odd", R"({"image":"acme/odd:1"})"), 201);
    ASSERT_EQ(environment("conda", R"({"image":"python:3.11","condaFile":"name: x"})"), 201);
    const auto with = [&](const std::string& name, const std::string& id) {
        return put(name,
                   R"({"properties":{"jobType":"Command","command":"x","environmentId":")" + id + R"("}})");
    };
    EXPECT_EQ(with("j1", kWs + "/environments/py/versions/1").status, 201);
    EXPECT_EQ(with("j2", "azureml:py@latest").status, 201);
    EXPECT_EQ(with("j3", "azureml:host:1").status, 201);
    EXPECT_NE(with("j4", "azureml:odd:1").body.find("catalogue"), std::string::npos);
    EXPECT_NE(with("j5", "azureml:conda:1").body.find("environment: host"), std::string::npos);
    EXPECT_EQ(launch_of("j1").environment.kind, "image");
    EXPECT_NE(launch_of("j1").environment.note, "");
}

TEST_F(JobRoutes, ListsPageByPageAndHidesArchivedJobs) {
    for (int i = 0; i < 105; ++i) world_.add_job("j" + std::to_string(i), JobStatus::Completed);
    ASSERT_EQ(put("j7", job_body(R"(,"isArchived":true)")).status, 200);
    const Json first =
        parsed(world_.call({"GET", kWs + "/jobs?listViewType=ActiveOnly&api-version=x", "", {}}).body);
    EXPECT_EQ(first["value"].size(), 100U);
    EXPECT_EQ(first["value"].items().front()["name"].text(), "j104");
    const std::string link = first["nextLink"].string();
    ASSERT_TRUE(link.starts_with("https://127.0.0.1:8443" + kWs)) << link;
    const Json second = parsed(world_.call({"GET", link.substr(22), "", {}}).body);
    EXPECT_EQ(second["value"].size(), 4U);
    EXPECT_FALSE(second.has("nextLink"));
    EXPECT_EQ(
        parsed(world_.call({"GET", kWs + "/jobs?listViewType=ArchivedOnly", "", {}}).body)["value"].size(),
        1U);
    const Json top = parsed(world_.call({"GET", kWs + "/jobs?%24top=3", "", {}}).body);
    EXPECT_EQ(top["value"].size(), 3U);
    EXPECT_FALSE(top.has("nextLink"));
}

TEST_F(JobRoutes, CancelsByAnOperationThatAnswers) {
    ASSERT_EQ(put("a1", job_body()).status, 201);
    for (int i = 0; i < 2; ++i) {
        const auto response = world_.call({"POST", kWs + "/jobs/a1/cancel", "", {{"Host", "10.0.0.5:9"}}});
        EXPECT_EQ(response.status, 202);
        ASSERT_EQ(response.headers.front().first, "Location");
        EXPECT_EQ(response.headers.front().second, "https://10.0.0.5:9" + kWs + "/jobs/a1/operations/cancel");
        EXPECT_EQ(response.headers.back(), (ports::Header{"Retry-After", "1"}));
    }
    EXPECT_EQ(world_.call({"GET", kWs + "/jobs/a1/operations/cancel", "", {}}).status, 200);
    EXPECT_EQ(get("a1").get("properties.status").text(), "Canceled");
    EXPECT_EQ(world_.call({"POST", kWs + "/jobs/none/cancel", "", {}}).status, 404);
}

TEST_F(JobRoutes, SaysSoWhenTheInboxIsFull) {
    world_.api();
    world_.inbox_full = true;
    const auto response = put("a1", job_body());
    EXPECT_EQ(response.status, 429);
    EXPECT_EQ(response.headers.back(), (ports::Header{"Retry-After", "1"}));
}

TEST_F(JobRoutes, RefusesNewJobsOnAFullDiskButStillCancels) {
    world_.free_bytes_min = ~0ULL;
    world_.add_job("a1", JobStatus::Running);
    const auto response = put("a2", job_body());
    EXPECT_EQ(response.status, 507);
    EXPECT_NE(response.body.find("delete old jobs"), std::string::npos);
    EXPECT_EQ(world_.call({"POST", kWs + "/jobs/a1/cancel", "", {}}).status, 202);
}

TEST_F(JobRoutes, ShowsAFreshEndToTheSdkAsFinalizing) {
    world_.sdk_settle = 1s;
    ASSERT_EQ(put("a1", job_body()).status, 201);
    world_.set_status("a1", JobStatus::Completed);
    const Ask by_sdk{"GET", kWs + "/jobs/a1", "", {{"User-Agent", "azure-ai-ml/1.35.2 azsdk"}}};
    EXPECT_EQ(parsed(world_.call(by_sdk).body).get("properties.status").text(), "Finalizing");
    EXPECT_EQ(get("a1").get("properties.status").text(), "Completed");
    world_.clock.at += 1s;
    EXPECT_EQ(parsed(world_.call(by_sdk).body).get("properties.status").text(), "Completed");
}

TEST(JobView, SlicesObjectsWithoutParsingThem) {
    const auto members = slice_object(R"({"a":1,"b":{"c":"}\",{"},"d":[1,{"e":","}],"f":null,"g":"x\\"})");
    ASSERT_EQ(members.size(), 5U);
    EXPECT_EQ(members[1].second, R"({"c":"}\",{"})");
    EXPECT_EQ(members[2].second, R"([1,{"e":","}])");
    EXPECT_EQ(members[4].second, R"("x\\")");
    EXPECT_TRUE(slice_object("{}").empty());
    EXPECT_TRUE(slice_object("[1]").empty());
    EXPECT_TRUE(slice_object("{\"a").empty());
}

TEST_F(JobRoutes, DeletesAJobThatHasEnded) {
    const auto remove = [this](const std::string& name) {
        return world_.call({"DELETE", kWs + "/jobs/" + name, "", {}}).status;
    };
    world_.add_job("a1", JobStatus::Running);
    EXPECT_EQ(remove("a1"), 409);
    world_.set_status("a1", JobStatus::Completed);
    EXPECT_EQ(remove("a1"), 204);
    EXPECT_EQ(world_.call({"GET", kWs + "/jobs/a1", "", {}}).status, 404);
    EXPECT_EQ(remove("a1"), 404);
    EXPECT_EQ(put("a1", job_body()).status, 201);
}

TEST_F(JobRoutes, JobsOfAScheduleAreFoundHoweverManyOthersCameSince) {
    std::string body = job_body();
    const std::string mark = R"("properties":{})";
    body.replace(body.find(mark), mark.size(),
                 R"("properties":{")" + std::string(kScheduleProperty) + R"(":"nightly"})");
    ASSERT_EQ(put("old", body).status, 201);
    for (int i = 0; i < 4'500; ++i) world_.add_job("other" + std::to_string(i), JobStatus::Completed);
    ASSERT_EQ(put("young", body).status, 201);
    std::vector<std::string> names;
    int pages = 0;
    std::string target = kWs + "/jobs?scheduleId=nightly";
    for (; !target.empty() && pages < 20; ++pages) {
        const Json page = parsed(world_.call({"GET", target, "", {}}).body);
        for (const Json& job : page["value"].items()) names.push_back(job["name"].string());
        const std::string next = page["nextLink"].is_null() ? "" : page["nextLink"].string();
        target = next.empty() ? "" : next.substr(next.find("/subscriptions/"));
    }
    EXPECT_EQ(names, (std::vector<std::string>{"young", "old"}));
    EXPECT_EQ(pages, 3);
}

}  // namespace
}  // namespace lavant::api
