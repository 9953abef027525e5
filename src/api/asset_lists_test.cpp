#include "api/asset_lists.h"

#include <gtest/gtest.h>

#include "api/test_world.h"

namespace lavant::api {
namespace {

using wire::Json;

class AssetLists : public testing::Test {
 protected:
    void add(const std::string& name, const std::string& version, const std::string& more = "") {
        world_.clock.at += std::chrono::seconds(1);
        const auto made =
            world_.call({"PUT",
                         kWs + "/models/" + name + "/versions/" + version,
                         R"({"properties":{"modelUri":"azureml://datastores/d/paths/m")" + more + "}}",
                         {}});
        ASSERT_LT(made.status, 300) << made.body;
    }
    Json get(const std::string& target) {
        const auto response = world_.call({"GET", target, "", {}});
        EXPECT_EQ(response.status, 200) << target << " " << response.body;
        return json_of(response);
    }
    std::vector<std::string> names(const Json& listed) {
        std::vector<std::string> all;
        for (const Json& item : listed["value"].items()) all.push_back(item["name"].string());
        return all;
    }
    std::vector<std::string> versions(const std::string& query) {
        return names(get(kWs + "/models/m/versions" + query));
    }
    TestWorld world_;
};
using Names = std::vector<std::string>;

TEST_F(AssetLists, SearchesLookAtAllAndKeepFew) {
    for (int i = 0; i < 700; ++i)
        world_.write({{{.key = {kDefaultWorkspace, "models", "m", std::to_string(i)},
                        .body = R"({"tags":{"third":")" + std::to_string(i % 3) + R"("}})",
                        .created_at = from_micros(i),
                        .modified_at = from_micros(1000 - i)},
                       0}});
    const int before = world_.ran_slowly;
    for (const auto& [query, first, second] : {std::tuple{"?$orderBy=version", "0", "100"},
                                               {"?$orderBy=version%20desc", "699", "599"},
                                               {"?$orderBy=createdtime%20asc", "0", "100"},
                                               {"?$orderBy=modifiedtime", "699", "599"},
                                               {"?tags=third=1", "697", "397"},
                                               {"?tags=third=1&$orderBy=version", "1", "301"}}) {
        const Names page = versions(query);
        ASSERT_EQ(page.size(), 100U) << query;
        EXPECT_EQ(page.front(), first) << query;
        const Names next = versions(std::string(query) + "&$skip=100");
        ASSERT_FALSE(next.empty()) << query;
        EXPECT_EQ(next.front(), second) << query;
    }
    EXPECT_EQ(world_.ran_slowly - before, 12) << "no I/O thread is kept busy";
    EXPECT_EQ(versions("?tags=third=1&$skip=200").size(), 33U);
    EXPECT_EQ(versions("?$skip=200").size(), 100U);
    EXPECT_EQ(world_.ran_slowly - before, 13);
}

TEST_F(AssetLists, AreInTheOrderThatIsAskedFor) {
    for (const char* version : {"10", "9", "two", "1"}) add("m", version);
    add("m", "10", R"(,"tags":{"a":"b"})");
    EXPECT_EQ(versions(""), (Names{"1", "two", "9", "10"}));
    EXPECT_EQ(versions("?%24orderBy=createdtime%20desc"), (Names{"1", "two", "9", "10"}));
    EXPECT_EQ(versions("?$orderBy=createdtime%20asc"), (Names{"10", "9", "two", "1"}));
    EXPECT_EQ(versions("?$orderBy=modifiedtime+desc"), (Names{"10", "1", "two", "9"}));
    EXPECT_EQ(versions("?$orderBy=version%20asc"), (Names{"1", "9", "10", "two"}));
    EXPECT_EQ(versions("?$orderBy=version%20desc&$top=1"), (Names{"two"}));
    add("a", "1");
    EXPECT_EQ(names(get(kWs + "/models?$orderBy=name%20asc")), (Names{"a", "m"}));
    EXPECT_EQ(world_.call({"GET", kWs + "/models?$orderBy=size", "", {}}).status, 400);
    EXPECT_EQ(world_.call({"GET", kWs + "/models?$orderBy=name%20up", "", {}}).status, 400);
}

TEST_F(AssetLists, AreFiltered) {
    add("m", "1", R"(,"tags":{"team":"red","x":"1"},"stage":"Production")");
    add("m", "2", R"(,"tags":{"team":"blue"},"properties":{"p":"q"})");
    EXPECT_EQ(versions("?tags=team"), (Names{"2", "1"}));
    EXPECT_EQ(versions("?tags=team%3Dred"), (Names{"1"}));
    EXPECT_EQ(versions("?tags=team%3Dred,x"), (Names{"1"}));
    EXPECT_EQ(versions("?tags=none"), Names{});
    EXPECT_EQ(versions("?properties=p%3Dq"), (Names{"2"}));
    EXPECT_EQ(versions("?stage=production"), (Names{"1"}));
    add("m", "2", R"(,"isArchived":true)");
    EXPECT_EQ(versions("?listViewType=ArchivedOnly"), (Names{"2"}));
    EXPECT_EQ(versions("?listViewType=All&tags=team"), (Names{"2", "1"}));
    EXPECT_EQ(world_.call({"GET", kWs + "/models?listViewType=Some", "", {}}).status, 400);
}

TEST_F(AssetLists, ComePageByPage) {
    for (int i = 0; i < 205; ++i) add("m", std::to_string(i));
    for (const char* query : {"", "?$orderBy=version%20asc", "?listViewType=All&$top=150"}) {
        std::string target = kWs + "/models/m/versions" + query;
        std::size_t seen = 0;
        int pages = 0;
        while (!target.empty() && pages < 9) {
            const Json page = get(target);
            seen += page["value"].size();
            ++pages;
            const std::string next = page["nextLink"].string();
            target = next.empty() ? "" : next.substr(std::string_view("https://127.0.0.1:8443").size());
        }
        const bool top = std::string_view(query).find("top") != std::string_view::npos;
        EXPECT_EQ(seen, top ? 150U : 205U) << query;
        EXPECT_EQ(pages, top ? 2 : 3) << query;
    }
    for (const char* bad : {"?$top=-1", "?$top=x", "?$skip=1.5", "?$top=99999999999999999999"})
        EXPECT_EQ(world_.call({"GET", kWs + "/models/m/versions" + std::string(bad), "", {}}).status, 400)
            << bad;
    EXPECT_EQ(versions("?$skip=9223372036854775807"), Names{});
    EXPECT_EQ(versions("?$skip=9223372036854775807&$orderBy=name"), Names{});
}

}  // namespace
}  // namespace lavant::api
