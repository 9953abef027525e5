#include "api/key_routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "api/first_run.h"
#include "api/test_world.h"
#include "base/files.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

class KeyRoutes : public testing::Test {
 protected:
    Json make(const std::string& body) {
        const auto made = world_.call({"POST", "/lavant/v1/keys", body, {}});
        EXPECT_EQ(made.status, 201) << made.body;
        return json_of(made);
    }
    int status_with(const std::string& key) {
        return world_.call({"GET", "/lavant/v1/status", "", {{"Authorization", "Bearer " + key}}}).status;
    }
    ports::HttpResponse ask(const std::string& method, const std::string& path,
                            const std::string& body = "") {
        return world_.call({method, "/lavant/v1/keys" + path, body, {}});
    }
    TestWorld world_;
};

TEST_F(KeyRoutes, TwoOwnersCannotRevokeEachOtherAtOnce) {
    const Json other = make(R"({"user":"bob","role":"owner"})");
    const std::map<std::string, std::string> bob{{"Authorization", "Bearer " + other["key"].string()}};
    std::shared_ptr<Caught> second;
    world_.refuse = [&](const plane::Event&) -> std::optional<Error> {
        const auto kept = std::exchange(world_.refuse, nullptr);  // this very function
        second = world_.start({"DELETE", "/lavant/v1/keys/key-first", "", bob});
        return std::nullopt;
    };
    EXPECT_EQ(ask("DELETE", "/" + other["id"].string()).status, 204);
    ASSERT_TRUE(second);
    ASSERT_EQ(second->answers, 1);
    EXPECT_EQ(second->response.status, 409) << "it was looked at after the other had gone";
    EXPECT_EQ(status_with(world_.owner_key), 200);
}

TEST_F(KeyRoutes, ChangesGoOnAfterOneThatFailed) {
    const Json other = make(R"({"user":"bob","role":"reader"})");
    world_.inbox_full = true;
    EXPECT_EQ(ask("DELETE", "/" + other["id"].string()).status, 429);
    world_.inbox_full = false;
    world_.refuse = [](const plane::Event&) { return Error{ErrorCode::Unavailable, "not stored", {}}; };
    EXPECT_EQ(ask("DELETE", "/" + other["id"].string()).status, 503);
    world_.refuse = nullptr;
    EXPECT_EQ(ask("DELETE", "/none").status, 404);
    EXPECT_EQ(ask("DELETE", "/" + other["id"].string()).status, 204);
}

TEST_F(KeyRoutes, TheFirstKeysFileGoesWithItAndItsKeyStaysDead) {
    make(R"({"user":"bob","role":"owner"})");
    const std::string file = world_.folder + "/owner.key";
    ASSERT_TRUE(exists(file));
    const std::string plain = read_file(file, 4096).value();
    EXPECT_EQ(ask("DELETE", "/key-first").status, 204);
    EXPECT_FALSE(exists(file));
    // Whatever happens to the rows: a file from a copy brings a revoked key back to life no more.
    WriteBatch batch;
    const auto keys = world_.store.list_assets({.kind = "api_keys", .unversioned = true});
    for (const Asset& key : *keys) batch.assets.push_back({.asset = key, .expected = {}, .remove = true});
    ASSERT_TRUE(world_.store.commit(batch));
    ASSERT_TRUE(write_file_atomically(file, plain));
    const FirstRunPorts ports{world_.store, world_.store, world_.blobs(), world_.crypto(), world_.clock};
    ASSERT_TRUE(ensure_first_key(ports, file, "ann"));
    EXPECT_NE(read_file(file, 4096).value(), plain);
}

TEST_F(KeyRoutes, AKeyOfAnOwnerByRoleCanBeRelabelled) {
    ASSERT_EQ(world_.call({"PUT", "/lavant/v1/users/bob", "{}", {}}).status, 201);
    const Json bobs = make(R"({"user":"bob"})");
    ASSERT_EQ(
        world_
            .call({"POST", "/lavant/v1/server/role-assignments", R"({"principal":"bob","role":"owner"})", {}})
            .status,
        201);
    const std::map<std::string, std::string> bob{{"Authorization", "Bearer " + bobs["key"].string()}};
    const std::string key = "/lavant/v1/keys/" + bobs["id"].string();
    ASSERT_EQ(world_.call({"DELETE", "/lavant/v1/keys/key-first", "", bob}).status, 204);
    EXPECT_EQ(world_.call({"PATCH", key, R"({"label":"laptop"})", bob}).status, 200);
    EXPECT_EQ(world_.call({"PATCH", key, R"({"expiresAt":")" + to_rfc3339(world_.clock.at + 1h) + "\"}", bob})
                  .status,
              409)
        << "it is the last one without an end";
}

TEST_F(KeyRoutes, AKeySaysWhatItIsForAndWhenItEnds) {
    const Json made = make(R"({"user":"bob","role":"reader","label":"laptop","expiresAt":")" +
                           to_rfc3339(world_.clock.at + 1h) + R"(","bodyMib":5})");
    const Json shown = json_of(ask("GET", "/" + made["id"].string()));
    EXPECT_EQ(shown["label"].text(), "laptop");
    EXPECT_EQ(shown["role"].text(), "reader");
    EXPECT_EQ(shown["bodyMib"].integer(), 5);
    EXPECT_FALSE(shown.has("key")) << "the secret is shown once";
    EXPECT_EQ(status_with(made["key"].string()), 200);
    world_.clock.at += 1h;
    EXPECT_EQ(status_with(made["key"].string()), 401);
}

TEST_F(KeyRoutes, RotationKillsTheOldSecretAtOnce) {
    const Json made = make(R"({"user":"bob"})");
    ASSERT_EQ(status_with(made["key"].string()), 200);
    const Json rotated = json_of(ask("POST", "/" + made["id"].string() + "/rotate"));
    EXPECT_EQ(rotated["id"].text(), made["id"].text());
    EXPECT_EQ(rotated["role"].text(), "contributor");
    EXPECT_NE(rotated["key"].text(), made["key"].text());
    EXPECT_EQ(status_with(made["key"].string()), 401);
    EXPECT_EQ(status_with(rotated["key"].string()), 200);
    EXPECT_EQ(ask("POST", "/key-none/rotate").status, 404);
}

TEST_F(KeyRoutes, TheLastOwnerStays) {
    EXPECT_EQ(ask("DELETE", "/key-first").status, 409);
    EXPECT_EQ(ask("PATCH", "/key-first", R"({"role":"reader"})").status, 409);
    const std::string soon = to_rfc3339(world_.clock.at + 1h);
    EXPECT_EQ(ask("PATCH", "/key-first", R"({"expiresAt":")" + soon + R"("})").status, 409);
    make(R"({"user":"eve","role":"owner","expiresAt":")" + soon + R"("})");
    EXPECT_EQ(ask("DELETE", "/key-first").status, 409) << "one that ends is no owner to rely on";
    make(R"({"user":"eve","role":"owner"})");
    EXPECT_EQ(ask("DELETE", "/key-first").status, 204);
}

TEST_F(KeyRoutes, ChangesAKeyAtOnce) {
    const Json made = make(R"({"user":"bob","role":"owner"})");
    const std::map<std::string, std::string> bob{{"Authorization", "Bearer " + made["key"].string()}};
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/keys", "", bob}).status, 200);
    EXPECT_EQ(ask("PATCH", "/" + made["id"].string(), R"({"role":"reader","label":"x"})").status, 200);
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/keys", "", bob}).status, 403);
}

TEST_F(KeyRoutes, RefusesWhatMakesNoSense) {
    for (const char* body :
         {"{}", "[]", "x", R"({"user":""})", R"({"user":"a b"})", R"({"user":"everyone"})",
          R"({"user":"group:x"})", R"({"user":"bob","role":"god"})",
          R"({"user":"bob","expiresAt":"2001-01-01T00:00:00Z"})", R"({"user":"bob","expiresAt":"soon"})",
          R"({"user":"bob","bodyMib":-1})", R"({"user":"bob","requestsPerSecond":"many"})"})
        EXPECT_EQ(world_.call({"POST", "/lavant/v1/keys", body, {}}).status, 400) << body;
    EXPECT_EQ(world_
                  .call({"POST",
                         "/lavant/v1/keys",
                         R"({"user":"bob","label":")" + std::string(300, 'x') + R"("})",
                         {}})
                  .status,
              400);
}

}  // namespace
}  // namespace lavant::api
