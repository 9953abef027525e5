#include "api/workspace_settings.h"

#include <gtest/gtest.h>

#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kOwn = "/lavant/v1/workspace";
const std::string kSubnet =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.Network/virtualNetworks/Net/subnets/Jobs";
const std::string kJob =
    R"({"properties":{"jobType":"Command","command":"true","environmentId":"azureml:base:1"}})";

class WorkspaceSettingsTest : public testing::Test {
 protected:
    ports::HttpResponse patch(const std::string& path, const std::string& body,
                              std::map<std::string, std::string> headers = {}) {
        headers.emplace("Lavant-Workspace", "s1/g1/w1");
        return world_.call({"PATCH", path, body, std::move(headers)});
    }
    Json get(const std::string& path) { return json_of(world_.call({"GET", path, "", {}})); }
    ports::HttpResponse submit(const std::string& name) {
        return world_.call({"PUT", kWs + "/jobs/" + name, kJob, {}});
    }
    Pool last_pool() {
        for (auto event = world_.posted.rbegin(); event != world_.posted.rend(); ++event)
            if (const auto* submitted = std::get_if<plane::SubmitJob>(&*event)) return submitted->pool;
        ADD_FAILURE() << "no job was submitted";
        return {};
    }
    TestWorld world_;
};

TEST_F(WorkspaceSettingsTest, AreServerlessAtFirst) {
    EXPECT_TRUE(get(kOwn)["serverless"].boolean());
    EXPECT_TRUE(get(kOwn).get("serverless_compute.custom_subnet").is_null());
    const Json arm = get(kWs);
    EXPECT_TRUE(arm.get("properties.serverlessComputeSettings").is_object());
    EXPECT_FALSE(arm.get("properties.serverlessComputeSettings.serverlessComputeNoPublicIP").boolean(true));
    EXPECT_EQ(arm.get("properties.friendlyName").text(), "w1");
    EXPECT_EQ(submit("j1").status, 201);
    EXPECT_EQ(last_pool().terms.subnet, "");
}

TEST_F(WorkspaceSettingsTest, RefuseJobsWithoutAComputeWhileServerlessIsOff) {
    const auto off = patch(kOwn, R"({"serverless":false})");
    ASSERT_EQ(off.status, 200) << off.body;
    const auto none = submit("j1");
    EXPECT_EQ(none.status, 400);
    EXPECT_NE(none.body.find("serverless compute is off"), std::string::npos) << none.body;
    EXPECT_NE(none.body.find("lavant compute create"), std::string::npos) << none.body;
    for (const char* name : {"gpu", "cpu"}) {
        AssetWrite write;
        write.asset.key = {kDefaultWorkspace, "computes", name, ""};
        write.asset.body = "{}";
        world_.write({write});
    }
    EXPECT_NE(submit("j1").body.find("give the job a compute: cpu or gpu"), std::string::npos);
    ASSERT_EQ(patch(kOwn, R"({"serverless":true})").status, 200);
    EXPECT_EQ(submit("j1").status, 201);
}

TEST_F(WorkspaceSettingsTest, PutServerlessPoolsIntoTheSubnet) {
    ASSERT_EQ(submit("j1").status, 201);
    const std::string before = last_pool().key;
    const auto set =
        patch(kOwn, R"({"serverless_compute":{"custom_subnet":")" + kSubnet + R"(","no_public_ip":true}})");
    ASSERT_EQ(set.status, 200) << set.body;
    ASSERT_EQ(submit("j2").status, 201);
    EXPECT_EQ(
        last_pool().terms.subnet,
        "/subscriptions/s1/resourcegroups/g1/providers/microsoft.network/virtualnetworks/net/subnets/jobs");
    EXPECT_NE(last_pool().key, before) << "a pool keeps its terms";
    EXPECT_EQ(get(kWs).get("properties.serverlessComputeSettings.serverlessComputeCustomSubnet").text(),
              kSubnet);
    EXPECT_TRUE(get(kWs).get("properties.serverlessComputeSettings.serverlessComputeNoPublicIP").boolean());
}

TEST_F(WorkspaceSettingsTest, AreChangedByTheSdksPatch) {
    const auto set =
        patch(kWs, R"({"tags":{"team":"vision"},"identity":{"type":"SystemAssigned"},"properties":{)"
                   R"("description":"ours","friendlyName":"Vision","publicNetworkAccess":"Disabled",)"
                   R"("serverlessComputeSettings":{"serverlessComputeCustomSubnet":")" +
                       kSubnet + R"(","serverlessComputeNoPublicIP":true}}})");
    ASSERT_EQ(set.status, 200) << set.body;
    EXPECT_EQ(json_of(set)["name"].text(), "w1");
    EXPECT_EQ(json_of(set).get("properties.description").text(), "ours");
    EXPECT_EQ(json_of(set).get("properties.friendlyName").text(), "Vision");
    EXPECT_EQ(get(kWs).get("tags.team").text(), "vision");
    ASSERT_EQ(patch(kWs, R"({"properties":{"description":"hers"}})").status, 200);
    EXPECT_EQ(get(kWs).get("tags.team").text(), "vision") << "what is not said stays";
    EXPECT_EQ(get(kOwn).get("serverless_compute.custom_subnet").text(), kSubnet);
    ASSERT_EQ(patch(kWs, R"({"properties":{"serverlessComputeSettings":{}}})").status, 200);
    EXPECT_TRUE(get(kOwn).get("serverless_compute.custom_subnet").is_null());
}

TEST_F(WorkspaceSettingsTest, RefuseWhatMakesNoSense) {
    const std::pair<std::string, std::string> bad[] = {
        {R"({"serverless":"maybe"})", "true or false"},
        {R"({"serverles":true})", "did you mean 'serverless'?"},
        {R"({"serverless_compute":{"custom_subnet":"default"}})", "id of a subnet"},
        {R"({"serverless_compute":{"custom_subnet":7}})", "id of a subnet"},
        {R"({"serverless_compute":{"no_public_ip":"yes"}})", "true or false"},
        {R"({"serverless_compute":{"subnet":null}})", "unknown"},
        {R"({"serverless_compute":[]})", "object"},
        {R"({"tags":[]})", "tags"},
        {R"({"tags":{"a":{}}})", "tags.a"},
        {R"({"tags":{"a":")" + std::string(257, 'v') + R"("}})", "tags.a"},
        {R"({"description":7})", "description"},
        {R"({"description":")" + std::string(4097, 'd') + R"("})", "description"},
        {"7", "object"},
    };
    for (const auto& [body, why] : bad) {
        const auto answer = patch(kOwn, body);
        EXPECT_EQ(answer.status, 400) << body.substr(0, 80);
        EXPECT_NE(answer.body.find(why), std::string::npos) << answer.body;
    }
    EXPECT_EQ(
        patch(kWs, R"({"properties":{"serverlessComputeSettings":{"serverlessComputeCustomSubnet":"x"}}})")
            .status,
        400);
    EXPECT_TRUE(world_.posted.empty());
}

TEST_F(WorkspaceSettingsTest, BelongToOwners) {
    const auto headers = world_.as("bob", Role::Contributor);
    EXPECT_EQ(patch(kOwn, R"({"serverless":false})", headers).status, 403);
    EXPECT_EQ(patch(kWs, "{}", headers).status, 403);
    EXPECT_EQ(world_.call({"GET", kOwn, "", headers}).status, 200);
}

TEST_F(WorkspaceSettingsTest, StayAsTheyAreUnderAReadOnlyLock) {
    const std::string lock = kWs + "/providers/Microsoft.Authorization/locks/frozen";
    ASSERT_EQ(world_.call({"PUT", lock, R"({"properties":{"level":"ReadOnly"}})", {}}).status, 201);
    const auto refused = patch(kOwn, R"({"serverless":false})");
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(refused.body.find("'frozen' (ReadOnly)"), std::string::npos) << refused.body;
    EXPECT_NE(refused.body.find("lavant lock delete --scope '" + to_lower(kWs) + "' -n 'frozen'"),
              std::string::npos)
        << refused.body;
    EXPECT_EQ(patch(kWs, "{}").status, 409);
    std::string other = kWs;
    other.back() = '2';
    EXPECT_EQ(patch(other, "{}").status, 200) << "the lock is on another workspace";
    ASSERT_EQ(world_.call({"PUT", lock, R"({"properties":{"level":"CanNotDelete"}})", {}}).status, 200);
    EXPECT_EQ(patch(kOwn, R"({"serverless":false})").status, 200);
}

TEST_F(WorkspaceSettingsTest, AreReadAgainAfterAWhile) {
    ASSERT_EQ(submit("j1").status, 201);
    AssetWrite elsewhere = settings_write(kDefaultWorkspace, {.serverless = false}, "ann", world_.clock.at);
    world_.write({elsewhere});
    world_.clock.at += std::chrono::seconds(6);
    EXPECT_EQ(submit("j2").status, 400);
}

}  // namespace
}  // namespace lavant::api
