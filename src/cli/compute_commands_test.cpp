#include "cli/compute_commands.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "cli/fake_server_test.h"
#include "core/model/compute.h"

namespace lavant::cli {
namespace {

const std::string kComputes = kWorkspacePath + "/computes";

std::string cluster(const std::string& name, const std::string& more = "") {
    return R"({"id":"/x","name":")" + name +
           R"(","location":"westus","systemData":{"createdBy":"ann"},"properties":{"computeType":"AmlCompute",)"
           R"("createdOn":"2026-01-02T03:04:05.678901Z",)" +
           more +
           R"("properties":{"vmSize":"Standard_DS3_v2","vmPriority":"LowPriority","scaleSettings":{"minNodeCount":0,)"
           R"("maxNodeCount":4,"nodeIdleTimeBeforeScaleDown":"PT2M"},"nodeStateCounts":{"idleNodeCount":1,)"
           R"("runningNodeCount":2,"preparingNodeCount":1,"leavingNodeCount":0},"currentNodeCount":3,)"
           R"("targetNodeCount":4,"allocationState":"Resizing"}}})";
}
const std::string kBox =
    R"({"name":"my-box","properties":{"computeType":"ComputeInstance","properties":{"vmSize":"Standard_DS3_v2","state":"Stopped"}}})";
const std::string kKube =
    R"({"name":"k8s","properties":{"computeType":"Kubernetes","resourceId":"/subscriptions/x","properties":{"namespace":"n"}}})";

TEST(ShowCompute, SaysInWordsHowTheNodesAre) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes + "/cpu-cluster", 200,
              cluster("cpu-cluster", R"("lavant":{"notGrowing":"a lock","warnings":["far away"]},)"));
    Session session = server.session();
    ASSERT_EQ(show_compute(session, terminal.console(), "cpu-cluster", {}).value(), Exit::Completed);
    const std::string text = terminal.out.str();
    for (const char* line :
         {"nodes           3 now, from 0 to 4: 1 idle, 2 busy, 1 starting\n", "not growing     a lock\n",
          "warning         far away\n", "tier            low_priority\n", "released after  120 s idle\n",
          "created         2026-01-02 03:04:05 UTC\n", "created by      ann\n", "ssh             off\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(ShowCompute, HasTheWordsOfAzAsJson) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes + "/cpu-cluster", 200, cluster("cpu-cluster"));
    Session session = server.session();
    Output output;
    output.format = Format::Json;
    ASSERT_TRUE(show_compute(session, terminal.console(), "cpu-cluster", output));
    const auto shown = wire::parse_json(terminal.out.str());
    ASSERT_TRUE(shown);
    EXPECT_EQ((*shown)["type"].text(), "amlcompute");
    EXPECT_EQ((*shown)["idle_time_before_scale_down"].integer(), 120);
    EXPECT_EQ((*shown)["max_instances"].integer(), 4);
}

TEST(ListComputes, FitsEightyColumnsAndFollowsPages) {
    FakeServer server;
    FakeTerminal terminal;
    int page = 0;
    server.on("GET " + kComputes, [&](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
        EXPECT_TRUE(request.url.starts_with("https://server/")) << request.url;
        ports::HttpResponse response;
        response.body = ++page == 1 ? R"({"value":[)" + cluster("a23456789012345678901234") + "," + kBox +
                                          R"(],"nextLink":"https://elsewhere)" + kComputes + R"(?$skip=2"})"
                                    : R"({"value":[)" + kKube + "]}";
        return response;
    });
    Session session = server.session();
    ASSERT_TRUE(list_computes(session, terminal.console(), {}, {}));
    const std::string text = terminal.out.str();
    const auto lines = split(text, '\n');
    ASSERT_EQ(lines.size(), 5U) << text;
    EXPECT_EQ(lines[0], "NAME                      TYPE             SIZE             NODES    STATE");
    EXPECT_EQ(lines[1], "a23456789012345678901234  amlcompute       Standard_DS3_v2  3 (0-4)  resizing");
    EXPECT_EQ(lines[2], "my-box                    computeinstance  Standard_DS3_v2  0        Stopped");
    EXPECT_TRUE(lines[3].ends_with("attached"));
    for (const auto line : lines) EXPECT_LE(line.size(), 80U);
}

TEST(ListComputes, FiltersByTypeAndRefusesOneThatIsNone) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes, 200, R"({"value":[)" + cluster("c") + "," + kBox + "]}");
    Session session = server.session();
    ASSERT_TRUE(list_computes(session, terminal.console(), {.type = "ComputeInstance"}, {}));
    EXPECT_EQ(split(terminal.out.str(), '\n').size(), 3U);
    const auto wrong = list_computes(session, terminal.console(), {.type = "amlcomput"}, {});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().exit, Exit::Usage);
    EXPECT_NE(wrong.error().error.message.find("did you mean 'amlcompute'?"), std::string::npos);
}

TEST(ListNodes, ShowsJobsAndSaysWhenThereIsNone) {
    FakeServer server;
    FakeTerminal terminal;
    server.on(
        "POST " + kComputes + "/c/listNodes", 200,
        R"({"nodes":[{"nodeId":"node-1","nodeState":"running","runId":"train","privateIpAddress":"127.0.0.1"},)"
        R"({"nodeId":"node-12","nodeState":"idle","runId":null,"privateIpAddress":"127.0.0.1"}]})");
    server.on("POST " + kComputes + "/none/listNodes", 200, R"({"nodes":[]})");
    Session session = server.session();
    ASSERT_TRUE(list_nodes(session, terminal.console(), "c", {}));
    EXPECT_EQ(terminal.out.str(),
              "NODE     STATE    JOB    ADDRESS\nnode-1   running  train  127.0.0.1\nnode-12  idle           "
              " 127.0.0.1\n");
    ASSERT_TRUE(list_nodes(session, terminal.console(), "none", {}));
    EXPECT_NE(terminal.err.str().find("has no node now"), std::string::npos);
}

TEST(Computes, WhatIsSaidFitsEightyColumns) {
    const std::string longest(kComputeNameCharsMost, 'c');
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes, 200, R"({"value":[]})");
    server.on("POST " + kComputes + "/" + longest + "/listNodes", 200, R"({"nodes":[]})");
    server.on("POST /lavant/v1/computes/" + longest + "/evict", 200, R"({"node":"node-123456"})");
    Session session = server.session();
    Console console = terminal.console();
    console.err_is_terminal = true;
    ASSERT_TRUE(list_computes(session, console, {}, {}));
    ASSERT_TRUE(list_nodes(session, console, longest, {}));
    ASSERT_TRUE(evict_node(session, console, longest, "", {}));
    const std::string text = terminal.out.str() + terminal.err.str();
    EXPECT_NE(text.find("has no node now"), std::string::npos);
    EXPECT_NE(text.find("is being taken away"), std::string::npos);
    for (const auto line : split(text, '\n')) EXPECT_LE(line.size(), 80U) << line;
}

TEST(ShowCompute, PromisesNoShutdown) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes + "/my-box", 200,
              R"({"name":"my-box","properties":{"computeType":"ComputeInstance","properties":)"
              R"({"vmSize":"Standard_DS3_v2","state":"Running","idleTimeBeforeShutdown":"PT30M"}}})");
    Session session = server.session();
    ASSERT_TRUE(show_compute(session, terminal.console(), "my-box", {}));
    EXPECT_NE(terminal.out.str().find("after 30 min: kept, nothing acts on it yet\n"), std::string::npos)
        << terminal.out.str();
}

TEST(RemoveCompute, AsksAndDetachesRecordsOnly) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes + "/c", 200, cluster("c"));
    server.on("GET " + kComputes + "/k8s", 200, kKube);
    server.on("DELETE " + kComputes + "/c", 200, "");
    server.on("DELETE " + kComputes + "/k8s", 200, "");
    Session session = server.session();
    Context context = terminal.context(server);
    EXPECT_FALSE(remove_compute(session, context, {.name = "c"}));  // There is nobody to ask.
    EXPECT_TRUE(server.requests.empty());
    const auto wrong = remove_compute(session, context, {.name = "c", .yes = true, .how = Removal::Detach});
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().error.message.find("lavant compute delete c"), std::string::npos);
    EXPECT_TRUE(remove_compute(session, context, {.name = "c", .yes = true}));
    EXPECT_TRUE(remove_compute(session, context, {.name = "k8s", .yes = true, .how = Removal::Detach}));
    EXPECT_NE(server.requests.back().url.find("underlyingResourceAction=Detach"), std::string::npos);
}

TEST(EvictNode, NamesTheNodeOrLeavesItToTheServer) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("POST /lavant/v1/computes/c/evict", 200, R"({"node":"node-3"})");
    Session session = server.session();
    ASSERT_TRUE(evict_node(session, terminal.console(), "c", "node-3", {}));
    EXPECT_EQ(server.requests.back().body, R"({"node":"node-3"})");
    ASSERT_TRUE(evict_node(session, terminal.console(), "c", "", {}));
    EXPECT_EQ(server.requests.back().body, "{}");
    EXPECT_NE(terminal.out.str().find("node-3 of c is being taken away"), std::string::npos);
}

TEST(Computes, NoAnswerSteersTheTerminal) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kComputes + "/c", 200, cluster("c\\u001b[2J", R"("description":"\u001b]0;x\u0007",)"));
    Session session = server.session();
    ASSERT_TRUE(show_compute(session, terminal.console(), "c", {}));
    EXPECT_EQ(terminal.out.str().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace lavant::cli
