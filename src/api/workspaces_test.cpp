#include "api/workspaces.h"

#include <gtest/gtest.h>

#include "api/test_world.h"

namespace lavant::api {
namespace {

const std::string kGroup =
    "/subscriptions/s9/resourceGroups/Group 9/providers/Microsoft.MachineLearningServices";
const std::string kNew = kGroup + "/workspaces/fresh";
const std::string kJob =
    R"({"properties":{"jobType":"Command","command":"true","environmentId":"azureml:base:1"}})";

std::string spelt(std::string path) {
    for (std::size_t at = 0; (at = path.find(' ', at)) != std::string::npos;) path.replace(at, 1, "%20");
    return path;
}

class WorkspacesTest : public testing::Test {
 protected:
    int status_of(const std::string& method, const std::string& path, const std::string& body = "",
                  std::map<std::string, std::string> headers = {}, bool as_owner = true) {
        return world_.call({method, spelt(path), body, std::move(headers), as_owner}).status;
    }
    wire::Json get(const std::string& path) { return json_of(world_.call({"GET", spelt(path), "", {}})); }
    TestWorld world_;
};

TEST_F(WorkspacesTest, AreMadeWhenAnOwnerNamesThem) {
    const wire::Json made = get(kNew);
    EXPECT_EQ(made["name"].text(), "fresh");
    const std::string id = made.get("properties.workspaceId").string();
    EXPECT_EQ(id.size(), 36U);
    EXPECT_EQ(get(kGroup + "/workspaces/FRESH").get("properties.workspaceId").text(), id)
        << "case does not matter";
    EXPECT_NE(get(kGroup + "/workspaces/other").get("properties.workspaceId").text(), id);
    EXPECT_EQ(get(kGroup + "/workspaces")["value"].size(), 2U);
    EXPECT_EQ(get("/subscriptions/s1/providers/Microsoft.MachineLearningServices/workspaces")["value"].size(),
              1U);
}

TEST_F(WorkspacesTest, AreListedByTheirKind) {
    ASSERT_EQ(status_of("GET", kNew), 200);
    const auto listed = [this](const std::string& kinds) {
        return get(kGroup + "/workspaces?kind=" + kinds)["value"].size();
    };
    for (const char* ours : {"", "default", "Default", "hub,default", "hub,%20default"})
        EXPECT_EQ(listed(ours), 1U) << ours;
    for (const char* others : {"hub", "project,hub", "defaults", ","})
        EXPECT_EQ(listed(others), 0U) << others;
}

TEST_F(WorkspacesTest, GiveTheirOwnersAKeyThatOpensTheirDefaultDatastoreOnly) {
    const auto key = [this](const std::string& workspace) {
        return json_of(world_.call({"POST", spelt(workspace) + "/listKeys", "", {}}))["userStorageKey"]
            .string();
    };
    ASSERT_EQ(status_of("GET", kNew), 200);
    EXPECT_FALSE(key(kNew).empty());
    EXPECT_NE(key(kNew), key(kWs));
    const auto secret = json_of(world_.call({"POST",
                                             spelt(kNew) + "/datastores/workspaceblobstore/listSecrets",
                                             R"({"expirableSecret":false})",
                                             {}}));
    EXPECT_EQ(secret["key"].text(), key(kNew));
    const auto contributor = world_.as("rob", Role::Contributor);
    EXPECT_EQ(status_of("POST", kNew + "/listKeys", "", contributor, false), 403);
}

TEST_F(WorkspacesTest, NameThingsThatCanBeLookedAtAndNotTakenAway) {
    const wire::Json made = get(kNew);
    for (const char* one : {"storageAccount", "keyVault", "applicationInsights"}) {
        const std::string id = made["properties"][one].string();
        EXPECT_EQ(get(id)["id"].text(), id);
        EXPECT_TRUE(get(id)["properties"].is_object());
        EXPECT_EQ(status_of("DELETE", id), 200);
        EXPECT_EQ(status_of("GET", id), 200);
        EXPECT_EQ(status_of("GET", id + "2"), 404);
        EXPECT_EQ(status_of("DELETE", id, "", {}, false), 401);
    }
}

TEST_F(WorkspacesTest, AreNotMadeByOthers) {
    const auto reader = world_.as("rob", Role::Contributor);
    EXPECT_EQ(status_of("GET", kNew, "", reader, false), 404);
    EXPECT_EQ(status_of("PUT", kNew, "{}", reader, false), 403);
    EXPECT_EQ(status_of("PUT", kNew, "{}"), 200);
    EXPECT_EQ(status_of("GET", kNew, "", reader, false), 200);
}

TEST_F(WorkspacesTest, KeepTheirThingsApart) {
    ASSERT_EQ(status_of("PUT", kNew + "/jobs/pear", kJob), 201);
    EXPECT_EQ(status_of("GET", kWs + "/jobs/pear"), 404);
    ASSERT_EQ(status_of("PUT", kWs + "/jobs/pear", kJob), 201) << "a name is free in another workspace";
    EXPECT_EQ(get(kNew + "/jobs")["value"].size(), 1U);
    ASSERT_EQ(status_of("PUT", kNew + "/environments/e/versions/1", R"({"properties":{"image":"python:3"}})"),
              201);
    EXPECT_EQ(status_of("GET", kWs + "/environments/e/versions/1"), 404);
    EXPECT_NE(get(kNew + "/datastores/workspaceblobstore").get("properties.containerName").text(),
              get(kWs + "/datastores/workspaceblobstore").get("properties.containerName").text());
}

TEST_F(WorkspacesTest, AreDeletedWithAllTheyHave) {
    ASSERT_EQ(
        status_of("PUT", kNew, R"({"location":"westus","tags":{"a":"b"},"properties":{"friendlyName":"F"}})"),
        200);
    EXPECT_EQ(get(kNew)["location"].text(), "westus");
    EXPECT_EQ(get(kNew)["tags"]["a"].text(), "b");
    ASSERT_EQ(status_of("PUT", kNew + "/environments/e/versions/1", R"({"properties":{"image":"python:3"}})"),
              201);
    const std::string id = get(kNew).get("properties.workspaceId").string();
    ASSERT_EQ(status_of("DELETE", kNew), 202);
    EXPECT_EQ(status_of("GET", kNew + "/operations/delete"), 200);
    EXPECT_EQ(status_of("GET", kNew), 404) << "what was deleted is not made again by a look";
    EXPECT_EQ(status_of("PUT", kNew + "/jobs/pear", kJob), 404);
    EXPECT_EQ(status_of("DELETE", kNew), 404);
    ASSERT_EQ(status_of("PUT", kNew, "{}"), 200);
    EXPECT_NE(get(kNew).get("properties.workspaceId").text(), id);
    EXPECT_EQ(status_of("GET", kNew + "/environments/e/versions/1"), 404);
}

TEST_F(WorkspacesTest, CannotHaveNamesThatLeadElsewhere) {
    for (const char* bad : {"%2e%2e", "a%2fb", "a%00b", "a%0ab", "a%5cb"})
        EXPECT_EQ(world_.call({"GET", spelt(kGroup) + "/workspaces/" + bad, "", {}}).status, 400) << bad;
    EXPECT_EQ(status_of("GET", kGroup + "/workspaces/" + std::string(261, 'w')), 400);
    for (const char* bad : {"a", "a/b", "a/b/c/d", "a//c", "a/b/%2e%2e"})
        EXPECT_EQ(status_of("GET", "/lavant/v1/workspace", "", {{"Lavant-Workspace", bad}}), 400) << bad;
    for (const char* odd : {"%252e%252e%252f", "a%25b", "%c0%ae%c0%ae", "%ff"})
        EXPECT_EQ(status_of("GET", kGroup + "/workspaces/" + odd), 400) << odd;
}

TEST_F(WorkspacesTest, AreDeployedByTheTemplateOfTheSdk) {
    const std::string deployment =
        "/subscriptions/s9/resourcegroups/g9/providers/Microsoft.Resources/deployments/d1";
    ASSERT_EQ(status_of("PUT", deployment,
                        R"({"properties":{"mode":"Incremental","template":{},"parameters":{
                            "workspaceName":{"value":"made"},"location":{"value":"eastus"},
                            "description":{"value":"D"},"tagValues":{"value":{"k":"v"}}}}})"),
              201);
    EXPECT_EQ(get(deployment).get("properties.provisioningState").text(), "Succeeded");
    const wire::Json made =
        get("/subscriptions/s9/resourceGroups/g9/providers/"
            "Microsoft.MachineLearningServices/workspaces/made");
    EXPECT_EQ(made.get("properties.description").text(), "D");
    EXPECT_EQ(made["location"].text(), "eastus");
    EXPECT_EQ(status_of("PUT", deployment, R"({"properties":{"parameters":{}}})"), 400);
}

}  // namespace
}  // namespace lavant::api
