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

}  // namespace
}  // namespace lavant::plane
