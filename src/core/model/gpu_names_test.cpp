#include "core/model/gpu_names.h"

#include <gtest/gtest.h>

namespace lavant {
namespace {

TEST(GpuNames, AreReadFromAList) {
    EXPECT_EQ(parse_gpu_names("0,1").value(), (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(parse_gpu_names(" fake0 , GPU-1a:2.b_c ").value(),
              (std::vector<std::string>{"fake0", "GPU-1a:2.b_c"}));
    EXPECT_TRUE(parse_gpu_names("none")->empty());
    EXPECT_EQ(join_gpu_names({"0", "1"}), "0,1");
    EXPECT_EQ(join_gpu_names({}), "");
}

TEST(GpuNames, RefuseWhatADeviceCannotBeCalled) {
    for (const char* text : {"", ",", "0,", "0,,1", "a b", "a/b", "a=b", "$(x)", "0\n1", "\xc3\xa4"})
        EXPECT_FALSE(parse_gpu_names(text).has_value()) << text;
    EXPECT_FALSE(parse_gpu_names(std::string(65, 'a')).has_value());
    EXPECT_EQ(parse_gpu_names("0,1, 0").error().message, "names '0' twice");
}

TEST(GpuNames, AreAtMostSixtyFour) {
    std::vector<std::string> names;
    for (int i = 0; i < 64; ++i) names.push_back(std::to_string(i));
    EXPECT_EQ(parse_gpu_names(join_gpu_names(names))->size(), 64U);
    names.emplace_back("64");
    EXPECT_EQ(parse_gpu_names(join_gpu_names(names)).error().message, "has more than 64 names");
}

}  // namespace
}  // namespace lavant
