#include "api/oauth_routes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/test_world.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

const std::string kToken = "/adfs/oauth2/v2.0/token";
const std::string kDeviceGrantText = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code";

class OauthRoutes : public testing::Test {
 protected:
    OauthRoutes() { world_.api(); }

    ports::HttpResponse post_form(const std::string& path, const std::string& form) {
        return world_.call({.method = "POST",
                            .target = path,
                            .body = form,
                            .headers = {{"Host", "srv:8443"}},
                            .as_owner = false});
    }
    static Json claims_of(const std::string& token) {
        return wire::parse_json(*base64url_decode(split(token, '.')[1])).value();
    }
    int status_with(const std::string& token) {
        return world_.call({"GET", "/lavant/v1/status", "", {{"Authorization", "Bearer " + token}}}).status;
    }
    std::string client_form(const std::string& id, const std::string& secret) {
        return "grant_type=client_credentials&client_id=" + percent_encode(id) +
               "&client_secret=" + percent_encode(secret) +
               "&scope=" + percent_encode("https://srv:8443/.default");
    }
    Json begin_login() {
        return json_of(post_form("/organizations/oauth2/v2.0/devicecode",
                                 "client_id=sdk&scope=https%3A%2F%2Fsrv%3A8443%2F.default+openid"));
    }
    ports::HttpResponse poll(const Json& login, const std::string& client = "sdk") {
        return post_form(kToken, "grant_type=" + kDeviceGrantText + "&client_id=" + client +
                                     "&device_code=" + login["device_code"].string() +
                                     "&scope=https%3A%2F%2Fsrv%3A8443%2F.default+openid+offline_access");
    }
    ports::HttpResponse say(const std::string& word, const std::string& code,
                            const std::map<std::string, std::string>& headers = {}) {
        return world_.call(
            {"POST", "/lavant/v1/device-logins/" + word, R"({"code":")" + code + R"("})", headers});
    }
    TestWorld world_;
};

TEST_F(OauthRoutes, DescribesItselfUnderTheAddressThatWasAsked) {
    for (const char* path : {"/adfs/.well-known/openid-configuration",
                             "/00000000-0000-0000-0000-000000000000/v2.0/.well-known/openid-configuration"}) {
        const Json found =
            json_of(world_.call({.target = path, .headers = {{"Host", "srv:8443"}}, .as_owner = false}));
        for (const char* key : {"authorization_endpoint", "token_endpoint", "device_authorization_endpoint",
                                "jwks_uri", "issuer"})
            EXPECT_TRUE(found[key].text().starts_with("https://srv:8443/")) << key;
        const std::string keys = found["jwks_uri"].string().substr(16);
        const Json set = json_of(world_.call({.target = keys, .as_owner = false}));
        EXPECT_EQ(set["keys"].size(), 1U) << keys;
    }
    const Json instance =
        json_of(world_.call({.target = "/common/discovery/instance?api-version=1.1", .as_owner = false}));
    EXPECT_TRUE(instance["tenant_discovery_endpoint"].text().ends_with("/openid-configuration"));
}

TEST_F(OauthRoutes, AClientSecretIsAnApiKey) {
    const auto answer = post_form(kToken, client_form("key-first", world_.owner_key));
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json body = json_of(answer);
    const Json claims = claims_of(body["access_token"].string());
    EXPECT_EQ(claims["aud"].text(), "https://srv:8443");
    EXPECT_EQ(claims["exp"].integer() - claims["iat"].integer(), body["expires_in"].integer());
    EXPECT_TRUE(claims["iss"].text().starts_with("https://srv:8443/"));
    EXPECT_FALSE(body.has("refresh_token"));
    EXPECT_EQ(status_with(body["access_token"].string()), 200);
    EXPECT_EQ(post_form(kToken, client_form("ann", world_.owner_key)).status, 200);
    const std::string id = claims["oid"].string();
    EXPECT_EQ(post_form("/t/oauth2/token", client_form(id, world_.owner_key)).status, 200);
}

TEST_F(OauthRoutes, TheFirstVersionAsksForAResource) {
    const auto answer = post_form("/t/oauth2/token", "grant_type=client_credentials&client_id=ann&resource=" +
                                                         percent_encode("https://ml.azure.lavant") +
                                                         "&client_secret=" + world_.owner_key);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(claims_of(json_of(answer)["access_token"].string())["aud"].text(), "https://ml.azure.lavant");
}

TEST_F(OauthRoutes, TakesAClientByBasicAuthorizationToo) {
    const auto answer =
        world_.call({.method = "POST",
                     .target = kToken,
                     .body = "grant_type=client_credentials&scope=https%3A%2F%2Fx%2F.default",
                     .headers = {{"Authorization", "Basic " + base64_encode("ann:" + world_.owner_key)}}});
    EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST_F(OauthRoutes, RefusesWrongClientsInTheWordsOfOauth) {
    const auto error_of = [](const ports::HttpResponse& response) {
        return std::to_string(response.status) + " " + json_of(response)["error"].string();
    };
    const std::string wrong = "lvk_" + std::string(43, 'A');
    EXPECT_EQ(error_of(post_form(kToken, client_form("ann", wrong))), "401 invalid_client");
    EXPECT_EQ(error_of(post_form(kToken, client_form("bob", world_.owner_key))), "401 invalid_client");
    EXPECT_EQ(error_of(post_form(kToken, "")), "400 invalid_request");
    EXPECT_EQ(error_of(post_form(kToken, "client_id=a&scope=x&grant_type=password")),
              "400 unsupported_grant_type");
    EXPECT_EQ(error_of(post_form(kToken, "client_id=ann&grant_type=client_credentials")),
              "400 invalid_scope");
    // A token is no secret from which further tokens come.
    const std::string token =
        json_of(post_form(kToken, client_form("ann", world_.owner_key)))["access_token"].string();
    EXPECT_EQ(error_of(post_form(kToken, client_form("ann", token))), "401 invalid_client");
    EXPECT_EQ(
        error_of(post_form(kToken, "grant_type=refresh_token&client_id=a&scope=x&refresh_token=" + token)),
        "400 invalid_grant");
}

TEST_F(OauthRoutes, ADeviceLogsInWhenSomebodyApproves) {
    const Json login = begin_login();
    EXPECT_EQ(json_of(poll(login))["error"].text(), "authorization_pending");
    EXPECT_EQ(json_of(say("show", login["user_code"].string()))["client"].text(), "sdk");
    EXPECT_EQ(poll(login, "thief").status, 400);
    std::string typed = to_lower(login["user_code"].string());
    std::erase(typed, '-');
    const auto approved = say("approve", typed);
    ASSERT_EQ(approved.status, 200) << approved.body;
    const Json body = json_of(poll(login));
    EXPECT_EQ(status_with(body["access_token"].string()), 200);
    const Json id = claims_of(body["id_token"].string());
    EXPECT_EQ(id["aud"].text(), "sdk");
    EXPECT_EQ(id["preferred_username"].text(), "ann");
    EXPECT_TRUE(body.has("client_info"));
    EXPECT_EQ(json_of(poll(login))["error"].text(), "expired_token") << "a code is good once";

    const auto again = post_form(kToken,
                                 "grant_type=refresh_token&client_id=sdk&scope=https%3A%2F%2Fx%2F.default"
                                 "&refresh_token=" +
                                     body["refresh_token"].string());
    ASSERT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(status_with(json_of(again)["access_token"].string()), 200);

    // It is a key of its own: revoked, all that came from it is dead.
    const std::string key = json_of(approved)["key"].string();
    EXPECT_EQ(world_.call({"DELETE", "/lavant/v1/keys/" + key, "", {}}).status, 204);
    EXPECT_EQ(status_with(body["access_token"].string()), 401);
    EXPECT_EQ(status_with(json_of(again)["access_token"].string()), 401);
}

TEST_F(OauthRoutes, ADeviceGetsNoMoreThanWhoApproved) {
    const Json login = begin_login();
    const auto rita = world_.as("rita", Role::Reader);
    ASSERT_EQ(say("approve", login["user_code"].string(), rita).status, 200);
    const std::string token = json_of(poll(login))["access_token"].string();
    EXPECT_EQ(status_with(token), 200);
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/keys", "", {{"Authorization", "Bearer " + token}}}).status,
              403);
}

TEST_F(OauthRoutes, ADevicesKeyEndsWithTheOneThatApprovedIt) {
    const Json made =
        json_of(world_.call({"POST",
                             "/lavant/v1/keys",
                             R"({"user":"bob","role":"contributor","requestsPerSecond":7,"bodyMib":3})",
                             {}}));
    const std::map<std::string, std::string> bob{{"Authorization", "Bearer " + made["key"].string()}};
    const std::string path = "/lavant/v1/keys/" + made["id"].string();
    const auto approve = [&](const std::map<std::string, std::string>& who) {
        const Json login = begin_login();
        EXPECT_EQ(say("approve", login["user_code"].string(), who).status, 200);
        return json_of(poll(login))["refresh_token"].string();
    };
    const std::string child = approve(bob);
    const std::string grandchild = approve({{"Authorization", "Bearer " + child}});
    for (const std::string& key : {child, grandchild}) {
        const auto caller = world_.api().access().check_credential(key);
        ASSERT_TRUE(caller);
        EXPECT_EQ(caller->limits.requests_per_s, 7);
        EXPECT_EQ(caller->limits.body_mib, 3);
        EXPECT_EQ(caller->metered_as, made["id"].text()) << "one bucket for all of them";
    }
    ASSERT_EQ(world_.call({"PATCH", path, R"({"role":"reader","requestsPerSecond":2})", {}}).status, 200);
    const auto lowered = world_.api().access().check_credential(child);
    ASSERT_TRUE(lowered);
    EXPECT_EQ(lowered->role, Role::Reader);
    EXPECT_EQ(lowered->limits.requests_per_s, 2);
    ASSERT_EQ(world_.call({"POST", path + "/rotate", "", {}}).status, 200);
    EXPECT_EQ(status_with(child), 401);
    EXPECT_EQ(status_with(grandchild), 401);
}

TEST_F(OauthRoutes, ALoginIsDeclinedOrForgotten) {
    const Json declined = begin_login();
    EXPECT_EQ(say("deny", declined["user_code"].string()).status, 204);
    EXPECT_EQ(json_of(poll(declined))["error"].text(), "authorization_declined");
    const Json late = begin_login();
    world_.clock.at += kDeviceLoginLife;
    EXPECT_EQ(say("approve", late["user_code"].string()).status, 404);
    EXPECT_EQ(json_of(poll(late))["error"].text(), "expired_token");
    EXPECT_EQ(say("approve", "").status, 400);
    EXPECT_EQ(say("approve", "BCDF-GHJK").status, 404);
    EXPECT_EQ(world_
                  .call({.method = "POST",
                         .target = "/lavant/v1/device-logins/approve",
                         .body = "{}",
                         .as_owner = false})
                  .status,
              401);
}

TEST_F(OauthRoutes, OneHostCannotFillTheRoomForOthers) {
    DeviceLogins logins(world_.crypto());
    for (std::size_t i = 0; i < DeviceLogins::kWaitingPerHostMax; ++i)
        EXPECT_TRUE(logins.begin("sdk", "10.0.0.1", world_.clock.at));
    EXPECT_FALSE(logins.begin("sdk", "10.0.0.1", world_.clock.at));
    EXPECT_TRUE(logins.begin("sdk", "10.0.0.2", world_.clock.at));
    EXPECT_TRUE(logins.begin("sdk", "10.0.0.1", world_.clock.at + kDeviceLoginLife));
}

TEST_F(OauthRoutes, TheManagedIdentityIsTheKey) {
    const auto ask = [&](const std::string& key, const std::string& query) {
        return world_.call({.target = "/msi/token?" + query,
                            .headers = {{"X-IDENTITY-HEADER", key}, {"Metadata", "true"}},
                            .as_owner = false});
    };
    const auto answer =
        ask(world_.owner_key, "api-version=2019-08-01&resource=https%3A%2F%2Fml.azure.lavant");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(claims_of(json_of(answer)["access_token"].string())["aud"].text(), "https://ml.azure.lavant");
    EXPECT_EQ(ask("wrong", "resource=x").status, 401);
    EXPECT_EQ(ask(world_.owner_key, "").status, 400);
    const Job job = world_.add_job("a1", JobStatus::Running);
    EXPECT_EQ(ask(world_.api().make_job_token(job.head, 1), "resource=x").status, 403);
    // Made from a token, a token does not outlive it.
    const Json first = json_of(answer);
    world_.clock.at += 1h;
    const Json second = json_of(ask(first["access_token"].string(), "resource=x"));
    EXPECT_EQ(second["expires_on"].text(), first["expires_on"].text());
}

TEST_F(OauthRoutes, TakesNoLargeBodyFromStrangers) {
    EXPECT_EQ(post_form(kToken, std::string(100'000, 'x')).status, 413);
}

}  // namespace
}  // namespace lavant::api
