#include "core/model/compute.h"

#include <gtest/gtest.h>

namespace lavant {
namespace {

using Sentences = std::vector<std::string>;

Sentences broken_by(std::string_view name) { return check_compute_name(ComputeKind::Cluster, name); }

TEST(ComputeName, TakesWhatAzureTakes) {
    for (const char* name : {"abc", "cpu-cluster", "CPU2cluster", "a-1b", "a--b", "a23456789012345678901234",
                             "location-example", "basic-example"})
        EXPECT_EQ(broken_by(name), Sentences{}) << name;
    EXPECT_EQ(check_compute_name(ComputeKind::Instance, "minimal-example-i"), Sentences{});
}

TEST(ComputeName, HasOneSentenceForEachRule) {
    EXPECT_EQ(broken_by(""), Sentences{"is missing; say what to call the compute"});
    EXPECT_EQ(broken_by("ab"), Sentences{"is too short: it has 3 to 24 characters, and this one 2"});
    EXPECT_EQ(broken_by("a234567890123456789012345"),
              Sentences{"is too long: it has 3 to 24 characters, and this one 25"});
    EXPECT_EQ(broken_by("cpu_cluster.x_y"),
              Sentences{"has '_', '.'; there are only letters, digits and '-'"});
    EXPECT_EQ(broken_by("a b"), Sentences{"has a blank; there are only letters, digits and '-'"});
    EXPECT_EQ(broken_by("1abc"), Sentences{"must begin with a letter"});
    EXPECT_EQ(broken_by("-abc"), Sentences{"must begin with a letter"});
    EXPECT_EQ(broken_by("cpu-1"), Sentences{"needs a letter somewhere behind its last '-'"});
    EXPECT_EQ(broken_by("abc-"), Sentences{"needs a letter somewhere behind its last '-'"});
    EXPECT_EQ(broken_by("a-b-2"), Sentences{"needs a letter somewhere behind its last '-'"});
}

TEST(ComputeName, TellsEveryRuleThatIsBroken) {
    EXPECT_EQ(broken_by("1-").size(), 3U);
    EXPECT_EQ(broken_by("_").size(), 3U);
}

TEST(ComputeName, QuotesNothingThatCouldSteerATerminal) {
    for (const std::string& name : {std::string("a\x1b[2Jb"), std::string("a\0b", 3), std::string("a\x7fz")})
        for (const std::string& sentence : broken_by(name))
            for (const char c : sentence) EXPECT_GE(c, ' ') << sentence;
    EXPECT_EQ(broken_by("größe"),
              Sentences{"has a letter that is not one of a to z; there are only those, digits and '-'"});
    EXPECT_LT(broken_by(std::string(1'000'000, '?'))[1].size(), 100U);
}

TEST(ComputeName, KeepsTheWordsForNoCompute) {
    EXPECT_EQ(broken_by("Serverless").size(), 1U);
    EXPECT_EQ(check_compute_name(ComputeKind::Kubernetes, "local").size(), 1U);
    EXPECT_TRUE(is_no_compute("LOCAL"));
    EXPECT_FALSE(is_no_compute("locals"));
}

TEST(ComputeName, LeavesAttachedMachinesTheirs) {
    const auto attached = [](const std::string& name) {
        return check_compute_name(ComputeKind::SynapseSpark, name);
    };
    EXPECT_EQ(attached("<ATTACHED_SPARK_POOL_NAME>"), Sentences{});
    EXPECT_EQ(attached("x"), Sentences{});
    for (const std::string& name : {std::string("a/b"), std::string("a\nb"), std::string(".."),
                                    std::string("a\xff"), std::string(256, 'x'), std::string()})
        EXPECT_EQ(attached(name).size(), 1U) << name;
}

TEST(ComputeKind, IsKnownByBothNames) {
    for (const ComputeKind kind : kEveryComputeKind) {
        EXPECT_EQ(parse_compute_kind(name_of(kind)), kind);
        EXPECT_EQ(parse_compute_kind(arm_name_of(kind)), kind);
    }
    EXPECT_EQ(parse_compute_kind("cluster"), std::nullopt);
    EXPECT_EQ(parse_compute_kind(""), std::nullopt);
}

std::string scale_problems(std::optional<std::int64_t> least, std::optional<std::int64_t> most,
                           std::optional<std::int64_t> idle = {}) {
    std::string all;
    for (const ScaleProblem& problem : check_scale({least, most, idle}))
        all += std::string(problem.of == ScaleProblem::Of::Min   ? "min "
                           : problem.of == ScaleProblem::Of::Max ? "max "
                                                                 : "idle ") +
               problem.message + ";";
    return all;
}

TEST(Scale, TakesWhatMakesSense) {
    EXPECT_EQ(scale_problems({}, {}), "");
    EXPECT_EQ(scale_problems(0, 4, 120), "");
    EXPECT_EQ(scale_problems(2, 2, 0), "");
    EXPECT_EQ(scale_problems(1000, 1000, kIdleSecondsMost), "");
}

TEST(Scale, HasOneSentenceForEachRule) {
    EXPECT_EQ(scale_problems(5, 2), "min is 5, above the maximum of 2;");
    EXPECT_TRUE(scale_problems(0, 0).starts_with("max must be at least 1: "));
    EXPECT_EQ(scale_problems(-1, 2), "min must not be negative;");
    EXPECT_EQ(scale_problems(0, -2), "max must not be negative;");
    EXPECT_EQ(scale_problems(0, 1001), "max must be at most 1000;");
    EXPECT_EQ(scale_problems(1001, {}), "min must be at most 1000;");
    EXPECT_TRUE(scale_problems({}, {}, -1).starts_with("idle must not be negative"));
    EXPECT_TRUE(scale_problems({}, {}, kIdleSecondsMost + 1).starts_with("idle must be at most 2592000 "));
    EXPECT_TRUE(scale_problems(INT64_MIN, INT64_MAX, INT64_MAX).find("above") == std::string::npos);
}

}  // namespace
}  // namespace lavant
