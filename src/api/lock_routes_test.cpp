#include "api/lock_routes.h"

#include <gtest/gtest.h>

#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kGroup = "/subscriptions/s1/resourceGroups/G1";
const std::string kNetwork = kGroup + "/providers/Microsoft.Network/virtualNetworks/net";
const std::string kLocks = "/providers/Microsoft.Authorization/locks";
const std::string kKeep = R"({"properties":{"level":"CanNotDelete","notes":"payroll runs here"}})";

class LockRoutes : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& scope, const std::string& name,
                            const std::string& body = kKeep,
                            std::map<std::string, std::string> headers = {}) {
        return world_.call({"PUT", scope + kLocks + "/" + name, body, std::move(headers)});
    }
    Json list(const std::string& scope, const std::string& query = "") {
        return json_of(world_.call({"GET", scope + kLocks + query, "", {}}))["value"];
    }
    void add_compute(const std::string& name) {
        AssetWrite write;
        write.asset.key = {kDefaultWorkspace, "computes", name, ""};
        write.asset.body = "{}";
        world_.write({write});
    }
    TestWorld world_;
};

TEST_F(LockRoutes, PutsShowsAndDeletesOneOfEachScope) {
    add_compute("cpu");
    for (const std::string& scope : {kGroup, kNetwork, kWs, kWs + "/computes/CPU"}) {
        const auto made = put(scope, "keep");
        ASSERT_EQ(made.status, 201) << made.body;
        EXPECT_EQ(json_of(made)["id"].text(), scope + kLocks + "/keep");
        EXPECT_EQ(json_of(made)["name"].text(), "keep");
        EXPECT_EQ(json_of(made)["type"].text(), "Microsoft.Authorization/locks");
        EXPECT_EQ(json_of(made).get("properties.level").text(), "CanNotDelete");
        EXPECT_EQ(json_of(made).get("properties.notes").text(), "payroll runs here");
        EXPECT_EQ(world_.call({"GET", scope + kLocks + "/KEEP", "", {}}).status, 200);
        EXPECT_EQ(world_.store.list_locks().value().front().scope, to_lower(scope));
        EXPECT_EQ(world_.store.list_locks().value().front().created_by, "ann");
        EXPECT_EQ(world_.call({"DELETE", scope + kLocks + "/Keep", "", {}}).status, 204);
        EXPECT_EQ(world_.call({"GET", scope + kLocks + "/keep", "", {}}).status, 404);
        EXPECT_EQ(world_.call({"DELETE", scope + kLocks + "/keep", "", {}}).status, 204) << "as ARM answers";
    }
}

TEST_F(LockRoutes, ChangesOneThatIsThere) {
    ASSERT_EQ(put(kGroup, "keep").status, 201);
    EXPECT_EQ(std::get<plane::PutLock>(world_.posted.back()).who, "ann");
    world_.clock.at += std::chrono::hours(1);
    const auto changed = put(to_lower(kGroup), "KEEP", R"({"properties":{"level":"readonly"}})");
    ASSERT_EQ(changed.status, 200) << changed.body;
    ASSERT_EQ(world_.store.list_locks().value().size(), 1U);
    const Lock lock = world_.store.list_locks().value().front();
    EXPECT_EQ(lock.level, LockLevel::ReadOnly);
    EXPECT_EQ(lock.name, "keep");
    EXPECT_EQ(lock.created_at, world_.clock.at - std::chrono::hours(1));
}

TEST_F(LockRoutes, ListsWhatIsAtOrBelowAScope) {
    add_compute("cpu");
    ASSERT_EQ(put(kGroup, "group").status, 201);
    ASSERT_EQ(put(kWs, "workspace").status, 201);
    ASSERT_EQ(put(kWs + "/computes/cpu", "compute").status, 201);
    ASSERT_EQ(put(kNetwork, "network").status, 201);
    EXPECT_EQ(list("/subscriptions/S1").size(), 4U);
    EXPECT_EQ(list("/subscriptions/other").size(), 0U);
    EXPECT_EQ(list("/subscriptions/s").size(), 0U) << "a part of a name is no scope";
    EXPECT_EQ(list(kWs).size(), 2U);
    EXPECT_EQ(list(kWs + "/computes/cpu").size(), 1U);
    EXPECT_EQ(list(kWs, "?$filter=atScope()").size(), 2U);
    EXPECT_EQ(list(kWs, "?%24filter=atScope%28%29").size(), 2U);
}

TEST_F(LockRoutes, RefusesWhatMakesNoSense) {
    const auto bad = put(kGroup, "x", R"({"properties":{"level":"Sometimes"}})");
    EXPECT_EQ(bad.status, 400);
    EXPECT_NE(bad.body.find("CanNotDelete or ReadOnly"), std::string::npos) << bad.body;
    EXPECT_EQ(put(kGroup, "x", "{}").status, 400);
    EXPECT_EQ(put(kGroup, "x", "nonsense").status, 400);
    const auto with_notes = [this](std::size_t chars) {
        return put(kGroup, "x",
                   R"({"properties":{"level":"ReadOnly","notes":")" + std::string(chars, 'n') + "\"}}");
    };
    EXPECT_EQ(with_notes(513).status, 400);
    EXPECT_EQ(put(kGroup, "a%2Fb").status, 400);
    EXPECT_EQ(put(kGroup, "a%3Fb").status, 400);
    EXPECT_EQ(put(kGroup, "a%0Ab").status, 400);
    EXPECT_EQ(put(kGroup, "a%FFb").status, 400);
    EXPECT_EQ(put(kGroup, std::string(261, 'n')).status, 400);
    EXPECT_TRUE(world_.posted.empty());
    EXPECT_EQ(with_notes(512).status, 201);
    EXPECT_EQ(put(kGroup, "two%20words").status, 201);
}

TEST_F(LockRoutes, KnowsNoOtherScopes) {
    const auto all = put("/subscriptions/s1", "x");
    EXPECT_EQ(all.status, 400);
    EXPECT_NE(all.body.find("a resource group, a virtual network, a workspace or a compute"),
              std::string::npos);
    EXPECT_EQ(put(kWs + "/jobs/j", "x").status, 404);
    EXPECT_EQ(put(kNetwork + "/subnets/default", "x").status, 404);
    EXPECT_EQ(put("", "x").status, 404);
    add_compute("cpu-cluster");
    const auto compute = put(kWs + "/computes/cpu-clustr", "x");
    EXPECT_EQ(compute.status, 404);
    EXPECT_NE(compute.body.find("did you mean 'cpu-cluster'?"), std::string::npos) << compute.body;
}

TEST_F(LockRoutes, LetsOnlyOwnersWrite) {
    ASSERT_EQ(put(kGroup, "keep").status, 201);
    const auto headers = world_.as("bob", Role::Contributor);
    EXPECT_EQ(put(kGroup, "mine", kKeep, headers).status, 403);
    EXPECT_EQ(world_.call({"DELETE", kGroup + kLocks + "/keep", "", headers}).status, 403);
    EXPECT_EQ(world_.call({"GET", kGroup + kLocks + "/keep", "", headers}).status, 200);
    EXPECT_EQ(world_.call({"GET", kGroup + kLocks, "", headers}).status, 200);
}

TEST_F(LockRoutes, PassesThePlanesRefusalOn) {
    world_.refuse = [](const plane::Event&) { return Error{ErrorCode::Unavailable, "not now", {}}; };
    EXPECT_EQ(put(kGroup, "keep").status, 503);
    world_.inbox_full = true;
    EXPECT_EQ(put(kGroup, "keep").status, 429);
}

}  // namespace
}  // namespace lavant::api
