#include "api/role_routes.h"

#include <gtest/gtest.h>

#include "api/permission.h"
#include "api/test_world.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kOther =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.MachineLearningServices/workspaces/other";

class RoleRoutes : public testing::Test {
 protected:
    using Headers = std::map<std::string, std::string>;

    ports::HttpResponse ask(const std::string& method, const std::string& path, const std::string& body = "",
                            const Headers& who = {}) {
        return world_.call(
            {method, path.starts_with("/sub") || path.starts_with("/storage/") ? path : "/lavant/v1" + path,
             body, who});
    }
    // A user with a key that has no role of its own.
    Headers make_user(const std::string& name) {
        EXPECT_EQ(ask("PUT", "/users/" + name).status, 201);
        const Json made = json_of(ask("POST", "/keys", R"({"user":")" + name + R"("})"));
        EXPECT_EQ(made["role"].text(), "none");
        return {{"Authorization", "Bearer " + made["key"].string()}};
    }
    std::string assign(const std::string& body, const Headers& where = {}) {
        Headers headers = where;
        const auto made = ask("POST", "/role-assignments", body, headers);
        EXPECT_EQ(made.status, 201) << made.body;
        return json_of(made)["id"].string();
    }
    static Headers in_other(Headers who) {
        who["Lavant-Workspace"] = "s1/g1/other";
        return who;
    }
    TestWorld world_;
};

TEST_F(RoleRoutes, AUserHasNoRightsUntilTheyGetSome) {
    const Headers bob = make_user("bob");
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 403);
    EXPECT_EQ(ask("GET", "/whoami", "", bob).status, 200);
    EXPECT_EQ(ask("GET", "/status", "", bob).status, 200);
    const std::string id = assign(R"({"principal":"bob","role":"reader"})");
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 200);
    EXPECT_EQ(ask("PUT", kWs + "/computes/c1", "{}", bob).status, 403);
    const Json me = json_of(ask("GET", "/whoami", "", bob));
    EXPECT_EQ(me["role"].text(), "reader");
    EXPECT_EQ(me["serverRole"].text(), "none");
    EXPECT_EQ(me["assignments"].size(), 1U);
    EXPECT_EQ(ask("DELETE", "/role-assignments/" + id).status, 204);
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 403) << "at once";
    EXPECT_EQ(ask("DELETE", "/role-assignments/" + id).status, 404);
}

TEST_F(RoleRoutes, ARoleInOneWorkspaceIsNothingInAnother) {
    ASSERT_EQ(ask("GET", kOther).status, 200);  // made by its first use
    const Headers bob = make_user("bob");
    assign(R"({"principal":"bob","role":"owner"})", {{"Lavant-Workspace", "s1/g1/other"}});
    EXPECT_EQ(ask("GET", kOther + "/jobs", "", bob).status, 200);
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 403);
    EXPECT_EQ(ask("GET", "/keys", "", in_other(bob)).status, 403) << "it owns a workspace, not the server";
    EXPECT_EQ(ask("PUT", "/users/eve", "", in_other(bob)).status, 403);
    EXPECT_EQ(ask("GET", "/audit", "", in_other(bob)).status, 403);
    EXPECT_EQ(ask("POST", "/server/role-assignments", R"({"principal":"bob","role":"owner"})", in_other(bob))
                  .status,
              403);
    // An owner gives roles where it owns, and nowhere else.
    const std::string reader = R"({"principal":"ann","role":"reader"})";
    EXPECT_EQ(ask("POST", "/role-assignments", reader, in_other(bob)).status, 201);
    EXPECT_EQ(ask("POST", "/role-assignments", reader, bob).status, 403);
    const std::string here = assign(reader);
    EXPECT_EQ(ask("DELETE", "/role-assignments/" + here, "", in_other(bob)).status, 404);
    EXPECT_EQ(ask("DELETE", kOther, "", bob).status, 202);
    const Json listed = json_of(
        ask("GET", "/subscriptions/s1/providers/Microsoft.MachineLearningServices/workspaces", "", bob));
    EXPECT_EQ(listed["value"].size(), 0U);
}

TEST_F(RoleRoutes, NobodyButAServersOwnerMakesAWorkspace) {
    const Headers bob = make_user("bob");
    assign(R"({"principal":"bob","role":"owner"})");
    const std::string fresh = kOther + "2";
    EXPECT_EQ(ask("PUT", fresh, "{}", bob).status, 403);
    EXPECT_EQ(ask("GET", fresh + "/jobs", "", bob).status, 404);
    EXPECT_EQ(ask("DELETE", fresh, "", bob).status, 403);
}

TEST_F(RoleRoutes, AGroupsRoleIsItsMembers) {
    const Headers bob = make_user("bob");
    ASSERT_EQ(ask("PUT", "/groups/team").status, 201);
    assign(R"({"principal":"group:team","role":"contributor"})");
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 403);
    EXPECT_EQ(ask("PUT", "/groups/team/members/bob").status, 200);
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 200);
    EXPECT_EQ(json_of(ask("GET", "/users/bob"))["groups"].dump(), R"(["team"])");
    EXPECT_EQ(ask("PUT", "/groups/team/members/nobody").status, 404);
    EXPECT_EQ(ask("DELETE", "/groups/team/members/bob").status, 200);
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 403);
    EXPECT_EQ(ask("PUT", "/groups/team/members/bob").status, 200);
    EXPECT_EQ(ask("DELETE", "/groups/team").status, 204);
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 403);
    EXPECT_EQ(json_of(ask("GET", "/role-assignments"))["value"].size(), 0U);
}

TEST_F(RoleRoutes, AResourcesRoleIsOfThatResource) {
    const Headers bob = make_user("bob");
    assign(R"({"principal":"bob","role":"contributor","resource":"computes/gpu"})");
    EXPECT_EQ(ask("GET", kWs + "/computes/gpu", "", bob).status, 404) << "allowed; there is none";
    EXPECT_EQ(ask("GET", kWs + "/computes/cpu", "", bob).status, 403);
    EXPECT_EQ(ask("GET", kWs + "/computes", "", bob).status, 403);
    EXPECT_EQ(ask("DELETE", kWs + "/computes/gpu", "", bob).status / 100 == 4 &&
                  ask("DELETE", kWs + "/computes/gpu", "", bob).status != 403,
              true);
    EXPECT_EQ(resource_in(kWs + "/Computes/gp%75/start"), "computes/gpu");
    EXPECT_EQ(resource_in("/history/v1.0" + kWs + "/runs/j1/details"), "runs/j1");
    EXPECT_EQ(resource_in("/lavant/v1/computes/gpu/evict"), "computes/gpu");
    EXPECT_EQ(resource_in("/subscriptions/workspaces/resourceGroups/computes/providers/"
                          "Microsoft.MachineLearningServices/workspaces/w/computes/real"),
              "computes/real");
    for (const std::string& path :
         {std::string("/"), kWs, kWs + "/computes", kWs + "/computes/", std::string("/workspaces"),
          std::string("/lavant/v1/computes"), std::string()})
        EXPECT_EQ(resource_in(path), "") << path;
}

TEST_F(RoleRoutes, DataRightsDecideWhatADatastoreGives) {
    const Headers bob = make_user("bob");
    const std::string secrets = kWs + "/datastores/workspaceblobstore/listSecrets";
    const auto rights = [&](const Headers& who) {
        const auto answer = ask("POST", secrets, "{}", who);
        if (answer.status != 200) return std::to_string(answer.status);
        return std::string(answer.body.find("sp=racwdl") != std::string::npos ? "write" : "read");
    };
    EXPECT_EQ(rights(bob), "403");
    assign(R"({"principal":"bob","role":"contributor"})");
    EXPECT_EQ(rights(bob), "write");
    const std::string none =
        assign(R"({"principal":"everyone","data":"none","resource":"datastores/workspaceblobstore"})");
    EXPECT_EQ(rights(bob), "403");
    EXPECT_EQ(rights({}), "write") << "the owner";
    assign(R"({"principal":"bob","data":"read","resource":"datastores/workspaceblobstore"})");
    EXPECT_EQ(rights(bob), "read");
    EXPECT_EQ(ask("GET", "/storage/acct/azureml-blobstore?comp=list", "", bob).status, 200);
    EXPECT_EQ(ask("PUT", "/storage/acct/azureml-blobstore/a", "x", bob).status, 403);
    const auto job = [](const std::string& more) {
        return R"({"properties":{"jobType":"Command","command":"true","environmentId":"azureml:base:1",)" +
               more + "}}";
    };
    const std::string place = "azureml://datastores/workspaceblobstore/paths/x/";
    const std::string reads = job(R"("inputs":{"a":{"jobInputType":"uri_folder","uri":")" + place + R"("}})");
    const std::string keeps =
        job(R"("outputs":{"a":{"jobOutputType":"uri_folder","uri":")" + place + R"("}})");
    EXPECT_EQ(ask("PUT", kWs + "/jobs/reads", reads, bob).status / 100, 2);
    EXPECT_EQ(ask("PUT", kWs + "/jobs/keeps", keeps, bob).status, 403);
    EXPECT_EQ(ask("PUT", kWs + "/jobs/keeps", keeps).status / 100, 2) << "the owner";
    EXPECT_EQ(ask("DELETE", "/role-assignments/" + none).status, 204);
    EXPECT_EQ(rights(bob), "read");
}

TEST_F(RoleRoutes, AServersRoleIsEverywhere) {
    const Headers bob = make_user("bob");
    ASSERT_EQ(ask("POST", "/server/role-assignments", R"({"principal":"bob","role":"owner"})").status, 201);
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", bob).status, 200);
    EXPECT_EQ(ask("GET", "/keys", "", bob).status, 200);
    // bob owns the server now, so that the first key may go; then he is the last and must stay.
    EXPECT_EQ(ask("DELETE", "/keys/key-first", "", bob).status, 204);
    EXPECT_EQ(ask("DELETE", "/users/bob", "", bob).status, 409);
    const Json roles = json_of(ask("GET", "/server/role-assignments", "", bob));
    EXPECT_EQ(
        ask("DELETE", "/server/role-assignments/" + roles["value"].items().at(0)["id"].string(), "", bob)
            .status,
        409);
}

TEST_F(RoleRoutes, WithAUserGoTheirKeysAndRoles) {
    const Headers bob = make_user("bob");
    assign(R"({"principal":"bob","role":"reader"})");
    ASSERT_EQ(ask("PUT", "/groups/team").status, 201);
    ASSERT_EQ(ask("PUT", "/groups/team/members/bob").status, 200);
    EXPECT_EQ(ask("DELETE", "/users/bob").status, 204);
    EXPECT_EQ(ask("GET", "/whoami", "", bob).status, 401);
    EXPECT_EQ(json_of(ask("GET", "/groups/team"))["members"].size(), 0U);
    const Headers again = make_user("bob");
    EXPECT_EQ(ask("GET", kWs + "/jobs", "", again).status, 403) << "a new bob inherits nothing";
}

TEST_F(RoleRoutes, RefusesWhatMakesNoSense) {
    make_user("bob");
    for (const char* body :
         {"{}", "[]", R"({"principal":"bob"})", R"({"principal":"bob","role":"god"})",
          R"({"principal":"bob","role":"reader","data":"read"})", R"({"principal":"bob","data":"read"})",
          R"({"principal":"bob","data":"read","resource":"computes/gpu"})",
          R"({"principal":"bob","role":"reader","resource":"computes"})",
          R"({"principal":"bob","role":"reader","resource":"computes/a/b"})",
          R"({"principal":"bob","role":"reader","resource":"../x"})",
          R"({"principal":"bob","role":"reader","resource":"gadgets/x"})"})
        EXPECT_EQ(ask("POST", "/role-assignments", body).status, 400) << body;
    for (const char* body :
         {R"({"principal":"nobody","role":"reader"})", R"({"principal":"group:none","role":"reader"})"})
        EXPECT_EQ(ask("POST", "/role-assignments", body).status, 404) << body;
    for (const char* name : {"everyone", "a%20b", "group%3Ax", "%2e%2e", "-x"})
        EXPECT_EQ(ask("PUT", std::string("/users/") + name).status, 400) << name;
    EXPECT_EQ(ask("PUT", "/service-principals/bob").status, 409) << "one name, one principal";
    EXPECT_EQ(ask("POST", "/server/role-assignments",
                  R"({"principal":"bob","role":"reader","resource":"computes/x"})")
                  .status,
              400);
}

TEST_F(RoleRoutes, OnlyAServersOwnerRunsUnconfined) {
    const Headers bob = make_user("bob");
    assign(R"({"principal":"bob","role":"owner"})");
    const std::string body =
        R"({"properties":{"jobType":"Command","command":"true","environmentId":"azureml:base:1",)"
        R"("properties":{"lavant.sandbox":"off"}}})";
    EXPECT_EQ(ask("PUT", kWs + "/jobs/b1", body, bob).status, 400);
}

TEST_F(RoleRoutes, EveryWriteIsRecordedAlsoARefusedOne) {
    const Headers bob = make_user("bob");
    EXPECT_EQ(ask("PUT", kWs + "/computes/c1", "{}", bob).status, 403);
    EXPECT_EQ(ask("POST", kWs + "/computes/c1/listNodes", "", {}).status, 404);
    EXPECT_EQ(world_.call({"PUT", "/storage/acct/azureml-blobstore/a.txt?sig=secret-signature&sp=w", "x", {}})
                  .status,
              403);
    EXPECT_EQ(
        world_.call({.method = "PUT", .target = kWs + "/jobs/j", .body = "{}", .as_owner = false}).status,
        401);
    EXPECT_EQ(world_.call({"POST", "/nowhere", "", {}}).status, 404);
    const Json page = json_of(ask("GET", "/audit?limit=20"));
    std::string seen;
    for (const Json& one : page["value"].items())
        seen += one["user"].string("-") + " " + one["method"].string() + " " + one["path"].string() + " " +
                one["status"].scalar_text() + "\n";
    EXPECT_EQ(seen, "- POST /nowhere 404\n- PUT " + kWs +
                        "/jobs/j 401\nann PUT /storage/acct/azureml-blobstore/a.txt 403\n" + "ann POST " +
                        kWs + "/computes/c1/listNodes 404\nbob PUT " + kWs + "/computes/c1 403\n" +
                        "ann POST /lavant/v1/keys 201\nann PUT /lavant/v1/users/bob 201\n");
    EXPECT_EQ(page.dump().find("secret-signature"), std::string::npos);
    EXPECT_EQ(page.dump().find(world_.owner_key.substr(4)), std::string::npos);
    EXPECT_EQ(json_of(ask("GET", "/audit?user=bob&status=4"))["value"].size(), 1U);
    EXPECT_EQ(json_of(ask("GET", "/audit?limit=2"))["nextLink"].text().find("https://"), 0U);
    for (const char* query : {"limit=0", "limit=x", "since=soon", "position=z"})
        EXPECT_EQ(ask("GET", std::string("/audit?") + query).status, 400) << query;
}

TEST_F(RoleRoutes, AKeyHasItsLimits) {
    const Json made =
        json_of(ask("POST", "/keys", R"({"user":"loop","role":"reader","requestsPerSecond":1})"));
    const Headers loop{{"Authorization", "Bearer " + made["key"].string()}};
    EXPECT_EQ(ask("GET", "/status", "", loop).status, 200);
    EXPECT_EQ(ask("GET", "/status", "", loop).status, 200);
    EXPECT_EQ(ask("GET", "/status", "", loop).status, 429);
    EXPECT_EQ(ask("GET", "/status").status, 200);
}

}  // namespace
}  // namespace lavant::api
