#include "cli/output.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace lavant::cli {
namespace {

using wire::Json;

std::string printed(const std::string& json, Format format, const std::string& query = "") {
    std::ostringstream out;
    std::ostringstream err;
    const Console console{out, err, 80};
    Output output{.format = format, .query = {}};
    if (!query.empty()) output.query = wire::parse_query(query).value();
    const auto done =
        print(wire::parse_json(json).value(), output, console, [] { return std::string("for people\n"); });
    return done ? out.str() : done.error().error.message;
}

const std::string kJobs =
    R"([{"name":"a","status":"Failed","n":1,"tags":{"x":"y"}},{"name":"b","status":null,"n":2.5,"tags":{}}])";

TEST(Print, TsvIsWhatAzWrites) {
    EXPECT_EQ(printed(kJobs, Format::Tsv, "[].[name,status,n]"), "a\tFailed\t1\nb\tNone\t2.5\n");
    EXPECT_EQ(printed(kJobs, Format::Tsv, "[0].name"), "a\n");
    EXPECT_EQ(printed(kJobs, Format::Tsv, "[].name"), "a\nb\n");
    EXPECT_EQ(printed(kJobs, Format::Tsv, "[0]"), "a\tFailed\t1\t\n");  // an object in a row is nothing
    EXPECT_EQ(printed(R"({"on":true,"list":[1,2]})", Format::Tsv), "True\t2\n");
    EXPECT_EQ(printed(R"({"on":true})", Format::Tsv, "on"), "true\n");
    EXPECT_EQ(printed(R"({"a":"x\ty\nz"})", Format::Tsv, "a"), "x y z\n");
}

TEST(Print, WhatAQueryDoesNotFindPrintsNothing) {
    for (const Format format : {Format::Table, Format::Json, Format::Yaml, Format::Tsv})
        EXPECT_EQ(printed(kJobs, format, "[9].name"), "");
}

TEST(Print, AQueryMakesItsOwnTable) {
    EXPECT_EQ(printed(kJobs, Format::Table), "for people\n");
    EXPECT_EQ(printed(kJobs, Format::Table, "[].{who: name, state: status}"), "who  state\na    Failed\nb\n");
    EXPECT_EQ(printed(kJobs, Format::Table, "[].name"), "Result\na\nb\n");
    EXPECT_EQ(printed(kJobs, Format::Table, "length(@)"), "2\n");
}

TEST(Print, JsonYamlAndNone) {
    EXPECT_EQ(printed(kJobs, Format::Json, "[0].tags"), "{\n  \"x\": \"y\"\n}\n");
    EXPECT_EQ(printed(kJobs, Format::Jsonc, "[0].tags"),
              "{\n  \"x\": \"y\"\n}\n");  // no terminal, no colours
    EXPECT_EQ(printed(kJobs, Format::Yaml, "[0].tags"), "x: \"y\"\n");
    EXPECT_EQ(printed(kJobs, Format::None), "");
}

TEST(Print, AQueryThatFailsSaysSo) {
    EXPECT_NE(printed(kJobs, Format::Json, "abs(@)").find("--query"), std::string::npos);
}

}  // namespace
}  // namespace lavant::cli
