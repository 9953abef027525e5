#include "wire/arm_compute.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/model/size.h"
#include "wire/compute_answer.h"

namespace lavant::wire {
namespace {

using namespace std::chrono_literals;

const std::string kSubnet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/x";

Result<ChosenSize> choose(const std::string& name) {
    const auto size = find_size(name);
    if (!size) return fail(ErrorCode::InvalidArgument, "there is no size");
    return ChosenSize{size->name, ""};
}

Result<ArmCompute> put(const std::string& body, const Json* stored = nullptr,
                       const std::string& name = "cpu-cluster") {
    return parse_arm_compute({ComputeRequest::Put, name, body, stored, choose});
}
Result<ArmCompute> patch(const std::string& body, const Json& stored) {
    return parse_arm_compute({ComputeRequest::Patch, "cpu-cluster", body, &stored, choose});
}
std::string cluster(const std::string& inner, const std::string& rest = "") {
    return R"({"location":"local",)" + rest + R"("properties":{"computeType":"AmlCompute","properties":{)" +
           inner + "}}}";
}
ArmCompute taken(const Result<ArmCompute>& compute) {
    EXPECT_TRUE(compute) << compute.error().message;
    return compute ? *compute : ArmCompute{};
}
std::string problems_of(const Result<ArmCompute>& compute) {
    std::string all;
    EXPECT_FALSE(compute);
    if (compute) return all;
    for (const FieldProblem& problem : compute.error().fields)
        all += problem.path + ": " + problem.message + "\n";
    return all.empty() ? compute.error().message : all;
}

TEST(ArmCompute, FillsInTheDefaults) {
    const ArmCompute compute = taken(put(cluster("")));
    EXPECT_EQ(compute.size, "Standard_DS3_v2");
    EXPECT_EQ(compute.tier, Tier::Dedicated);
    EXPECT_EQ(compute.nodes_min, 0);
    EXPECT_EQ(compute.nodes_max, 4);
    EXPECT_EQ(compute.idle_before_release, 120s);
    EXPECT_EQ(compute.location, "local");
    EXPECT_TRUE(compute.warnings.empty());
    EXPECT_EQ(compute.document.dump(),
              R"({"location":"local","tags":{},"properties":{"computeType":"AmlCompute","properties":{)"
              R"("osType":"Linux","vmSize":"Standard_DS3_v2","vmPriority":"Dedicated","scaleSettings":)"
              R"({"minNodeCount":0,"maxNodeCount":4,"nodeIdleTimeBeforeScaleDown":"PT2M"},)"
              R"("remoteLoginPortPublicAccess":"Disabled","enableNodePublicIp":true},)"
              R"("disableLocalAuth":true}})");
    EXPECT_EQ(taken(read_stored_compute(compute.document)).document.dump(), compute.document.dump());
}

TEST(ArmCompute, ReadsWhatTheSdkSends) {
    const ArmCompute compute = taken(put(cluster(
        R"("vmSize":"STANDARD_DS3_V2","vmPriority":"LowPriority","osType":"Linux","userAccountCredentials":)"
        R"({"adminUserName":"azureuser","adminUserPassword":"Passw0rd!x","adminUserSshPublicKey":"ssh-rsa AAA"},)"
        R"("scaleSettings":{"minNodeCount":1,"maxNodeCount":6,"nodeIdleTimeBeforeScaleDown":"PT1H"},)"
        R"("subnet":{"id":"/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/X"},)"
        R"("remoteLoginPortPublicAccess":"Enabled","enableNodePublicIp":true,"nodeStateCounts":{"idleNodeCount":9})",
        R"("tags":{"k":"v","n":7},"identity":{"type":"UserAssigned","userAssignedIdentities":{"/a/b":{}}},)")));
    EXPECT_EQ(compute.tier, Tier::LowPriority);
    EXPECT_EQ(compute.idle_before_release, 1h);
    EXPECT_EQ(compute.subnet,
              "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v/subnets/x");
    const std::string text = compute.document.dump();
    EXPECT_EQ(text.find("Passw0rd"), std::string::npos);
    EXPECT_EQ(text.find("nodeStateCounts"), std::string::npos);
    EXPECT_NE(
        text.find(
            R"("userAccountCredentials":{"adminUserName":"azureuser","adminUserSshPublicKey":"ssh-rsa AAA"})"),
        std::string::npos);
    EXPECT_EQ(compute.document["tags"].dump(), R"({"k":"v","n":"7"})");
    EXPECT_EQ(compute.warnings,
              std::vector<std::string>{"passwords and private keys are not kept; leave them out"});
}

TEST(ArmCompute, WarnsOfAnotherRegion) {
    const ArmCompute compute =
        taken(put(R"({"location":"West US","properties":{"computeType":"AmlCompute"}})"));
    EXPECT_EQ(compute.location, "westus");
    ASSERT_EQ(compute.warnings.size(), 1U);
    EXPECT_NE(compute.warnings[0].find("latency"), std::string::npos);
    EXPECT_NE(compute.warnings[0].find("cost"), std::string::npos);
    const ArmCompute box =
        taken(put(R"({"location":"westus","properties":{"computeType":"ComputeInstance"}})"));
    EXPECT_EQ(box.location, "local");
    EXPECT_EQ(box.warnings.size(), 1U);
}

TEST(ArmCompute, TellsEveryProblemAtOnce) {
    const auto bad =
        put(R"({"location":"atlantis","tags":{"a":[]},"identity":{"type":"x"},"properties":{)"
            R"("computeType":"AmlCompute","description":3,"properties":{"vmSize":"huge","vmPriority":"x",)"
            R"("enableNodePublicIp":"yes","subnet":{"id":"net"},)"
            R"("scaleSettings":{"minNodeCount":3,"maxNodeCount":2}}}})",
            nullptr, "a_b");
    const std::string all = problems_of(bad);
    for (const char* path :
         {"location: ", "tags.a: ", "identity.type: ", "properties.description: ",
          "properties.properties.vmSize: ", "properties.properties.vmPriority: ",
          "properties.properties.enableNodePublicIp: ", "properties.properties.subnet.id: ",
          "properties.properties.scaleSettings.minNodeCount: ", "name: "})
        EXPECT_NE(all.find(path), std::string::npos) << path << "\n" << all;
}

TEST(ArmCompute, TellsEachBrokenRuleOfTheNumbers) {
    const auto scale = [](const std::string& text) {
        return problems_of(put(cluster(R"("scaleSettings":{)" + text + "}")));
    };
    EXPECT_NE(scale(R"("minNodeCount":3,"maxNodeCount":2)").find("is 3, above the maximum of 2"),
              std::string::npos);
    EXPECT_NE(scale(R"("maxNodeCount":0)").find("maxNodeCount: must be at least 1"), std::string::npos);
    EXPECT_NE(scale(R"("minNodeCount":-1)").find("minNodeCount: must not be negative"), std::string::npos);
    EXPECT_NE(scale(R"("maxNodeCount":1e30)").find("maxNodeCount: must be an integer"), std::string::npos);
    EXPECT_NE(scale(R"("nodeIdleTimeBeforeScaleDown":"soon")").find("must be a time like PT2M"),
              std::string::npos);
    EXPECT_NE(scale(R"("nodeIdleTimeBeforeScaleDown":-1)").find("must not be negative"), std::string::npos);
    EXPECT_NE(scale(R"("nodeIdleTimeBeforeScaleDown":"P9000D")").find("must be at most"), std::string::npos);
}

TEST(ArmCompute, RefusesWhatIsNoCompute) {
    for (const char* body :
         {"", "[]", "{}", "3", R"({"properties":[]})", R"({"properties":{}})",
          R"({"properties":{"computeType":"Toaster"}})", R"({"properties":{"computeType":7}})",
          R"({"properties":{"computeType":"AmlCompute","properties":[]}})"})
        EXPECT_FALSE(put(body)) << body;
    EXPECT_FALSE(put(cluster(R"("virtualMachineImage":{"id":")" + std::string(300'000, 'x') + R"("})")));
}

TEST(ArmCompute, AnUpdateLeavesOutWhatStays) {
    const Json stored =
        taken(put(cluster(R"("vmPriority":"LowPriority","scaleSettings":{"minNodeCount":1,"maxNodeCount":6},)"
                          R"("subnet":{"id":")" +
                              kSubnet +
                              R"("},)"
                              R"("userAccountCredentials":{"adminUserName":"u","adminUserSshPublicKey":"k"},)"
                              R"("remoteLoginPortPublicAccess":"Enabled")",
                          R"("tags":{"a":"b"},)")))
            .document;
    // As the SDK does after a get: no password, a subnet without its id, another maximum, no tags.
    const ArmCompute changed = taken(put(
        R"({"properties":{"computeType":"AmlCompute","properties":{"vmSize":"standard_ds3_v2","vmPriority":null,)"
        R"("scaleSettings":{"maxNodeCount":9,"nodeIdleTimeBeforeScaleDown":null},"subnet":{"id":null},)"
        R"("userAccountCredentials":{"adminUserName":"u"},"remoteLoginPortPublicAccess":"NotSpecified"}}})",
        &stored));
    EXPECT_EQ(changed.nodes_min, 1);
    EXPECT_EQ(changed.nodes_max, 9);
    EXPECT_EQ(changed.tier, Tier::LowPriority);
    EXPECT_EQ(changed.subnet, to_lower(kSubnet));
    EXPECT_EQ(changed.document["tags"].size(), 0U);
    EXPECT_EQ(changed.document.get("properties.properties.userAccountCredentials").dump(),
              R"({"adminUserName":"u","adminUserSshPublicKey":"k"})");

    const ArmCompute patched = taken(patch(
        R"({"tags":{"c":"d"},"properties":{"properties":{"scaleSettings":{"minNodeCount":0}}}})", stored));
    EXPECT_EQ(patched.document["tags"].dump(), R"({"a":"b","c":"d"})");
    EXPECT_EQ(patched.nodes_min, 0);
    EXPECT_EQ(patched.nodes_max, 6);
    EXPECT_EQ(taken(patch(R"({"tags":{"a":null}})", stored)).document["tags"].size(), 0U);
}

TEST(ArmCompute, WhatIsFixedCannotBeChanged) {
    const Json stored = taken(put(cluster(""))).document;
    const auto change = [&](const std::string& inner, const std::string& rest = "") {
        return problems_of(patch("{" + rest + R"("properties":{"properties":{)" + inner + "}}}", stored));
    };
    EXPECT_EQ(change(R"("vmSize":"Standard_NC6s_v3")"),
              "properties.properties.vmSize: cannot be changed: the size is fixed when a compute is made, "
              "and it is "
              "Standard_DS3_v2; make another, or delete this one first\n");
    EXPECT_NE(change(R"("vmPriority":"LowPriority")").find("the tier is fixed"), std::string::npos);
    EXPECT_NE(change(R"("remoteLoginPortPublicAccess":"Enabled")").find("SSH access is fixed"),
              std::string::npos);
    EXPECT_NE(change(R"("userAccountCredentials":{"adminUserName":"x"})").find("SSH access is fixed"),
              std::string::npos);
    EXPECT_NE(change(R"("subnet":{"id":")" + kSubnet + R"("})").find("the network is fixed"),
              std::string::npos);
    EXPECT_NE(change(R"("nodeSharing":"packed")").find("is fixed"), std::string::npos);
    EXPECT_NE(change("", R"("location":"westus",)").find("the region is fixed"), std::string::npos);
    const auto kind = put(R"({"properties":{"computeType":"ComputeInstance"}})", &stored);
    ASSERT_FALSE(kind);
    EXPECT_EQ(kind.error().code, ErrorCode::AlreadyExists);
}

TEST(ArmCompute, AnInstanceIsStartedAndStoppedByItsVerbsAlone) {
    const Json running = taken(put(R"({"properties":{"computeType":"ComputeInstance",)"
                                   R"("properties":{"state":"Stopped","vmSize":"Standard_DS2_v2"}}})"))
                             .document;
    EXPECT_EQ(running.get("properties.properties.state").text(), "Running");
    const Json stopped = with_power(running, false);
    const ArmCompute read = taken(read_stored_compute(stopped));
    EXPECT_FALSE(read.running);
    EXPECT_EQ(read.nodes_max, 0);
    const ArmCompute again = taken(put(
        R"({"properties":{"computeType":"ComputeInstance","properties":{"state":"Running"}}})", &stopped));
    EXPECT_FALSE(again.running);
    EXPECT_FALSE(put(
        R"({"properties":{"computeType":"ComputeInstance","properties":{"idleTimeBeforeShutdown":"PT1S"}}})"));
}

TEST(ArmCompute, KeepsRecordsOfAttachedMachinesWithoutTheirSecrets) {
    const ArmCompute vm = taken(put(
        R"({"properties":{"computeType":"VirtualMachine","resourceId":"/subscriptions/x","properties":{"sshPort":22,)"
        R"("administratorAccount":{"username":"u","password":"p4ss","privateKeyData":"-----BEGIN"}}}})",
        nullptr, "vm"));
    EXPECT_EQ(vm.document.get("properties.properties").dump(),
              R"({"sshPort":22,"administratorAccount":{"username":"u"}})");
    EXPECT_EQ(vm.warnings.size(), 1U);
    const ArmCompute bricks = taken(put(
        R"({"properties":{"computeType":"Databricks","resourceId":"/subscriptions/x","properties":{"databricksAccessToken":"t"}}})",
        nullptr, "x"));
    EXPECT_EQ(bricks.document.dump().find("AccessToken"), std::string::npos);
    const ArmCompute aks = taken(put(
        R"({"properties":{"computeType":"AKS","resourceId":"/subscriptions/x","properties":{"sslConfiguration":)"
        R"({"status":"Enabled","cert":"c","key":"k1","cname":"n"},"more":[{"Token":"k2","sasToken":"k3"},)"
        R"({"accountKey":"k4","apiKey":"k5","credential":"k6","credentials":{"a":"k7"},"keyName":"kept"}]}}})",
        nullptr, "aks"));
    EXPECT_EQ(
        aks.document.get("properties.properties").dump(),
        R"({"sslConfiguration":{"status":"Enabled","cert":"c","cname":"n"},"more":[{},{"keyName":"kept"}]})");
    EXPECT_FALSE(put(R"({"properties":{"computeType":"SynapseSpark"}})"));
    EXPECT_FALSE(put(R"({"properties":{"computeType":"SynapseSpark","resourceId":"x"}})"));
}

TEST(ArmCompute, NamesAreNoSecrets) {
    const ArmCompute compute = taken(
        put(cluster("", R"("tags":{"secret-level":"2","token":"blue"},"identity":{"type":"UserAssigned",)"
                        R"("userAssignedIdentities":{"/ids/secret-reader":{},"/ids/password-vault":{}}},)")));
    EXPECT_EQ(compute.document["tags"].dump(), R"({"secret-level":"2","token":"blue"})");
    EXPECT_EQ(compute.document.get("identity.userAssignedIdentities").size(), 2U);
    EXPECT_TRUE(compute.warnings.empty());
}

TEST(ArmCompute, WarnsOfEachSettingOfAnInstanceThatNothingActsOn) {
    const auto box = [](const std::string& inner) {
        return taken(put(R"({"properties":{"computeType":"ComputeInstance","properties":{)" + inner + "}}}"));
    };
    const ArmCompute all =
        box(R"("idleTimeBeforeShutdown":"PT30M","schedules":{"computeStartStop":[{"action":"Stop"}]},)"
            R"("setupScripts":{"scripts":{}},"customServices":[{"name":"x"}])");
    EXPECT_EQ(all.warnings,
              (std::vector<std::string>{"idleTimeBeforeShutdown is kept and shown; nothing acts on it yet",
                                        "schedules is kept and shown; nothing acts on it yet",
                                        "setupScripts is kept and shown; nothing acts on it yet",
                                        "customServices is kept and shown; nothing acts on it yet"}));
    EXPECT_TRUE(box(R"("idleTimeBeforeShutdown":null,"schedules":null,"setupScripts":{},"customServices":[])")
                    .warnings.empty());
}

TEST(ComputeAnswer, TellsHowTheNodesAre) {
    const Json document = taken(put(cluster(""))).document;
    ComputeFacts facts;
    facts.id = "/subscriptions/s/x/computes/cpu-cluster";
    facts.name = "cpu-cluster";
    facts.created_by = "ann";
    facts.nodes = {.idle = 1, .running = 2, .preparing = 1};
    const Json answer = to_arm_answer(document, facts);
    const Json& inner = answer["properties"]["properties"];
    EXPECT_EQ(inner["nodeStateCounts"].dump(),
              R"({"idleNodeCount":1,"runningNodeCount":2,"preparingNodeCount":1,"unusableNodeCount":0,)"
              R"("leavingNodeCount":0,"preemptedNodeCount":0})");
    EXPECT_EQ(inner["currentNodeCount"].integer(), 3);
    EXPECT_EQ(inner["targetNodeCount"].integer(), 4);
    EXPECT_EQ(inner["allocationState"].text(), "Resizing");
    EXPECT_EQ(answer["properties"]["provisioningState"].text(), "Succeeded");
    EXPECT_FALSE(answer["properties"].has("lavant"));
    facts.not_growing = "a lock";
    facts.warnings = {"w"};
    EXPECT_EQ(to_arm_answer(document, facts).get("properties.lavant").dump(),
              R"({"warnings":["w"],"notGrowing":"a lock"})");
}

}  // namespace
}  // namespace lavant::wire
