#include "api/router.h"

#include <gtest/gtest.h>

namespace lavant::api {
namespace {

class RouterTest : public testing::Test {
 protected:
    void add(const std::string& methods, const std::string& pattern) {
        router_.add(methods, pattern,
                    Route{Need::Nothing, [this, pattern](const std::shared_ptr<Call>&) { hit_ = pattern; }});
    }
    std::string hit(const std::string& method, const std::string& path) {
        match_ = router_.match(method, path);
        hit_ = match_.allowed.empty() ? "none" : "405 " + match_.allowed;
        if (match_.route != nullptr) match_.route->handle(nullptr);
        return hit_;
    }
    Router router_;
    Match match_;
    std::string hit_;
};

TEST_F(RouterTest, MatchesLiteralsWhateverTheirCaseAndDecodesParameters) {
    add("GET", "/subscriptions/{s}/resourceGroups/{g}/jobs/{name}");
    EXPECT_EQ(hit("GET", "/subscriptions/S1/resourcegroups/my%20Group/JOBS/a%2Fb"),
              "/subscriptions/{s}/resourceGroups/{g}/jobs/{name}");
    EXPECT_EQ(match_.params.get("g"), "my Group");
    EXPECT_EQ(match_.params.get("name"), "a/b");
    EXPECT_EQ(match_.params.get("absent"), "");
}

TEST_F(RouterTest, PrefersALiteralButGoesBackWhenItLeadsNowhere) {
    add("GET", "/a/{x}");
    add("GET", "/a/list/more");
    add("GET", "/a/me");
    EXPECT_EQ(hit("GET", "/a/me"), "/a/me");
    EXPECT_EQ(hit("GET", "/a/list"), "/a/{x}");
    EXPECT_EQ(match_.params.get("x"), "list");
}

TEST_F(RouterTest, GivesTheRemainderToARestParameterDecodedOnce) {
    add("GET", "/storage/acct/{container}/{blob*}");
    EXPECT_EQ(hit("GET", "/storage/acct/c1/a%20b/%2523/x.txt"), "/storage/acct/{container}/{blob*}");
    EXPECT_EQ(match_.params.get("blob"), "a b/%23/x.txt");
    EXPECT_EQ(hit("GET", "/storage/acct/c1/"), "none");
    EXPECT_EQ(hit("GET", "/storage/acct//x"), "none");
}

TEST_F(RouterTest, ToleratesATrailingSlashAndRefusesEmptyParameters) {
    add("GET", "/a/{x}");
    EXPECT_EQ(hit("GET", "/a/b/"), "/a/{x}");
    EXPECT_EQ(hit("GET", "/a//"), "none");
    EXPECT_EQ(hit("GET", "/a/"), "none");
    EXPECT_EQ(hit("GET", ""), "none");
    EXPECT_EQ(hit("GET", "a/b"), "none");
}

TEST_F(RouterTest, NamesTheMethodsOfAPathThatExists) {
    add("GET,HEAD", "/a");
    add("PUT", "/a");
    EXPECT_EQ(hit("HEAD", "/a"), "/a");
    EXPECT_EQ(hit("DELETE", "/a"), "405 GET, HEAD, PUT");
}

TEST_F(RouterTest, ListsEveryMethodOfEveryPatternWithWhatItNeeds) {
    add("GET,HEAD", "/a/{x}");
    router_.add("PUT", "/a/{x}", Route{Need::Owner, [](const std::shared_ptr<Call>&) {}});
    std::string listed;
    for (const RouteRow& row : router_.routes())
        listed += row.method + " " + row.pattern + (row.need == Need::Owner ? " owner\n" : "\n");
    EXPECT_EQ(listed, "GET /a/{x}\nHEAD /a/{x}\nPUT /a/{x} owner\n");
}

TEST_F(RouterTest, EndsOnAPathOfAHundredThousandSegments) {
    add("GET", "/{a}/{b}");
    std::string path;
    for (int i = 0; i < 100'000; ++i) path += "/x";
    EXPECT_EQ(hit("GET", path), "none");
}

}  // namespace
}  // namespace lavant::api
