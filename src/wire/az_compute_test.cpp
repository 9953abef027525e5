#include "wire/az_compute.h"

#include <gtest/gtest.h>

#include "wire/arm_compute.h"
#include "wire/compute_answer.h"
#include "wire/compute_file.h"
#include "wire/compute_to_arm.h"

namespace lavant::wire {
namespace {

Result<ChosenSize> any_size(const std::string& name) { return ChosenSize{name, ""}; }

// From a file to what `show` prints of it, through everything between.
Json shown(const std::string& file) {
    const auto spec = load_compute_text(file, "c.yml", {});
    EXPECT_TRUE(spec) << spec.error().message;
    const std::string body = to_arm_compute(*spec, spec::ComputeText::Whole, {"s", "g", "w"}).dump();
    const auto compute = parse_arm_compute({ComputeRequest::Put, spec->name, body, nullptr, any_size});
    EXPECT_TRUE(compute) << compute.error().message;
    ComputeFacts facts;
    facts.id = "/subscriptions/s/resourceGroups/g/x/computes/" + spec->name;
    facts.name = spec->name;
    facts.created_by = "ann";
    return to_az_compute(to_arm_answer(compute->document, facts));
}

TEST(AzCompute, HasTheWordsOfAzForACluster) {
    Json cluster = shown(
        "name: cpu-cluster\ntype: amlcompute\nsize: Standard_DS3_v2\nmax_instances: 2\ntier: low_priority\n");
    cluster.remove("created_on");
    EXPECT_EQ(
        cluster.dump(),
        R"({"enable_node_public_ip":true,"id":"/subscriptions/s/resourceGroups/g/x/computes/cpu-cluster",)"
        R"("idle_time_before_scale_down":120,"lavant":{"created_by":"ann","nodes":{"idle":0,"running":0,)"
        R"("preparing":0,"unusable":0,"leaving":0,"preempted":0},"current_node_count":0,)"
        R"("target_node_count":0,"allocation_state":"steady"},"location":"local","max_instances":2,)"
        R"("min_instances":0,"name":"cpu-cluster","network_settings":{},"provisioning_state":"Succeeded",)"
        R"("resourceGroup":"g","size":"Standard_DS3_v2","ssh_public_access_enabled":false,)"
        R"("tier":"low_priority","type":"amlcompute"})");
}

// What is shown can be written into a file and makes the same compute again.
TEST(AzCompute, ReadsBackAsAFile) {
    for (const char* file :
         {"name: cpu-cluster\ntype: amlcompute\nmax_instances: 2\ntags: {a: b}\nidentity: {type: "
          "system_assigned}\n"
          "network_settings: {vnet_name: v, subnet: s}\nssh_settings: {admin_username: u, ssh_key_value: k}\n"
          "node_sharing: packed\n",
          "name: my-box\ntype: computeinstance\nidle_time_before_shutdown_minutes: 30\n"
          "setup_scripts: {startup_script: {path: p, command: c, timeout_minutes: 3}}\n"
          "custom_applications:\n  - {name: a, image: {reference: i}, endpoints: [{target: 80, published: "
          "81}]}\n"
          "schedules:\n  compute_start_stop:\n    - {action: stop, trigger: {type: cron, expression: 0 18 * "
          "* *}}\n",
          "name: vm\ntype: virtualmachine\nresource_id: /subscriptions/x\nssh_settings: {admin_username: "
          "u}\n",
          "name: k\ntype: kubernetes\nresource_id: /subscriptions/x\nnamespace: n\n"
          "identity: {type: user_assigned, user_assigned_identities: [{resource_id: i}]}\n"}) {
        Json once = shown(file);
        once.remove("idle_time_before_shutdown");  // which is the same as ..._minutes
        EXPECT_EQ(shown(once.to_yaml()).dump(), shown(file).dump()) << once.to_yaml();
    }
}

TEST(AzCompute, ShowsNodes) {
    const auto node =
        parse_json(R"({"nodeId":"node-1","privateIpAddress":"127.0.0.1","publicIpAddress":null,"port":22,)"
                   R"("nodeState":"running","runId":"job1"})");
    EXPECT_EQ(to_az_node(*node).dump(),
              R"({"current_job_name":"job1","node_id":"node-1","node_state":"running","port":22,)"
              R"("private_ip_address":"127.0.0.1","public_ip_address":null})");
}

TEST(AzCompute, IsTotal) {
    for (const char* text :
         {"{}", "[]", "3", R"({"properties":{"computeType":"ComputeInstance","properties":[]}})",
          R"({"id":7,"properties":{"computeType":"AmlCompute"}})"})
        EXPECT_TRUE(to_az_compute(*parse_json(text)).is_object()) << text;
}

}  // namespace
}  // namespace lavant::wire
