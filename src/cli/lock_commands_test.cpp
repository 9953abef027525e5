#include "cli/lock_commands.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

const std::string kSubscription = "/subscriptions/00000000-0000-0000-0000-000000000001";
const std::string kGroup = kSubscription + "/resourceGroups/lavant";
const std::string kLocks = "/providers/Microsoft.Authorization/locks";

std::string lock_json(const std::string& scope, const std::string& name) {
    return R"({"id":")" + scope + kLocks + "/" + name + R"(","name":")" + name +
           R"(","type":"Microsoft.Authorization/locks","properties":{"level":"ReadOnly","notes":"keep off"}})";
}

struct World {
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();
};

TEST(LockCreate, PutsItWhereItIsSaid) {
    World world;
    const std::pair<LockedThing, std::string> cases[] = {
        {{.compute = "cpu"}, kWorkspacePath + "/computes/cpu"},
        {{.network = "net"}, kGroup + "/providers/Microsoft.Network/virtualNetworks/net"},
        {{.workspace = true}, kWorkspacePath},
        {{.scope = kGroup + "/"}, kGroup},
        {{.resource = "net", .resource_type = "Microsoft.Network/virtualNetworks"},
         kGroup + "/providers/Microsoft.Network/virtualNetworks/net"},
        {{.group = true}, kGroup}};
    for (const auto& [thing, scope] : cases) {
        world.server.on("PUT " + scope + kLocks + "/keep", 201, lock_json(scope, "keep"));
        const auto made =
            create_lock(world.session, world.terminal.console(), {"keep", "readonly", "keep off", thing}, {});
        ASSERT_TRUE(made) << made.error().error.message;
    }
    EXPECT_EQ(world.server.requests.back().body, R"({"properties":{"level":"readonly","notes":"keep off"}})");
    EXPECT_NE(world.terminal.out.str().find("keep (ReadOnly) on compute cpu\n"), std::string::npos)
        << world.terminal.out.str();
}

TEST(LockCreate, AsksForWhatIsMissing) {
    World world;
    const auto nothing =
        create_lock(world.session, world.terminal.console(), {"keep", "ReadOnly", "", {}}, {});
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().exit, Exit::Usage);
    EXPECT_NE(nothing.error().error.message.find("say what to lock"), std::string::npos);
    const auto level = create_lock(world.session, world.terminal.console(),
                                   {"keep", "ReadOnli", "", {.workspace = true}}, {});
    ASSERT_FALSE(level);
    EXPECT_EQ(level.error().error.message, "there is no level 'ReadOnli'; did you mean 'ReadOnly'?");
    EXPECT_FALSE(create_lock(world.session, world.terminal.console(),
                             {"keep", "ReadOnly", "", {.compute = "a", .workspace = true}}, {}));
    EXPECT_FALSE(create_lock(world.session, world.terminal.console(),
                             {"keep", "ReadOnly", "", {.scope = "/subscriptions/s"}}, {}));
    EXPECT_FALSE(
        create_lock(world.session, world.terminal.console(),
                    {"keep", "ReadOnly", "", {.resource = "x", .resource_type = "Microsoft.Web/sites"}}, {}));
    EXPECT_TRUE(world.server.requests.empty());
}

TEST(LockList, SaysWhatIsLocked) {
    World world;
    world.server.on("GET " + kSubscription + kLocks, 200,
                    R"({"value":[)" + lock_json(kWorkspacePath + "/computes/cpu", "keep") + "," +
                        lock_json(kGroup, "all") + "]}");
    ASSERT_TRUE(list_locks(world.session, world.terminal.console(), {}, {}));
    const std::string text = world.terminal.out.str();
    EXPECT_NE(text.find("compute cpu"), std::string::npos) << text;
    EXPECT_NE(text.find("resource group lavant"), std::string::npos) << text;
    EXPECT_NE(text.find("keep off"), std::string::npos) << text;
    world.terminal.out.str("");
    ASSERT_TRUE(list_locks(world.session, world.terminal.console(), {}, {.format = Format::Json}));
    EXPECT_NE(world.terminal.out.str().find(R"("resourceGroup": "lavant")"), std::string::npos);
    world.server.on("GET " + kWorkspacePath + kLocks, 200, R"({"value":[]})");
    ASSERT_TRUE(list_locks(world.session, world.terminal.console(), {.workspace = true}, {}));
    EXPECT_EQ(world.terminal.err.str(), "no locks\n");
}

TEST(LockDelete, FindsTheLockByItsName) {
    World world;
    world.server.on("GET " + kSubscription + kLocks, 200,
                    R"({"value":[)" + lock_json(kGroup, "all") + "," +
                        lock_json(kWorkspacePath + "/computes/cpu", "keep") + "," +
                        lock_json(kWorkspacePath + "/computes/gpu", "keep") + "]}");
    world.server.on("DELETE " + kGroup + kLocks + "/all", 204, "");
    ASSERT_TRUE(delete_lock(world.session, world.terminal.console(), "ALL", {}));
    EXPECT_EQ(world.terminal.out.str(), "deleted all on resource group lavant\n");
    const auto two = delete_lock(world.session, world.terminal.console(), "keep", {});
    ASSERT_FALSE(two);
    EXPECT_NE(two.error().error.message.find("compute cpu, compute gpu"), std::string::npos);
    const auto slip = delete_lock(world.session, world.terminal.console(), "kepe", {});
    ASSERT_FALSE(slip);
    EXPECT_EQ(slip.error().error.message, "there is no lock 'kepe'; did you mean 'keep'?");
    EXPECT_EQ(slip.error().exit, Exit::Refused);
}

}  // namespace
}  // namespace lavant::cli
