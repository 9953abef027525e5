#include "cli/datastore_commands.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

struct World {
    World() {
        terminal.variables["LAVANT_ENDPOINT"] = "https://127.0.0.1:1";
        terminal.variables["LAVANT_TOKEN"] = "key";
    }
    Context context() {
        Context made = terminal.context(server);
        made.folder = "/here";
        return made;
    }
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();
};

const std::string kStore = kWorkspacePath + "/datastores/team";
const std::string kLocal =
    R"({"id":")" + kStore +
    R"(","name":"team","properties":{"datastoreType":"AzureBlob",)"
    R"("accountName":"h:1/storage/a","containerName":"x","lavant":{"path":"/data/team"}}})";

TEST(DatastoreCreate, AFolderIsAllItTakes) {
    World world;
    world.server.on("PUT " + kStore, 201, kLocal);
    Context context = world.context();
    const auto made =
        create_datastore(context, {}, {.words = {{"name", "team"}, {"path", "data"}, {"type", ""}}}, {});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(world.server.requests.back().body,
              R"({"properties":{"datastoreType":"AzureBlob","lavant":{"path":"/here/data"},"tags":{},)"
              R"("credentials":{"credentialsType":"None"}}})");
    EXPECT_EQ(world.terminal.out.str(), "team  local  /data/team\n");
}

TEST(DatastoreCreate, AFolderOfAnotherMachineIsNamedWhole) {
    World world;
    world.terminal.variables["LAVANT_ENDPOINT"] = "https://server";
    world.server.on("PUT " + kStore, 201, kLocal);
    Context context = world.context();
    const auto refused = create_datastore(context, {}, {.words = {{"name", "team"}, {"path", "data"}}}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit, Exit::Usage);
    EXPECT_NE(refused.error().error.message.find("give the whole path"), std::string::npos);
    EXPECT_TRUE(world.server.requests.empty());
    EXPECT_TRUE(create_datastore(context, {}, {.words = {{"name", "team"}, {"path", "/data"}}}, {}));
}

TEST(DatastoreCreate, ADryRunShowsNoSecret) {
    World world;
    Context context = world.context();
    FileOptions options;
    options.words = {{"name", "b"},
                     {"type", "azure_blob"},
                     {"account_name", "a"},
                     {"container_name", "c"},
                     {"credentials.account_key", "hush"}};
    options.dry_run = true;
    const auto made = create_datastore(context, {}, options, {});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(world.terminal.out.str().find("hush"), std::string::npos);
    EXPECT_NE(world.terminal.out.str().find("********"), std::string::npos);
    EXPECT_TRUE(world.server.requests.empty());
}

TEST(DatastoreCreate, WhatIsMissingIsSaid) {
    World world;
    Context context = world.context();
    const auto made = create_datastore(context, {}, {.words = {{"name", "team"}}}, {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().exit, Exit::Usage);
    EXPECT_NE(made.error().error.message.find("local for a folder of your own"), std::string::npos);
}

TEST(DatastoreList, SaysWhereFilesLie) {
    World world;
    world.server.on(
        "GET " + kWorkspacePath + "/datastores", 200,
        R"({"value":[{"name":"workspaceblobstore","properties":{"datastoreType":"AzureBlob",)"
        R"("accountName":"h:1/storage/a","containerName":"azureml-blobstore","isDefault":true}},)" +
            kLocal + "]}");
    ASSERT_TRUE(list_datastores(world.session, world.terminal.console(), 0, {}));
    EXPECT_EQ(world.terminal.out.str(),
              "NAME                TYPE        DEFAULT  WHERE              DESCRIPTION\n"
              "workspaceblobstore  azure_blob  yes      azureml-blobstore\n"
              "team                local                /data/team\n");
}

TEST(DatastoreUpdate, ChangesWordsOnly) {
    World world;
    world.server.on("GET " + kStore, 200, kLocal);
    world.server.on("PUT " + kStore, 200, kLocal);
    ASSERT_TRUE(update_datastore(world.session, world.terminal.console(), "team", {"description=ours"}, {}));
    EXPECT_EQ((*wire::parse_json(world.server.requests.back().body)).get("properties.description").text(),
              "ours");
    for (const char* bad : {"container_name=x", "properties.a=b", "x"})
        EXPECT_EQ(update_datastore(world.session, world.terminal.console(), "team", {bad}, {}).error().exit,
                  Exit::Usage);
}

TEST(DatastoreDelete, SaysThatFilesStay) {
    World world;
    world.server.on("GET " + kStore, 200, kLocal);
    world.server.on("DELETE " + kStore, 200, "");
    Context context = world.context();
    EXPECT_FALSE(delete_datastore(world.session, context, "team", false));
    ASSERT_TRUE(delete_datastore(world.session, context, "team", true));
    EXPECT_EQ(world.terminal.err.str(), "deleted team; its files stay where they are\n");
}

TEST(DatastoreDelete, OfOneThatIsNotThereIsRefused) {
    World world;
    world.server.on("DELETE " + kWorkspacePath + "/datastores/nosuch", 204, "");
    Context context = world.context();
    const auto removed = delete_datastore(world.session, context, "nosuch", true);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().exit, Exit::Refused);
}

}  // namespace
}  // namespace lavant::cli
