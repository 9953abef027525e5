#include "api/access.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/test_world.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;

class AccessTest : public testing::Test {
 protected:
    AccessTest() : access_({world_.store, world_.crypto(), world_.clock}, "secret") {}

    std::string add_key(const std::string& name, Role role) {
        const NewKey key = access_.make_key(name, {.user = "ann", .role = role});
        world_.write({key.write});
        return key.plain;
    }
    std::string token(const std::string& key, Instant expiry) {
        return access_.make_token(*access_.check_credential(key), {.audience = "https://ml.azure.lavant",
                                                                   .issuer = "https://h/t/v2.0",
                                                                   .expires_at = expiry,
                                                                   .client = "sdk"});
    }

    TestWorld world_;
    Access access_;
};

TEST_F(AccessTest, KnowsTheUserAndRoleBehindAKey) {
    const std::string key = add_key("laptop", Role::Contributor);
    EXPECT_TRUE(looks_like_key(key));
    const auto caller = access_.check_authorization("Bearer " + key);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->user, "ann");
    EXPECT_EQ(caller->role, Role::Contributor);
    EXPECT_EQ(caller->key, "laptop");
}

TEST_F(AccessTest, StoresOnlyTheHashOfAKey) {
    const std::string key = add_key("laptop", Role::Owner);
    const auto row = world_.store.find_asset({"", kKeyKind, "laptop", ""});
    EXPECT_EQ((*row)->hash, to_hex(world_.crypto().sha256(key)));
    EXPECT_EQ((*row)->body.find(key.substr(4)), std::string::npos);
}

TEST_F(AccessTest, RefusesWhatIsNotACredential) {
    add_key("laptop", Role::Owner);
    for (const std::string& header :
         {std::string(), std::string("Bearer"), std::string("Bearer "), std::string("Basic YTpi"),
          "Bearer lvk_" + std::string(43, 'A'), "Bearer " + std::string(9000, 'a'),
          std::string("Bearer a.b.c"), std::string("Bearer eyJhbGciOiJub25lIn0.e30.")}) {
        const auto answer = access_.check_authorization(header);
        ASSERT_FALSE(answer) << header;
        EXPECT_EQ(answer.error().code, ErrorCode::Unauthenticated);
    }
}

TEST_F(AccessTest, MakesTokensThatCarryTheAudienceAndAreAccepted) {
    const std::string made = token(add_key("laptop", Role::Reader), world_.clock.at + 1h);
    const auto parts = split(made, '.');
    ASSERT_EQ(parts.size(), 3U);
    const auto claims = wire::parse_json(*base64url_decode(parts[1]));
    EXPECT_EQ((*claims)["aud"].text(), "https://ml.azure.lavant");
    const auto caller = access_.check_authorization("bearer " + made);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->user, "ann");
    EXPECT_EQ(caller->role, Role::Reader);
}

TEST_F(AccessTest, RefusesATokenWithAnyByteChanged) {
    const std::string made = token(add_key("laptop", Role::Reader), world_.clock.at + 1h);
    for (std::size_t i = 0; i < made.size(); ++i) {
        std::string forged = made;
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(access_.check_credential(forged)) << i;
    }
    EXPECT_FALSE(access_.check_credential(made + "A"));
    EXPECT_FALSE(access_.check_credential(made.substr(0, made.size() - 1)));
}

// What an attacker who has the public key would try.
TEST_F(AccessTest, RefusesEveryOtherAlgorithm) {
    const std::string made = token(add_key("laptop", Role::Owner), world_.clock.at + 1h);
    const auto parts = split(made, '.');
    const std::string claims(parts[1]);
    const auto signed_with = [&](const std::string& header, const std::string& key) {
        const std::string text = base64url_encode(header) + "." + claims;
        return text + "." + base64url_encode(world_.crypto().hmac_sha256(key, text));
    };
    const wire::Json key = access_.key_set()["keys"].items().at(0);
    const std::string point = *base64url_decode(key["x"].text()) + *base64url_decode(key["y"].text());
    for (const std::string& secret : {point, "\x04" + point, key.dump(), access_.key_set().dump(),
                                      key["x"].string(), std::string("secret"), std::string()}) {
        EXPECT_FALSE(access_.check_credential(signed_with(R"({"alg":"HS256","typ":"JWT"})", secret)));
        EXPECT_FALSE(access_.check_credential(
            signed_with(R"({"alg":"HS256","typ":"JWT","kid":")" + key["kid"].string() + R"("})", secret)));
    }
    for (const char* header : {R"({"alg":"none"})", R"({"alg":"none","typ":"JWT"})", R"({"alg":"None"})"}) {
        const std::string text = base64url_encode(header) + "." + claims;
        EXPECT_FALSE(access_.check_credential(text + "."));
        EXPECT_FALSE(access_.check_credential(text));
        EXPECT_FALSE(access_.check_credential(text + "." + std::string(parts[2])));
    }
}

TEST_F(AccessTest, ShowsThePublicKeyThatChecksItsTokens) {
    const std::string made = token(add_key("laptop", Role::Owner), world_.clock.at + 1h);
    const auto header = wire::parse_json(*base64url_decode(split(made, '.')[0]));
    const wire::Json key = access_.key_set()["keys"].items().at(0);
    EXPECT_EQ((*header)["alg"].text(), "ES256");
    EXPECT_EQ((*header)["kid"].text(), key["kid"].text());
    EXPECT_EQ(base64url_decode(key["x"].text())->size(), 32U);
    EXPECT_FALSE(key.has("d"));
}

TEST_F(AccessTest, AnIdTokenOpensNothing) {
    const std::string key = add_key("laptop", Role::Owner);
    const std::string id = access_.make_id_token(
        *access_.check_credential(key),
        {.audience = "sdk", .issuer = "i", .expires_at = world_.clock.at + 1h, .client = "sdk"});
    EXPECT_FALSE(access_.check_credential(id));
}

TEST_F(AccessTest, AKeyEndsWhenItExpiresAndSoDoItsTokens) {
    const Instant end = world_.clock.at + 1h;
    const NewKey key =
        access_.make_key("short", {.user = "ann", .role = Role::Owner, .label = "", .expires_at = end});
    world_.write({key.write});
    const std::string made = token(key.plain, world_.clock.at + 12h);
    const auto claims = wire::parse_json(*base64url_decode(split(made, '.')[1]));
    EXPECT_EQ((*claims)["exp"].integer(), to_unix_seconds(end));
    world_.clock.at = end - 1s;
    EXPECT_TRUE(access_.check_credential(key.plain));
    world_.clock.at = end;
    EXPECT_FALSE(access_.check_credential(key.plain)) << "also if it was remembered";
    EXPECT_FALSE(access_.check_credential(made));
}

TEST_F(AccessTest, AHostThatSendsManyWrongCredentialsWaits) {
    access_.limit_failures({.per_s = 1, .burst = 3});
    const std::string known = add_key("laptop", Role::Owner);
    const std::string fresh = add_key("other", Role::Owner);
    ASSERT_TRUE(access_.check_credential(known, "10.0.0.1:1"));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(access_.check_credential("wrong" + std::to_string(i), "10.0.0.1:99").error().code,
                  ErrorCode::Unauthenticated);
    EXPECT_EQ(access_.check_credential("wrong", "10.0.0.1:7").error().code, ErrorCode::ResourceExhausted);
    EXPECT_EQ(access_.check_credential(fresh, "10.0.0.1:7").error().code, ErrorCode::ResourceExhausted);
    EXPECT_TRUE(access_.check_credential(known, "10.0.0.1:7")) << "who is known goes on";
    EXPECT_EQ(access_.check_credential("wrong", "10.0.0.2:7").error().code, ErrorCode::Unauthenticated);
    world_.clock.at += 2s;
    EXPECT_TRUE(access_.check_credential(fresh, "10.0.0.1:7"));
}

TEST_F(AccessTest, LetsATokenLiveFiveMinutesPastItsEndAndNoLonger) {
    const std::string made = token(add_key("laptop", Role::Reader), world_.clock.at + 1h);
    world_.clock.at += 1h + 5min;
    EXPECT_TRUE(access_.check_credential(made));
    world_.clock.at += 1s;
    EXPECT_FALSE(access_.check_credential(made));
}

TEST_F(AccessTest, ForgetsARevokedKeyAndItsTokensAtOnce) {
    const std::string key = add_key("laptop", Role::Owner);
    const std::string made = token(key, world_.clock.at + 1h);
    ASSERT_TRUE(access_.check_credential(made));
    AssetWrite removal;
    removal.asset.key = {"", kKeyKind, "laptop", ""};
    removal.remove = true;
    world_.write({removal});
    access_.forget_all();
    EXPECT_FALSE(access_.check_credential(key));
    EXPECT_FALSE(access_.check_credential(made));
    add_key("laptop", Role::Owner);  // the same name does not revive the old token
    EXPECT_FALSE(access_.check_credential(made));
}

TEST_F(AccessTest, AnswersFromMemoryWithoutReadingAgain) {
    const std::string key = add_key("laptop", Role::Owner);
    ASSERT_TRUE(access_.check_credential(key));
    AssetWrite removal;
    removal.asset.key = {"", kKeyKind, "laptop", ""};
    removal.remove = true;
    world_.write({removal});
    EXPECT_TRUE(access_.check_credential(key));
    world_.clock.at += 61s;
    EXPECT_FALSE(access_.check_credential(key));
}

TEST_F(AccessTest, ReadsTheBookAnewAfterAWhile) {
    const auto before = access_.book();
    ASSERT_TRUE(before);
    EXPECT_EQ(*access_.book(), *before);
    world_.clock.at += 61s;
    EXPECT_NE(*access_.book(), *before) << "a change of which nobody was told is seen";
}

TEST_F(AccessTest, TakesAJobsTokenOnlyWhileItsAttemptIsTheCurrentOne) {
    Job job = world_.add_job("train", JobStatus::Running);
    const std::string made = access_.make_job_token(job.head, job.head.attempt);
    const auto caller = access_.check_credential(made);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->role, Role::Job);
    EXPECT_EQ(caller->job, "train");
    EXPECT_FALSE(access_.check_credential(access_.make_job_token(job.head, job.head.attempt + 1)));
    world_.set_status("train", JobStatus::Completed);
    world_.clock.at += 6s;
    EXPECT_FALSE(access_.check_credential(made));
}

}  // namespace
}  // namespace lavant::api
