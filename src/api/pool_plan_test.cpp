#include "api/pool_plan.h"

#include <gtest/gtest.h>

#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

class PoolPlanning : public testing::Test {
 protected:
    void SetUp() override { world_.capacity = TestWorld::kCapacity; }
    void make(const std::string& name, const std::string& properties) {
        const auto made =
            world_.call({"PUT", kWs + "/computes/" + name, R"({"properties":{)" + properties + "}}", {}});
        ASSERT_EQ(made.status, 201) << made.body;
    }
    ports::HttpResponse submit(const std::string& compute, const std::string& resources = "") {
        return world_.call(
            {"PUT",
             kWs + "/jobs/j" + std::to_string(++jobs_),
             R"({"properties":{"jobType":"Command","command":"true","environmentId":"host","computeId":")" +
                 compute + R"(","resources":{)" + resources + "}}}",
             {}});
    }
    // What the plane was told of the last job.
    plane::SubmitJob last() const {
        const auto* submit = std::get_if<plane::SubmitJob>(&world_.posted.back());
        EXPECT_NE(submit, nullptr);
        return submit == nullptr ? plane::SubmitJob{} : *submit;
    }
    void refused(const ports::HttpResponse& response, const std::string& said) {
        EXPECT_EQ(response.status, 400) << response.body;
        EXPECT_NE(response.body.find(said), std::string::npos) << response.body;
    }

    TestWorld world_;
    int jobs_ = 0;
    const std::string kCluster =
        R"("computeType":"AmlCompute","properties":{"scaleSettings":{"maxNodeCount":2}})";
};

TEST_F(PoolPlanning, AJobGoesToTheComputeItNames) {
    make("cpu-cluster", kCluster);
    for (const std::string& name :
         {kWs + "/computes/cpu-cluster", std::string("cpu-cluster"), std::string("azureml:CPU-cluster")}) {
        const auto made = submit(name);
        ASSERT_EQ(made.status, 201) << made.body;
        EXPECT_EQ(last().pool.key, "compute/cpu-cluster");
        EXPECT_EQ(last().pool.workspace, kDefaultWorkspace);
        EXPECT_EQ(last().job.head.demand.user, "ann");
        EXPECT_EQ(last().job.head.warning, "");
    }
}

TEST_F(PoolPlanning, AnUnknownNameGetsTheNearestAndTheList) {
    make("cpu-cluster", kCluster);
    make("gpu-cluster", kCluster);
    refused(submit("cpu-clutser"),
            "there is no compute 'cpu-clutser'; did you mean 'cpu-cluster'? There are cpu-cluster, "
            "gpu-cluster; leave compute out");
}

TEST_F(PoolPlanning, NothingRunsOnAttachedMachinesYet) {
    make("k8s", R"("computeType":"Kubernetes","resourceId":"/subscriptions/x")");
    refused(submit("k8s"), "'k8s' is an attached kubernetes: jobs cannot run there yet");
}

TEST_F(PoolPlanning, AStoppedInstanceIsToBeStarted) {
    make("my-box", R"("computeType":"ComputeInstance")");
    EXPECT_EQ(submit("my-box").status, 201);
    ASSERT_EQ(world_.call({"POST", kWs + "/computes/my-box/stop", "", {}}).status, 202);
    refused(submit("my-box"), "instance 'my-box' is stopped; start it first: lavant compute start my-box");
    ASSERT_EQ(world_.call({"POST", kWs + "/computes/my-box/start", "", {}}).status, 202);
    refused(submit("my-box", R"("instanceCount":2)"), "has at most 1 node; an instance is one machine");
}

TEST_F(PoolPlanning, AGangLargerThanTheClusterNamesItsMaximum) {
    make("cpu-cluster", kCluster);
    EXPECT_EQ(submit("cpu-cluster", R"("instanceCount":2)").status, 201);
    refused(submit("cpu-cluster", R"("instanceCount":3)"),
            "is 3, and 'cpu-cluster' has at most 2 nodes; ask for fewer, or raise it: lavant compute update "
            "cpu-cluster --max-instances 3");
}

TEST_F(PoolPlanning, AnotherSizeIsAWarning) {
    make("cpu-cluster", kCluster);
    ASSERT_EQ(submit("cpu-cluster", R"("instanceType":"standard_ds3_V2")").status, 201);
    EXPECT_EQ(last().job.head.warning, "");
    ASSERT_EQ(submit("cpu-cluster", R"("instanceType":"Standard_DS2_v2")").status, 201);
    EXPECT_EQ(
        last().job.head.warning,
        "resources.instance_type Standard_DS2_v2 has no effect: 'cpu-cluster' has nodes of Standard_DS3_v2");
}

TEST_F(PoolPlanning, WhereNodesAreSharedTheSizeSaysHowMuchOfOne) {
    make("packed-one", R"("computeType":"AmlCompute","properties":{"nodeSharing":"packed"})");
    ASSERT_EQ(submit("packed-one", R"("instanceType":"Standard_DS1_v2")").status, 201);
    EXPECT_EQ(last().job.head.demand.task.cpu_millis, 1000);
    EXPECT_EQ(last().job.head.warning, "");
    ASSERT_EQ(submit("packed-one").status, 201);
    EXPECT_EQ(last().job.head.demand.task.cpu_millis, 4000);
    refused(submit("packed-one", R"("instanceType":"Standard_NC4as_T4_v3")"), "more GPUs than a node");
    refused(submit("packed-one", R"("instanceType":"huge")"), "there is no size");
}

TEST_F(PoolPlanning, ServerlessPoolsSayWhatTheyCount) {
    ASSERT_EQ(submit("").status, 201);
    EXPECT_EQ(last().pool.key, "serverless/Standard_DS3_v2/dedicated");
    EXPECT_EQ(last().pool.terms.family, "standardDSv2Family");
    EXPECT_EQ(last().pool.terms.vcpus, 4);
    EXPECT_EQ(last().pool.terms.location, "local");
    EXPECT_EQ(last().pool.terms.arm_id, to_lower(kWs + "/computes/serverless"));
    EXPECT_TRUE(last().pool.is_serverless());
    ASSERT_EQ(submit("serverless").status, 201);
    refused(submit("", R"("instanceType":"Standard_DS3_v22")"), "Standard_DS3_v2");
}

}  // namespace
}  // namespace lavant::api
