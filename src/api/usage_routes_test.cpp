#include "api/usage_routes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/test_world.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

class UsageRoutes : public testing::Test {
 protected:
    void add(UsageKind kind, const std::string& user, const std::string& job, const std::string& compute,
             std::int64_t seconds, Instant ended_at) {
        UsageEntry entry;
        entry.kind = kind;
        entry.ended_at = ended_at;
        entry.workspace = kDefaultWorkspace;
        entry.user = user;
        entry.job = job;
        entry.compute = compute;
        entry.node_micros = seconds * 1'000'000;
        entry.price_micros = seconds * 100'000;  // ten cents a second
        WriteBatch batch;
        batch.usage.push_back(entry);
        ASSERT_TRUE(world_.store.commit(batch));
    }
    void SetUp() override {
        const Instant now = world_.clock.at;
        add(UsageKind::Task, "ann", "a1", "cpu", 10, now);
        add(UsageKind::Task, "ann", "a2", "serverless", 5, now - 48h);
        add(UsageKind::Task, "bob", "b1", "cpu", 30, now);
        add(UsageKind::Node, "", "", "cpu", 100, now);
    }
    Json get(const std::string& query) {
        const auto answer = world_.call({"GET", "/lavant/v1/usage" + query, "", {}});
        EXPECT_EQ(answer.status, 200) << answer.body;
        return json_of(answer);
    }
    TestWorld world_;
};

TEST_F(UsageRoutes, AddsUpByUser) {
    const Json usage = get("");
    ASSERT_EQ(usage["value"].size(), 2U);
    const Json& most = usage["value"].items()[0];
    EXPECT_EQ(most["user"].text(), "bob");
    EXPECT_EQ(most["nodeSeconds"].number(), 30);
    EXPECT_EQ(most["price"].number(), 3);
    EXPECT_EQ(most["tasks"].integer(), 1);
    EXPECT_FALSE(most.has("job"));
    EXPECT_EQ(usage["value"].items()[1]["nodeSeconds"].number(), 15);
    EXPECT_EQ(usage.get("total.nodeSeconds").number(), 45);
    EXPECT_FALSE(usage["total"].has("user"));
    EXPECT_EQ(usage["currency"].text(), "USD");
}

TEST_F(UsageRoutes, AddsUpByJob) {
    const Json usage = get("?by=job");
    ASSERT_EQ(usage["value"].size(), 3U);
    EXPECT_EQ(usage["value"].items()[0]["job"].text(), "b1");
    EXPECT_EQ(usage["value"].items()[0]["user"].text(), "bob");
    EXPECT_EQ(usage["value"].items()[0]["compute"].text(), "cpu");
}

TEST_F(UsageRoutes, ShowsOfAComputeItsNodesAndWhatTasksMadeOfThem) {
    const Json usage = get("?by=compute");
    ASSERT_EQ(usage["value"].size(), 2U);
    const Json& cpu = usage["value"].items()[0];
    EXPECT_EQ(cpu["compute"].text(), "cpu");
    EXPECT_EQ(cpu["nodeSeconds"].number(), 100);
    EXPECT_EQ(cpu["taskSeconds"].number(), 40);
    EXPECT_EQ(cpu["price"].number(), 10);
    const Json& serverless = usage["value"].items()[1];
    EXPECT_EQ(serverless["compute"].text(), "serverless");
    EXPECT_EQ(serverless["nodeSeconds"].number(), 0) << "its nodes are still there";
    EXPECT_EQ(serverless["taskSeconds"].number(), 5);
    EXPECT_EQ(usage.get("total.taskSeconds").number(), 45);
}

TEST_F(UsageRoutes, TakesATimeOrADay) {
    const std::string day = to_rfc3339(world_.clock.at).substr(0, 10);
    EXPECT_EQ(get("?since=" + day).get("total.nodeSeconds").number(), 40);
    EXPECT_EQ(get("?until=" + day).get("total.nodeSeconds").number(), 5);
    EXPECT_EQ(get("?since=" + to_rfc3339(world_.clock.at + 1s)).get("total.nodeSeconds").number(), 0);
    EXPECT_EQ(get("?top=1")["value"].size(), 1U);
    EXPECT_EQ(get("?top=1")["rows"].integer(), 2);
    EXPECT_EQ(get("?top=1").get("total.nodeSeconds").number(), 45);
}

TEST_F(UsageRoutes, RefusesWhatMakesNoSense) {
    for (const char* query : {"?by=usr", "?since=yesterday", "?since=2026-13-01", "?top=0", "?top=-1",
                              "?top=x", "?top=10001", "?since=2026-02-01&until=2026-01-01"})
        EXPECT_EQ(world_.call({"GET", std::string("/lavant/v1/usage") + query, "", {}}).status, 400) << query;
    const auto slip = world_.call({"GET", "/lavant/v1/usage?by=usr", "", {}});
    EXPECT_NE(slip.body.find("did you mean 'user'?"), std::string::npos) << slip.body;
}

TEST_F(UsageRoutes, IsOpenToReadersAndToNobodyElse) {
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/usage", "", world_.as("bob", Role::Reader)}).status, 200);
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/usage", "", {}, false}).status, 401);
}

}  // namespace
}  // namespace lavant::api
