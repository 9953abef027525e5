#include "core/plane/fit.h"

#include <gtest/gtest.h>

namespace lavant::plane {
namespace {

constexpr Resources kLaptop{.cpu_millis = 4000, .memory_bytes = 16LL << 30};

TEST(Fit, LeavesASizeThatFitsAsItIs) {
    const Fitted fitted = fit_to_machine(*find_size("Standard_DS3_v2"), 1, kLaptop);
    EXPECT_EQ(fitted.resources, find_size("Standard_DS3_v2")->resources);
    EXPECT_EQ(fitted.warning, "");
}

TEST(Fit, SharesTheMachineAmongTheNodesOfAGang) {
    const Fitted fitted = fit_to_machine(*find_size("Standard_DS3_v2"), 2, kLaptop);
    EXPECT_EQ(fitted.resources, (Resources{.cpu_millis = 2000, .memory_bytes = 8LL << 30}));
    EXPECT_EQ(
        fitted.warning,
        "Standard_DS3_v2 is larger than this machine: a node gets 2 of 4 vCPUs, 8.0 GiB of 14.0 GiB memory");
}

TEST(Fit, SaysThatGpusAreMissing) {
    const Fitted fitted = fit_to_machine(*find_size("Standard_NC4as_T4_v3"), 1, kLaptop);
    EXPECT_EQ(fitted.resources.gpus, 0);
    EXPECT_NE(fitted.warning.find("0 of 1 GPUs"), std::string::npos);
}

TEST(FitCluster, LeavesAClusterThatFitsAsItIs) {
    constexpr Resources kServer{.cpu_millis = 64'000, .memory_bytes = 256LL << 30};
    const FittedCluster fitted = fit_cluster(*find_size("Standard_DS3_v2"), 0, 4, kServer);
    EXPECT_EQ(fitted.node_resources, find_size("Standard_DS3_v2")->resources);
    EXPECT_EQ(fitted.node_limit, find_size("Standard_DS3_v2")->resources);
    EXPECT_EQ(fitted.warning, "");
}

TEST(FitCluster, AllNodesFitAtOnceAndOneMayUseWhatOthersLeave) {
    const FittedCluster fitted = fit_cluster(*find_size("Standard_DS3_v2"), 0, 4, kLaptop);
    EXPECT_EQ(fitted.node_resources, (Resources{.cpu_millis = 1000, .memory_bytes = 4LL << 30}));
    EXPECT_EQ(fitted.node_limit, find_size("Standard_DS3_v2")->resources);
    EXPECT_EQ(fitted.warning,
              "with all 4 nodes at work each is sure of 1 of 4 vCPUs, 4.0 GiB of 14.0 GiB memory");
}

TEST(FitCluster, SaysWhatOneNodeLacksAndWhatAllLack) {
    const FittedCluster fitted = fit_cluster(*find_size("Standard_DS4_v2"), 0, 2, kLaptop);
    EXPECT_EQ(fitted.node_limit, (Resources{.cpu_millis = 4000, .memory_bytes = 16LL << 30}));
    EXPECT_EQ(fitted.warning,
              "Standard_DS4_v2 is larger than this machine: a node gets 4 of 8 vCPUs, 16.0 GiB of 28.0 GiB "
              "memory; with all 2 nodes at work each is sure of 2 of 8 vCPUs, 8.0 GiB of 28.0 GiB memory");
}

TEST(FitCluster, ANodeThatIsToHaveAGpuHasOne) {
    constexpr Resources kRig{.cpu_millis = 64'000, .memory_bytes = 512LL << 30, .gpus = 2};
    const Size size = *find_size("Standard_NC4as_T4_v3");
    EXPECT_EQ(fit_cluster(size, 0, 2, kRig).warning, "");
    const FittedCluster fitted = fit_cluster(size, 0, 4, kRig);
    EXPECT_EQ(fitted.node_resources.gpus, 1);
    EXPECT_EQ(fitted.warning, "the machine has GPUs for 2 of 4 nodes at a time");
    const FittedCluster large = fit_cluster(*find_size("Standard_NC24"), 0, 1, kRig);
    EXPECT_EQ(large.node_resources.gpus, 2);
    EXPECT_EQ(large.node_limit.gpus, 2);
    EXPECT_EQ(fit_cluster(size, 0, 4, kLaptop).node_resources.gpus, 0);
}

TEST(FitCluster, NoNodeCostsNothing) {
    const FittedCluster fitted =
        fit_cluster(*find_size("Standard_DS3_v2"), 0, 1000, {.cpu_millis = 500, .memory_bytes = 1LL << 30});
    EXPECT_EQ(fitted.node_resources, (Resources{.cpu_millis = 1, .memory_bytes = 64LL << 20}));
    EXPECT_GT(fit_cluster(*find_size("Standard_DS3_v2"), 0, 0, kLaptop).node_resources.cpu_millis, 0);
}

TEST(FitCluster, NodesThatAreAlwaysThereKeepNobodyAway) {
    const FittedCluster fitted = fit_cluster(*find_size("Standard_DS3_v2"), 1, 1, kLaptop);
    EXPECT_EQ(fitted.node_resources, Resources{});
    EXPECT_GT(fitted.node_limit.cpu_millis, 0);
}

}  // namespace
}  // namespace lavant::plane
