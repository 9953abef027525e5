#include "api/key_routes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/test_world.h"
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
