#include "api/sas.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;

class SasTest : public testing::Test {
 protected:
    // Signed by an independent implementation (Python's hmac) of the documented string-to-sign.
    SasTest()
        : sas_(world_.crypto(), "acct", [](const std::string&) {
              return *base64_decode("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
          }) {}

    StorageResult<SasGrant> check(const std::string& query, const SasAsk& ask) {
        ports::HttpRequest request;
        request.query = query;
        return sas_.check(request, ask, world_.clock.at);
    }
    std::string offer(const std::string& permissions, const std::string& blob = "") {
        return sas_.make({"c1", blob, permissions, world_.clock.at + 1h});
    }

    TestWorld world_;
    Sas sas_;
};

TEST_F(SasTest, SignsAsTheDocumentedStringToSignDemands) {
    const auto expiry = parse_rfc3339("2026-09-21T14:13:20Z");
    EXPECT_EQ(sas_.make({"c1", "", "racwl", *expiry}),
              "sv=2021-12-02&se=2026-09-21T14%3A13%3A20Z&sr=c&sp=racwl&spr=https&sig="
              "GrdMdY4ObN0zw92HZop1o26Ra8PZczR1s4zyhZXWDWA%3D");
    EXPECT_EQ(sas_.make({"c1", "dir/a b.txt", "r", *expiry}),
              "sv=2021-12-02&se=2026-09-21T14%3A13%3A20Z&sr=b&sp=r&spr=https&sig=%2FxjFmutRW%2B4uef2nw%"
              "2FYWev7opsVoB2RSRjOcM3q7JRo%3D");
}

TEST_F(SasTest, AcceptsWhatItMade) {
    EXPECT_TRUE(check(offer("racwl"), {"c1", "any/blob", "r"}));
    EXPECT_TRUE(check(offer("racwl") + "&comp=list&restype=container", {"c1", "", "l"}));
    EXPECT_TRUE(check(offer("r", "one"), {"c1", "one", "r"}));
}

TEST_F(SasTest, RefusesAnotherContainerBlobOrPermission) {
    EXPECT_FALSE(check(offer("racwl"), {"c2", "any", "r"}));
    EXPECT_FALSE(check(offer("r", "one"), {"c1", "two", "r"}));
    EXPECT_FALSE(check(offer("r", "one"), {"c1", "", "r"}));
    EXPECT_FALSE(check(offer("rl"), {"c1", "x", "cw"}));
    EXPECT_TRUE(check(offer("w"), {"c1", "x", "cw"}));
}

TEST_F(SasTest, RefusesAnyChangeOfWhatIsSigned) {
    const std::string good = offer("rl");
    for (const auto& [from, to] : std::map<std::string, std::string>{{"sp=rl", "sp=rwl"},
                                                                     {"sr=c", "sr=b"},
                                                                     {"2021-12-02", "2022-11-02"},
                                                                     {"spr=https", "spr=https,http"},
                                                                     {"sig=", "sig=A"},
                                                                     {"se=2026", "se=2036"}}) {
        std::string forged = good;
        const std::size_t at = forged.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        forged.replace(at, from.size(), to);
        EXPECT_FALSE(check(forged, {"c1", "x", "r"})) << forged;
    }
    EXPECT_FALSE(check(good + "&st=2020-01-01T00:00:00Z", {"c1", "x", "r"}));
    EXPECT_FALSE(check(good + "&sp=racwdl", {"c1", "x", "r"})) << "a parameter given twice";
    EXPECT_FALSE(check("", {"c1", "x", "r"}));
    EXPECT_FALSE(check("sig=&sv=&sr=c", {"c1", "x", "r"}));
    EXPECT_FALSE(check("sv=2019-12-12&sr=c&sp=r&se=2036-01-01T00:00:00Z&sig=x", {"c1", "x", "r"}));
}

TEST_F(SasTest, OfAFolderListsThatFolderAlone) {
    const std::string key = *base64_decode("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    const std::string text =
        "rl\n\n2036-01-01T00:00:00Z\n/blob/acct/c1/foo\n\n\n\n2021-12-02\nd\n\n\n\n\n\n\n";
    const std::string query = "sp=rl&se=2036-01-01T00:00:00Z&sv=2021-12-02&sr=d&sdd=1&sig=" +
                              percent_encode(base64_encode(world_.crypto().hmac_sha256(key, text)));
    EXPECT_TRUE(check(query, {"c1", "foo/x", "r"}));
    EXPECT_TRUE(check(query, {"c1", "", "l", "foo/"}));
    EXPECT_TRUE(check(query, {"c1", "", "l", "foo/bar"}));
    EXPECT_FALSE(check(query, {"c1", "", "l", "foo"})) << "it would list foobar/ too";
    EXPECT_FALSE(check(query, {"c1", "", "l", "foobar/"}));
    EXPECT_FALSE(check(query, {"c1", "", "l", ""}));
}

TEST_F(SasTest, ExpiresWithFiveMinutesOfGrace) {
    const std::string made = offer("r");
    world_.clock.at += 1h + 5min;
    EXPECT_TRUE(check(made, {"c1", "x", "r"}));
    world_.clock.at += 1s;
    EXPECT_FALSE(check(made, {"c1", "x", "r"}));
}

}  // namespace
}  // namespace lavant::api
