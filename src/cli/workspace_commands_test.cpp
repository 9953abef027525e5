#include "cli/workspace_commands.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

struct World {
    World() {
        server.on("GET " + kWorkspacePath, 200,
                  R"({"id":"/x","name":"default","location":"local","tags":{"team":"vision"},)"
                  R"("properties":{"friendlyName":"default","description":"ours"}})");
        server.on("GET /lavant/v1/workspace", 200,
                  R"({"serverless":false,"serverless_compute":{"custom_subnet":null,"no_public_ip":true}})");
        server.on("PATCH /lavant/v1/workspace", 200, "{}");
    }
    std::string file(const std::string& text) {
        const std::string path = testing::TempDir() + "workspace-" + std::to_string(::getpid()) + ".yml";
        std::ofstream(path) << text;
        return path;
    }
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();
};

TEST(WorkspaceShow, SaysWhetherServerlessIsOn) {
    World world;
    ASSERT_TRUE(show_workspace(world.session, world.terminal.console(), {}));
    const std::string text = world.terminal.out.str();
    EXPECT_NE(text.find("serverless      off"), std::string::npos) << text;
    EXPECT_NE(text.find("no public ip    yes"), std::string::npos) << text;
    EXPECT_NE(text.find("team = vision"), std::string::npos) << text;
    EXPECT_EQ(text.find("custom subnet"), std::string::npos) << text;
    world.terminal.out.str("");
    ASSERT_TRUE(show_workspace(world.session, world.terminal.console(), {.format = Format::Json}));
    EXPECT_NE(world.terminal.out.str().find(R"("resource_group": "lavant")"), std::string::npos);
}

TEST(WorkspaceUpdate, SendsWhatIsSaid) {
    World world;
    const auto change = plan_workspace_change({.serverless = "off", .description = "hers"});
    ASSERT_TRUE(change);
    ASSERT_TRUE(update_workspace(world.session, world.terminal.console(), *change, {}));
    EXPECT_EQ(world.server.requests.front().body, R"({"serverless":false,"description":"hers"})");
    EXPECT_EQ(world.server.requests.front().method, "PATCH");
}

TEST(WorkspaceUpdate, ReadsAFile) {
    World world;
    const auto change = plan_workspace_change(
        {.file = world.file("name: default\nlocation: westeurope\ntags: {team: vision}\nserverless_compute:\n"
                            "  custom_subnet: null\n  no_public_ip: true\n"),
         .serverless = "on"});
    ASSERT_TRUE(change) << change.error().error.message;
    ASSERT_TRUE(update_workspace(world.session, world.terminal.console(), *change, {}));
    EXPECT_EQ(world.server.requests.front().body,
              R"({"tags":{"team":"vision"},"serverless_compute":{"custom_subnet":null,"no_public_ip":true},)"
              R"("serverless":true})");
    EXPECT_NE(world.terminal.err.str().find("'location' has no meaning here"), std::string::npos);
}

TEST(WorkspaceUpdate, RefusesWhatMakesNoSense) {
    World world;
    EXPECT_EQ(plan_workspace_change({}).error().exit, Exit::Usage);
    EXPECT_EQ(plan_workspace_change({.file = "/nonexistent/workspace.yml"}).error().exit, Exit::Usage);
    const auto slip = plan_workspace_change({.file = world.file("descripton: x\n")});
    ASSERT_FALSE(slip);
    EXPECT_NE(slip.error().error.message.find("did you mean 'description'?"), std::string::npos)
        << slip.error().error.message;
    const auto other = plan_workspace_change({.file = world.file("name: other\ndescription: x\n")});
    ASSERT_TRUE(other);
    const auto refused = update_workspace(world.session, world.terminal.console(), *other, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().error.message.find("add: -w 'other'"), std::string::npos)
        << refused.error().error.message;
    EXPECT_TRUE(world.server.requests.empty());
}

TEST(WorkspaceCreate, PutsItInTheResourceGroup) {
    World world;
    world.terminal.variables["LAVANT_ENDPOINT"] = "https://server";
    world.terminal.variables["LAVANT_TOKEN"] = "key";
    const std::string path = kWorkspacePath.substr(0, kWorkspacePath.rfind('/')) + "/vision";
    world.server.on("PUT " + path, 201, R"({"id":")" + path + R"(","name":"vision","properties":{}})");
    Context context = world.terminal.context(world.server);
    const auto made = create_workspace(context, {}, {.name = "vision", .tags = {"a=b"}}, {});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(
        world.server.requests.back().body,
        R"({"location":"local","tags":{"a":"b"},"properties":{"friendlyName":"vision","description":""}})");
    EXPECT_EQ(world.terminal.out.str(), "vision  in resource group lavant\n");
    const auto nameless = create_workspace(context, {}, {.file = world.file("description: x\n")}, {});
    ASSERT_FALSE(nameless);
    EXPECT_EQ(nameless.error().exit, Exit::Usage);
}

TEST(WorkspaceList, ShowsWhichIsInUse) {
    World world;
    world.server.on(
        "GET /subscriptions/00000000-0000-0000-0000-000000000001/providers/"
        "Microsoft.MachineLearningServices/workspaces",
        200,
        R"({"value":[{"id":"/subscriptions/s/resourceGroups/lavant/x","name":"default","properties":{}},)"
        R"({"id":"/subscriptions/s/resourceGroups/research/x","name":"vision","properties":{}}]})");
    ASSERT_TRUE(list_workspaces(world.session, world.terminal.console(), false, 0, {}));
    EXPECT_EQ(world.terminal.out.str(),
              "NAME     RESOURCE GROUP  IN USE  DESCRIPTION\n"
              "default  lavant          yes\n"
              "vision   research\n");
}

TEST(WorkspaceConfig, IsWhatFromConfigReads) {
    World world;
    const Context context = world.terminal.context(world.server);
    const std::string folder = testing::TempDir() + "workspace-config-" + std::to_string(::getpid());
    ServerChoice choice;
    choice.workspace.name = "vision";
    ASSERT_TRUE(write_workspace_config(context, choice, folder));
    std::ifstream file(folder + "/.azureml/config.json");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto config = wire::parse_json(text);
    ASSERT_TRUE(config) << text;
    EXPECT_EQ((*config)["workspace_name"].text(), "vision");
    EXPECT_EQ((*config)["resource_group"].text(), "lavant");
    EXPECT_EQ((*config)["subscription_id"].text(), "00000000-0000-0000-0000-000000000001");
}

}  // namespace
}  // namespace lavant::cli
