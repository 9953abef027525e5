// Computes as people write them: core/spec/compute and the body that is made of them.

#include <gtest/gtest.h>

#include "base/text.h"
#include "wire/arm_compute.h"
#include "wire/compute_file.h"
#include "wire/compute_to_arm.h"

namespace lavant::wire {
namespace {

using spec::ComputeSpec;
using spec::ComputeText;

const WorkspaceName kWorkspace{"s1", "g1", "w1"};
const std::string kCluster = "name: cpu-cluster\ntype: amlcompute\n";
const std::string kInstance = "name: my-box\ntype: computeinstance\n";

ComputeSpec parsed(const std::string& text, const std::vector<std::string>& sets = {}) {
    auto spec = load_compute_text(text, "c.yml", sets);
    EXPECT_TRUE(spec) << spec.error().message;
    return spec ? std::move(*spec) : ComputeSpec{};
}

// "path@line:column message" of each problem.
std::vector<std::string> problems_of(const std::string& text, const std::vector<std::string>& sets = {}) {
    std::vector<std::string> out;
    const auto spec = load_compute_text(text, "c.yml", sets);
    EXPECT_FALSE(spec) << text;
    if (spec) return out;
    for (const FieldProblem& problem : spec.error().fields)
        out.push_back(problem.path + "@" + std::to_string(problem.line) + ":" +
                      std::to_string(problem.column) + " " + problem.message);
    if (out.empty()) out.push_back(spec.error().message);
    return out;
}

void check_problem(const std::string& text, const std::string& wanted) {
    const auto found = problems_of(text);
    ASSERT_EQ(found.size(), 1U) << text << "\n" << (found.size() > 1 ? found[1] : "");
    EXPECT_TRUE(found[0].starts_with(wanted)) << found[0] << "\nwanted " << wanted;
}

Json body_of(const std::string& text) { return to_arm_compute(parsed(text), ComputeText::Whole, kWorkspace); }

TEST(ComputeFile, ASizeAndAMaximumSuffice) {
    const Json body = body_of(kCluster + "size: Standard_DS3_v2\nmax_instances: 2\n");
    EXPECT_EQ(body.dump(),
              R"({"properties":{"computeType":"AmlCompute","disableLocalAuth":true,"properties":{)"
              R"("osType":"Linux","vmSize":"Standard_DS3_v2","scaleSettings":{"maxNodeCount":2,)"
              R"("minNodeCount":0,"nodeIdleTimeBeforeScaleDown":"PT2M"},)"
              R"("remoteLoginPortPublicAccess":"NotSpecified","enableNodePublicIp":true}}})");
    const Json defaults = body_of(kCluster);
    EXPECT_EQ(defaults.get("properties.properties.vmSize").text(), "Standard_DS3_v2");
    EXPECT_EQ(defaults.get("properties.properties.scaleSettings.maxNodeCount").integer(), 4);
}

TEST(ComputeFile, ReadsEverythingAClusterCanHave) {
    const ComputeSpec spec = parsed(kCluster + R"(description: for everybody
location: West US
tags: {team: vision}
size: STANDARD_DS3_v2
tier: LowPriority
min_instances: 1
max_instances: 6
idle_time_before_scale_down: 600
network_settings: {vnet_name: net, subnet: inner}
ssh_settings: {admin_username: ann, ssh_key_value: ssh-rsa AAA}
ssh_public_access_enabled: true
enable_node_public_ip: false
identity:
  type: user_assigned
  user_assigned_identities:
    - resource_id: /subscriptions/x/me
node_sharing: packed
)");
    EXPECT_EQ(spec.kind, ComputeKind::Cluster);
    EXPECT_EQ(spec.location, "westus");
    EXPECT_EQ(spec.tier, Tier::LowPriority);
    const Json body = to_arm_compute(spec, ComputeText::Whole, kWorkspace);
    EXPECT_EQ(body["location"].text(), "westus");
    EXPECT_EQ(body["tags"].dump(), R"({"team":"vision"})");
    EXPECT_EQ(body["identity"].dump(),
              R"({"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/x/me":{}}})");
    const Json& inner = body["properties"]["properties"];
    EXPECT_EQ(inner["vmPriority"].text(), "LowPriority");
    EXPECT_EQ(inner["scaleSettings"].dump(),
              R"({"maxNodeCount":6,"minNodeCount":1,"nodeIdleTimeBeforeScaleDown":"PT10M"})");
    EXPECT_EQ(inner.get("subnet.id").text(),
              "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.Network/virtualNetworks/net/subnets/"
              "inner");
    EXPECT_EQ(inner["userAccountCredentials"].dump(),
              R"({"adminUserName":"ann","adminUserSshPublicKey":"ssh-rsa AAA"})");
    EXPECT_EQ(inner["remoteLoginPortPublicAccess"].text(), "Enabled");
    EXPECT_EQ(inner["enableNodePublicIp"].boolean(true), false);
    EXPECT_EQ(inner["nodeSharing"].text(), "packed");
    EXPECT_EQ(spec.beyond_azure.size(), 1U);
}

TEST(ComputeFile, NeverSendsAPassword) {
    for (const char* kind : {"amlcompute", "virtualmachine"}) {
        const ComputeSpec spec =
            parsed("name: abc\ntype: " + std::string(kind) +
                   "\nssh_settings: {admin_username: ann, admin_password: s3cret-word}\n" +
                   (kind[0] == 'v' ? "resource_id: /subscriptions/x\n" : ""));
        EXPECT_TRUE(spec.ssh->gave_password);
        ASSERT_EQ(spec.warnings.size(), 1U);
        EXPECT_EQ(spec.warnings[0].find("s3cret"), std::string::npos);
        EXPECT_EQ(to_arm_compute(spec, ComputeText::Whole, kWorkspace).dump().find("s3cret"),
                  std::string::npos);
    }
}

TEST(ComputeFile, TellsEachBrokenRuleOfTheName) {
    const std::string rest = "\ntype: amlcompute\n";
    check_problem("name: ab" + rest, "name@1:7 is too short");
    check_problem("name: a2345678901234567890123456" + rest, "name@1:7 is too long");
    check_problem("name: a_b" + rest, "name@1:7 has '_'; there are only letters");
    check_problem("name: 1ab" + rest, "name@1:7 must begin with a letter");
    check_problem("name: cpu-1" + rest, "name@1:7 needs a letter somewhere behind its last '-'");
    check_problem("name: serverless" + rest, "name@1:7 cannot be 'serverless'");
    check_problem("type: amlcompute\n", "name@1:1 is missing");
    check_problem("name: 123\ntype: amlcompute\n", "name@1:7 must be a string, but is an integer");
    EXPECT_EQ(problems_of("name: 1_-\ntype: computeinstance\n").size(), 3U);
}

TEST(ComputeFile, TellsEachBrokenRuleOfTheNumbers) {
    check_problem(kCluster + "min_instances: 3\nmax_instances: 2\n",
                  "min_instances@3:16 is 3, above the maximum of 2");
    check_problem(kCluster + "min_instances: 5\n", "min_instances@3:16 is 5, above the maximum of 4");
    check_problem(kCluster + "max_instances: 0\n", "max_instances@3:16 must be at least 1");
    check_problem(kCluster + "max_instances: -1\n", "max_instances@3:16 must not be negative");
    check_problem(kCluster + "min_instances: -1\n", "min_instances@3:16 must not be negative");
    check_problem(kCluster + "max_instances: 100000\n", "max_instances@3:16 must be at most 1000");
    check_problem(kCluster + "idle_time_before_scale_down: -5\n",
                  "idle_time_before_scale_down@3:30 must not be negative");
    check_problem(kCluster + "idle_time_before_scale_down: 99999999999\n",
                  "idle_time_before_scale_down@3:30 must be at most 2592000 seconds");
    check_problem(kCluster + "max_instances: many\n", "max_instances@3:16 must be an integer");
}

TEST(ComputeFile, KnowsSizesRegionsAndWords) {
    check_problem(kCluster + "size: Standard_DS3_v22\n",
                  "size@3:7 there is no size 'Standard_DS3_v22'; did you mean");
    EXPECT_EQ(parsed(kCluster + "size: rtx4090\n").size, "rtx4090");  // a size of the site, perhaps
    check_problem(kCluster + "location: westsu\n",
                  "location@3:11 there is no region 'westsu'; did you mean 'westus'?");
    check_problem(kCluster + "location: atlantis\n", "location@3:11 there is no region 'atlantis'");
    check_problem(kCluster + "tier: cheap\n",
                  "tier@3:7 cannot be 'cheap'; it must be dedicated or low_priority");
    check_problem(kCluster + "max_instance: 3\n",
                  "max_instance@3:1 unknown key; did you mean 'max_instances'?");
    check_problem("name: abc\ntype: amlcomput\n",
                  "type@2:7 cannot be 'amlcomput'; did you mean 'amlcompute'?");
    check_problem("name: abc\n", "type@1:1 is missing; amlcompute is a cluster");
    check_problem(kCluster + "node_sharing: all\n", "node_sharing@3:15 cannot be 'all'");
}

TEST(ComputeFile, TellsAllProblemsAtOnce) {
    const auto found =
        problems_of("name: 1_x\ntype: amlcompute\nsize: Standard_huge\nmax_instances: 0\ntgas: {}\n");
    EXPECT_EQ(found.size(), 5U);
}

TEST(ComputeFile, ChecksNetworkSshAndIdentity) {
    check_problem(kCluster + "network_settings: {vnet_name: v}\n", "network_settings.subnet@3:19 is missing");
    check_problem(kCluster + "network_settings: {subnet: s}\n", "network_settings.vnet_name@3:19 is missing");
    const std::string id =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/x";
    EXPECT_EQ(body_of(kCluster + "network_settings: {subnet: " + id + "}\n")
                  .get("properties.properties.subnet.id")
                  .text(),
              id);
    check_problem(kCluster + "network_settings: {subnet: /subscriptions/a/b}\n",
                  "network_settings.subnet@3:28 is no id of a subnet");
    check_problem(kCluster + "network_settings: {vnet_name: v, subnet: a/b}\n",
                  "network_settings.subnet@3:42 is no subnet");
    check_problem(kCluster + "ssh_settings: {ssh_key_value: k}\n",
                  "ssh_settings.admin_username@3:15 is missing");
    check_problem(kCluster + "identity: {type: managed}\n", "identity.type@3:18 cannot be 'managed'");
    check_problem(kCluster + "identity: {}\n", "identity.type@3:11 is missing");
    check_problem(kCluster + "identity: {type: user_assigned}\n",
                  "identity.user_assigned_identities@3:11 is missing");
    check_problem(
        kCluster + "identity: {type: system_assigned, user_assigned_identities: [{resource_id: x}]}\n",
        "identity.user_assigned_identities@3:61 cannot stand beside type: system_assigned");
    EXPECT_EQ(body_of(kCluster + "identity: {type: SystemAssigned}\n")["identity"].dump(),
              R"({"type":"SystemAssigned"})");
}

TEST(ComputeFile, BoundsWhatItTakes) {
    std::string tags = "tags:\n";
    for (int i = 0; i < 51; ++i) tags += "  t" + std::to_string(i) + ": x\n";
    check_problem(kCluster + tags, "tags@4:3 there are 51; at most 50 tags");
    check_problem(kCluster + "tags: {a: " + std::string(257, 'x') + "}\n", "tags.a@3:11 is too long");
    check_problem(kCluster + "tags: {a: 1}\n", "tags.a@3:11 must be a string, but is an integer");
    check_problem(kCluster + "description: " + std::string(5000, 'x') + "\n", "description@3:14 is too long");
    std::string many = "identity:\n  type: user_assigned\n  user_assigned_identities:\n";
    for (int i = 0; i < 101; ++i) many += "    - resource_id: x\n";
    check_problem(kCluster + many, "identity.user_assigned_identities@6:5 has too many items");
}

TEST(ComputeFile, ReadsAnInstance) {
    const Json inner = body_of(kInstance + R"(size: STANDARD_DS3_v2
idle_time_before_shutdown_minutes: 30
create_on_behalf_of: {user_tenant_id: t, user_object_id: o}
ssh_public_access_enabled: true
ssh_settings: {ssh_key_value: ssh-rsa AAA}
enable_sso: false
setup_scripts:
  creation_script: {path: a/b.sh, command: x, timeout_minutes: 10}
custom_applications:
  - name: rs
    type: docker
    image: {reference: rocker}
    endpoints: [{target: 8787, published: 8788}]
    environment_variables: {A: b}
    bind_mounts: [{source: /h, target: /c}]
schedules:
  compute_start_stop:
    - action: start
      state: disabled
      trigger: {type: recurrence, frequency: week, interval: 1, time_zone: UTC,
                schedule: {week_days: [Monday], hours: [8], minutes: [0, 30]}}
)")["properties"]["properties"];
    EXPECT_EQ(inner["idleTimeBeforeShutdown"].text(), "PT30M");
    EXPECT_EQ(inner["enableSSO"].boolean(true), false);
    EXPECT_EQ(inner["sshSettings"].dump(), R"({"sshPublicAccess":"Enabled","adminPublicKey":"ssh-rsa AAA"})");
    EXPECT_EQ(inner["personalComputeInstanceSettings"].dump(),
              R"({"assignedUser":{"objectId":"o","tenantId":"t"}})");
    EXPECT_EQ(
        inner.get("setupScripts.scripts.creationScript").dump(),
        R"({"scriptSource":"workspaceStorage","scriptData":"a/b.sh","scriptArguments":"x","timeout":"10m"})");
    EXPECT_EQ(inner["schedules"].dump(),
              R"({"computeStartStop":[{"action":"start","status":"Disabled","triggerType":"Recurrence",)"
              R"("recurrence":{"triggerType":"Recurrence","timeZone":"UTC","frequency":"week","interval":1,)"
              R"("schedule":{"hours":[8],"minutes":[0,30],"weekDays":["monday"]}}}]})");
    EXPECT_EQ(inner["customServices"].items()[0]["environmentVariables"].dump(),
              R"({"A":{"type":"local","value":"b"}})");
}

TEST(ComputeFile, ChecksAnInstance) {
    check_problem(kInstance + "min_instances: 1\n", "min_instances@3:1 unknown key");
    check_problem(kInstance + "idle_time_before_shutdown_minutes: 0\n",
                  "idle_time_before_shutdown_minutes@3:36 must be from 1 to 43200");
    check_problem(kInstance + "idle_time_before_shutdown: soon\n",
                  "idle_time_before_shutdown@3:28 must be a time like PT30M");
    check_problem(kInstance + "idle_time_before_shutdown: PT9M\nidle_time_before_shutdown_minutes: 9\n",
                  "idle_time_before_shutdown@3:28 cannot stand beside");
    const std::string schedule = kInstance + "schedules:\n  compute_start_stop:\n    - ";
    check_problem(schedule + "{action: nap, trigger: {type: cron, expression: 0 18 * * *}}\n",
                  "schedules.compute_start_stop[0].action@5:16 cannot be 'nap'");
    check_problem(schedule + "{action: stop, trigger: {type: cron, expression: 18 *}}\n",
                  "schedules.compute_start_stop[0].trigger.expression@5:56 has 2 parts");
    check_problem(schedule + "{action: stop}\n", "schedules.compute_start_stop[0].trigger@5:7 is missing");
    check_problem(
        schedule + "{action: stop, trigger: {type: recurrence, frequency: day, schedule: {hours: [24]}}}\n",
        "schedules.compute_start_stop[0].trigger.schedule.hours@5:84 must be a list of numbers");
    check_problem(kInstance + "schedules:\n  compute_start_stop: [stop]\n",
                  "schedules.compute_start_stop[0]@4:24 must be a mapping");
    check_problem(kInstance +
                      "custom_applications:\n  - {name: a, image: {reference: i}}\n  - {name: a, image: "
                      "{reference: i}}\n",
                  "custom_applications[1].name@5:12 'a' is there twice");
    EXPECT_EQ(parsed(kInstance + "location: westus\n").warnings.size(), 1U);
}

TEST(ComputeFile, ReadsAttachedMachines) {
    const std::string id = "resource_id: /subscriptions/x/y\n";
    EXPECT_EQ(body_of("name: vm\ntype: virtualmachine\n" + id +
                      "ssh_settings: {admin_username: u, ssh_port: 2222}\n")
                  .dump(),
              R"({"properties":{"computeType":"VirtualMachine","resourceId":"/subscriptions/x/y",)"
              R"("properties":{"sshPort":2222,"administratorAccount":{"username":"u"}}}})");
    EXPECT_EQ(body_of("name: k8s\ntype: kubernetes\n" + id).get("properties.properties").dump(),
              R"({"namespace":"default"})");
    EXPECT_EQ(body_of("name: hd\ntype: hdinsight\n" + id).get("properties.computeType").text(), "HDInsight");
    check_problem("name: vm\ntype: virtualmachine\n", "resource_id@1:1 is missing");
    check_problem("name: vm\ntype: virtualmachine\nresource_id: here\n", "resource_id@3:14 is no id");
    check_problem("name: vm\ntype: virtualmachine\n" + id + "size: Standard_DS3_v2\n",
                  "size@4:1 unknown key");
    check_problem("name: a/b\ntype: kubernetes\n" + id, "name@1:7 has a character that a name cannot have");
}

TEST(ComputeFile, SetChangesTheFile) {
    const ComputeSpec spec = parsed(kCluster, {"max_instances=7", "tags.a.b=3", "tier=low_priority"});
    EXPECT_EQ(spec.scale.nodes_max, 7);
    EXPECT_EQ(spec.tags->at("a.b"), "3");
    EXPECT_EQ(spec.tier, Tier::LowPriority);
}

TEST(ComputeFile, IsNoListAndNoFolder) {
    EXPECT_FALSE(load_compute_text("[1]", "c.yml", {}));
    EXPECT_FALSE(load_compute_text("", "c.yml", {}));
    EXPECT_FALSE(load_compute_file("/nonexistent/c.yml", {}));
    const auto folder = load_compute_file("/tmp", {});
    ASSERT_FALSE(folder);
    EXPECT_NE(folder.error().message.find("it is a folder"), std::string::npos);
}

TEST(ComputeChanges, SayNothingThatWasNotSaid) {
    spec::Document root = spec::Document::map();
    root.entries.push_back({"name", {}, spec::Document::string("cpu-cluster")});
    root.entries.push_back({"type", {}, spec::Document::string("amlcompute")});
    const auto spec = load_compute(root, ComputeText::Changes, {"min_instances=9", "description=x"});
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(to_arm_compute(*spec, ComputeText::Changes, kWorkspace).dump(),
              R"({"properties":{"computeType":"AmlCompute","description":"x","properties":{"scaleSettings":)"
              R"({"minNodeCount":9}}}})");
}

}  // namespace
}  // namespace lavant::wire
