#include "cli/size_commands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

using wire::Json;

const std::string kSizes = R"({"value":[
  {"name":"rtx","family":"site","vcpus":16,"memoryGib":64.0,"gpus":1,"diskGib":0,"price":0.5,
   "lowPriorityPrice":0.1,"origin":"site","regions":["all"]},
  {"name":"local","family":"local","vcpus":2,"memoryGib":3.5,"gpus":0,"diskGib":0,"price":0.0,
   "lowPriorityPrice":0.0,"origin":"machine","regions":["all"]},
  {"name":"Standard_A100","family":"f","vcpus":24,"memoryGib":220.0,"gpus":1,"diskGib":64,"price":3.673,
   "lowPriorityPrice":0.7346,"origin":"azure","regions":["local","eastus","westus2"]},
  {"name":"Standard_NC24","family":"f","vcpus":24,"memoryGib":224.0,"gpus":4,"diskGib":1440,"price":3.6,
   "lowPriorityPrice":0.72,"origin":"azure","regions":["local","eastus"],"retiredOn":"2023-08-31",
   "successor":"Standard_NC24s_v3"}]})";

class SizeCommands : public testing::Test {
 protected:
    SizeCommands() { server_.on("GET /lavant/v1/sizes", 200, kSizes); }

    std::string names(const SizeFilter& filter) {
        terminal_.out.str("");
        Session session = server_.session();
        Output output;
        output.format = Format::Tsv;
        output.query = wire::parse_query("[].name").value();
        EXPECT_TRUE(list_sizes(session, terminal_.console(), filter, output).has_value());
        return terminal_.out.str();
    }
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(SizeCommands, ListsTheCheapestFirstWithoutRetiredOnes) {
    EXPECT_EQ(names({}), "local\nrtx\nStandard_A100\n");
    EXPECT_EQ(names({.retired = true}), "local\nrtx\nStandard_NC24\nStandard_A100\n");
}

TEST_F(SizeCommands, FiltersByWhatIsNeeded) {
    EXPECT_EQ(names({.gpus = 1}), "rtx\nStandard_A100\n");
    EXPECT_EQ(names({.location = "West US 2", .gpus = 1}), "rtx\nStandard_A100\n");
    EXPECT_EQ(names({.location = "westeurope", .gpus = 1}), "rtx\n");
    EXPECT_EQ(names({.location = "local", .vcpus = 20}), "Standard_A100\n");
    EXPECT_EQ(names({.memory_gib = 60, .price_max = 0.5}), "rtx\n");
    EXPECT_EQ(names({.gpus = 9}), "");
    EXPECT_NE(terminal_.err.str().find("no size is like that"), std::string::npos);
}

TEST_F(SizeCommands, ARegionThatIsNoneIsAMistakeOfTheCommandLine) {
    Session session = server_.session();
    const auto outcome = list_sizes(session, terminal_.console(), {.location = "wetus"}, {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Usage);
    EXPECT_EQ(outcome.error().error.message,
              "--location: there is no region 'wetus'; did you mean 'westus'?");
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(SizeCommands, TheTableFitsEightyColumns) {
    Session session = server_.session();
    ASSERT_TRUE(list_sizes(session, terminal_.console(), {.retired = true}, {}).has_value());
    EXPECT_EQ(terminal_.out.str(),
              "NAME           VCPUS  GPUS  MEMORY   $/HOUR  LOW PRIO  NOTE\n"
              "local          2      0     3.5 GiB  0.00    0.00      this machine\n"
              "rtx            16     1     64 GiB   0.50    0.10      of this site\n"
              "Standard_NC24  24     4     224 GiB  3.60    0.72      retired; now Standard_NC…\n"
              "Standard_A100  24     1     220 GiB  3.673   0.7346\n");
}

TEST_F(SizeCommands, ShowsOneWithAllThatIsKnown) {
    server_.on(
        "GET /lavant/v1/sizes/Standard_NC24", 200,
        R"({"name":"Standard_NC24","family":"standardNCFamily","vcpus":24,"memoryGib":224.0,"gpus":4,)"
        R"("diskGib":1440,"price":3.6,"lowPriorityPrice":0.72,"origin":"azure","regions":["local","eastus"],)"
        R"("retiredOn":"2023-08-31","successor":"Standard_NC24s_v3"})");
    Session session = server_.session();
    ASSERT_TRUE(show_size(session, terminal_.console(), "Standard_NC24", {}).has_value());
    for (const char* part : {"standardNCFamily", "224 GiB", "1440 GiB", "3.60 USD an hour", "local, eastus",
                             "2023-08-31", "Standard_NC24s_v3"})
        EXPECT_NE(terminal_.out.str().find(part), std::string::npos) << part << "\n" << terminal_.out.str();
    EXPECT_FALSE(show_size(session, terminal_.console(), "none", {}).has_value());
}

TEST_F(SizeCommands, CreatesOnlyWhatIsNotThereYet) {
    server_.on(
        "PUT /lavant/v1/sizes/rtx4090", 201,
        R"({"name":"rtx4090","family":"site","vcpus":16,"memoryGib":64.0,"gpus":1,"diskGib":0,"price":0.0,)"
        R"("lowPriorityPrice":0.0,"origin":"site","regions":["all"]})");
    Session session = server_.session();
    SiteSize asked{.name = "rtx4090", .family = "", .vcpus = 16, .memory_gib = 64, .gpus = 1};
    ASSERT_TRUE(create_size(session, terminal_.console(), asked, {}).has_value());
    EXPECT_EQ(server_.requests.back().body,
              R"({"vcpus":16,"memoryGib":64.0,"gpus":1,"diskGib":0,"price":0.0})");
    const auto& headers = server_.requests.back().headers;
    EXPECT_TRUE(std::ranges::any_of(headers, [](const auto& one) { return one.first == "If-None-Match"; }));
    asked.family = "cards";
    asked.low_priority_price = 0.25;
    ASSERT_TRUE(create_size(session, terminal_.console(), asked, {}).has_value());
    EXPECT_NE(server_.requests.back().body.find(R"("lowPriorityPrice":0.25,"family":"cards")"),
              std::string::npos);
}

TEST_F(SizeCommands, WhatCannotBeASizeIsNotSent) {
    Session session = server_.session();
    const auto outcome = create_size(session, terminal_.console(),
                                     {.name = "local", .family = "", .vcpus = 0, .memory_gib = 0.1}, {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Usage);
    std::string flags;
    for (const FieldProblem& one : outcome.error().error.fields) flags += one.path + " ";
    EXPECT_EQ(flags, "--name --vcpus --memory ");
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(SizeCommands, DeletesByName) {
    server_.on("DELETE /lavant/v1/sizes/rtx", 204, "");
    Session session = server_.session();
    ASSERT_TRUE(delete_size(session, terminal_.console(), "rtx").has_value());
    EXPECT_EQ(terminal_.out.str(), "deleted rtx\n");
}

TEST_F(SizeCommands, SpeaksAsAzDoesOfTheWorkspacesRegion) {
    server_.on("GET " + kWorkspacePath, 200, R"({"location":"local"})");
    const std::string sizes =
        "GET /subscriptions/00000000-0000-0000-0000-000000000001/providers/"
        "Microsoft.MachineLearningServices/locations/";
    server_.on(sizes + "local/vmSizes", 200,
               R"({"value":[{"name":"S","family":"f","vCPUs":4,"memoryGB":14.0}]})");
    server_.on(sizes + "westus2/vmSizes", 200, R"({"value":[]})");
    Session session = server_.session();
    Output output;
    output.format = Format::Json;
    ASSERT_TRUE(list_az_sizes(session, terminal_.console(), "", output).has_value());
    EXPECT_NE(terminal_.out.str().find(R"("v_cp_us": 4)"), std::string::npos) << terminal_.out.str();
    ASSERT_TRUE(list_az_sizes(session, terminal_.console(), "West US 2", output).has_value());
    EXPECT_EQ(server_.asked().back(), sizes + "westus2/vmSizes");
}

}  // namespace
}  // namespace lavant::cli
