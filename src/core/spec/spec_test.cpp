// The parts of core/spec that need no file format; jobs as a whole are tested from YAML in
// wire/job_spec_test.cpp.

#include <gtest/gtest.h>

#include "core/spec/command_job.h"
#include "core/spec/fields.h"

namespace lavant::spec {
namespace {

Document integer(std::int64_t value) {
    Document document = Document::string(std::to_string(value));
    document.kind = Document::Kind::Integer;
    document.integer = value;
    document.number = static_cast<double>(value);
    return document;
}

TEST(Document, PrintsFloatsAsPythonDoes) {
    EXPECT_EQ(python_float(1), "1.0");
    EXPECT_EQ(python_float(0), "0.0");
    EXPECT_EQ(python_float(-0.5), "-0.5");
    EXPECT_EQ(python_float(0.1), "0.1");
    EXPECT_EQ(python_float(1e15), "1000000000000000.0");
    EXPECT_EQ(python_float(1e16), "1e+16");
    EXPECT_EQ(python_float(0.0001), "0.0001");
    EXPECT_EQ(python_float(0.00001), "1e-05");
    EXPECT_EQ(python_float(1.5e300), "1.5e+300");
}

TEST(Document, SetAtMakesMapsOnTheWayAndStopsAtScalars) {
    Document root = Document::map();
    EXPECT_TRUE(set_at(root, "a.b.c", integer(1)));
    EXPECT_TRUE(set_at(root, "a.b.c", integer(2)));
    EXPECT_EQ(root.find("a")->find("b")->find("c")->integer, 2);
    EXPECT_EQ(root.entries.size(), 1U);
    EXPECT_FALSE(set_at(root, "a.b.c.d", integer(3)));
    EXPECT_FALSE(set_at(root, "", integer(3)));
    EXPECT_FALSE(set_at(root, "a..b", integer(3)));
}

TEST(Fields, ReportsWrongTypesAndUnknownKeys) {
    Document root = Document::map({1, 1});
    root.entries.push_back({"name", {1, 1}, integer(3)});
    root.entries.push_back({"count", {2, 1}, Document::string("4")});
    root.entries.push_back({"kount", {3, 1}, Document::string("4")});
    Problems problems;
    Fields fields(root, "top", problems);
    EXPECT_EQ(fields.string("name"), "");
    EXPECT_EQ(fields.integer("count"), 4);
    fields.finish();
    ASSERT_EQ(problems.found().size(), 2U);
    EXPECT_EQ(problems.found()[0].path, "top.name");
    EXPECT_EQ(problems.found()[0].message, "must be a string, but is an integer; put it in quotes");
    EXPECT_EQ(problems.found()[1].message, "unknown key; did you mean 'count'?");
    EXPECT_EQ(problems.found()[1].line, 3);
}

TEST(Fields, ChoicesIgnoreCaseAndSeparators) {
    const std::vector<std::string> allowed = {"user_identity", "aml_token"};
    EXPECT_EQ(match_choice("UserIdentity", allowed), "user_identity");
    EXPECT_EQ(match_choice("AML-token", allowed), "aml_token");
    EXPECT_EQ(match_choice("", allowed), std::nullopt);
}

TEST(Problems, OneProblemIsASentenceAndManyAreAList) {
    Problems problems;
    problems.add("a.b", {2, 5}, "is wrong");
    EXPECT_EQ(problems.to_error("the job").message, "the job is not valid: a.b: is wrong (line 2, column 5)");
    problems.add("", {}, "something else");
    EXPECT_EQ(problems.to_error("the job").message,
              "the job has 2 problems\n  a.b: is wrong (line 2, column 5)\n  something else");
}

TEST(Problems, AreBounded) {
    Problems problems;
    for (int i = 0; i < 1000; ++i) problems.add("x" + std::to_string(i), {}, "y");
    EXPECT_EQ(problems.found().size(), 100U);
    Problems once;
    for (int i = 0; i < 2; ++i) once.add("x", {}, "y");
    EXPECT_EQ(once.found().size(), 1U) << "what two readers look at is wrong once";
}

TEST(Retry, DefaultsToLostAndPreemptedNodes) {
    const RetryPolicy policy = *parse_retry({});
    EXPECT_EQ(policy.retries_max, 3);
    EXPECT_TRUE(policy.on_node_lost);
    EXPECT_TRUE(policy.on_preempted);
    EXPECT_FALSE(policy.on_out_of_memory);
    EXPECT_TRUE(policy.on_exit_codes.empty());
}

TEST(Retry, CausesReplaceTheDefaults) {
    const RetryPolicy policy =
        *parse_retry({{"lavant.retry_on", "preempted,exit:3"}, {"lavant.max_retries", "0"}});
    EXPECT_EQ(policy.retries_max, 0);
    EXPECT_FALSE(policy.on_node_lost);
    EXPECT_TRUE(policy.on_preempted);
    EXPECT_EQ(policy.on_exit_codes, std::vector<int>{3});
    EXPECT_FALSE(parse_retry({{"lavant.retry_on", ""}})->on_node_lost);
}

TEST(Retry, RefusesNonsenseWithThePath) {
    for (const char* value : {"-1", "101", "x", "", "1.5"}) {
        const auto policy = parse_retry({{"lavant.max_retries", value}});
        ASSERT_FALSE(policy) << value;
        EXPECT_EQ(policy.error().fields[0].path, "properties.lavant.max_retries");
    }
    for (const char* value : {"exit:0", "exit:256", "exit:", "exit", "never", "oom,,x"}) {
        EXPECT_FALSE(parse_retry({{"lavant.retry_on", value}})) << value;
    }
}

TEST(LavantProperties, KnowsFourKeysAndLeavesOthersAlone) {
    EXPECT_TRUE(check_lavant_properties(
                    {{"mine", "x"}, {"lavant.sandbox", "off"}, {"lavant.keep_on_failure", "True"}})
                    .empty());
    const auto problems = check_lavant_properties({{"lavant.sandbx", "off"}, {"lavant.sandbox", "2"}});
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[1].message, "unknown key; did you mean 'lavant.sandbox'?");
}

}  // namespace
}  // namespace lavant::spec
