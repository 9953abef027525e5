#include "host/machine.h"

#include <gtest/gtest.h>

namespace lavant::host {
namespace {

TEST(Machine, ReadsMemoryAndQuotas) {
    EXPECT_EQ(parse_memory_total("MemTotal:       24105 kB\nMemFree: 1 kB\n"), 24105 * 1024);
    EXPECT_EQ(parse_memory_total("MemFree: 1 kB\n"), 0);
    EXPECT_EQ(parse_cpu_max("max 100000\n"), 0);
    EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1500);
    EXPECT_EQ(parse_cpu_max(""), 0);
    EXPECT_EQ(parse_cpu_max("1 0"), 0);
}

TEST(Machine, NamesGpusAsCudaCountsThem) {
    EXPECT_EQ(name_gpus({"null", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia7", "nvidia"}),
              (std::vector<std::string>{"0", "1"}));
    EXPECT_TRUE(name_gpus({}).empty());
}

TEST(Machine, ThisOneHasCpusAndMemory) {
    const Machine machine = look_at_machine();
    EXPECT_GT(machine.cpu_millis, 0);
    EXPECT_GT(machine.memory_bytes, 16LL << 20);
}

}  // namespace
}  // namespace lavant::host
