#include "cli/quota_commands.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

using wire::Json;

std::string row(const std::string& family, int used, int limit, bool set) {
    return R"({"location":"local","family":")" + family + R"(","tier":"dedicated","used":)" +
           std::to_string(used) + R"(,"limit":)" + std::to_string(limit) +
           R"(,"workspaceLimit":null,"set":)" + (set ? "true" : "false") + "}";
}

struct Fixture {
    Fixture() {
        server.on("GET /lavant/v1/quotas", 200,
                  R"({"value":[)" + row("total", 8, 10000, false) + "," +
                      row("standardDSv2Family", 8, 1000, false) + "," + row("standardNCFamily", 0, 24, true) +
                      "," + row("standardFSv2Family", 0, 1000, false) + "," +
                      row("standardESv3Family", 0, 1000, false) + "]}");
    }
    FakeServer server;
    FakeTerminal terminal;
};

TEST(QuotaList, ShowsWhatIsUsedOrSetAndCountsTheRest) {
    Fixture world;
    Session session = world.server.session();
    ASSERT_TRUE(list_quotas(session, world.terminal.console(), {}, {}));
    const std::string text = world.terminal.out.str();
    for (const char* shown : {"FAMILY", "total", "standardDSv2Family", "standardNCFamily"})
        EXPECT_NE(text.find(shown), std::string::npos) << text;
    EXPECT_EQ(text.find("standardFSv2Family"), std::string::npos) << text;
    EXPECT_NE(text.find("2 more, unused and as they are by default: lavant quota list --all\n"),
              std::string::npos)
        << text;
}

TEST(QuotaList, ShowsAllWhenAsked) {
    Fixture world;
    Session session = world.server.session();
    ASSERT_TRUE(list_quotas(session, world.terminal.console(), {.all = true}, {}));
    EXPECT_NE(world.terminal.out.str().find("standardESv3Family"), std::string::npos);
    EXPECT_EQ(world.terminal.out.str().find("more"), std::string::npos);
    world.terminal.out.str("");
    ASSERT_TRUE(list_quotas(session, world.terminal.console(), {.used = true}, {}));
    EXPECT_EQ(world.terminal.out.str().find("standardNCFamily"), std::string::npos);
    EXPECT_EQ(world.terminal.out.str().find("more"), std::string::npos);
    ASSERT_TRUE(
        list_quotas(session, world.terminal.console(), {.location = "West US", .family = "total"}, {}));
    EXPECT_NE(world.server.requests.back().url.find("?location=West%20US&family=total"), std::string::npos);
}

TEST(QuotaList, GivesScriptsEveryRow) {
    Fixture world;
    Session session = world.server.session();
    ASSERT_TRUE(list_quotas(session, world.terminal.console(), {}, {.format = Format::Json}));
    EXPECT_EQ(wire::parse_json(world.terminal.out.str()).value().size(), 5U);
}

TEST(QuotaSet, SendsNumbersAndSaysWhatIsSet) {
    Fixture world;
    world.server.on(
        "PUT /lavant/v1/quotas", 200,
        R"({"location":"local","family":"total","tier":"dedicated","level":"workspace","cores":-1})");
    Session session = world.server.session();
    ASSERT_TRUE(set_quota(session, world.terminal.console(),
                          {.family = "total", .cores = "100", .tier = "dedicated"}, {}));
    EXPECT_EQ(world.server.requests.back().body, R"({"family":"total","cores":100,"tier":"dedicated"})");
    EXPECT_EQ(world.terminal.out.str(), "total in local, dedicated: unlimited cores for the workspace\n");
    ASSERT_TRUE(set_quota(session, world.terminal.console(), {.family = "total", .cores = "many"}, {}));
    EXPECT_EQ(world.server.requests.back().body, R"({"family":"total","cores":"many"})");
}

TEST(QuotaSet, TellsWhyNot) {
    Fixture world;
    world.server.on("PUT /lavant/v1/quotas", 409,
                    R"({"error":{"code":"Conflict","message":"12 vCPUs are in use"}})");
    Session session = world.server.session();
    const auto outcome = set_quota(session, world.terminal.console(), {.family = "total", .cores = "4"}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().exit, Exit::Refused);
    EXPECT_EQ(outcome.error().error.message, "cannot set the quota: 12 vCPUs are in use");
}

TEST(QuotaRequest, PrintsItsIdAndWhatComesNext) {
    Fixture world;
    world.server.on("POST /lavant/v1/quotas/requests", 201,
                    R"({"id":"qr-1","location":"local","family":"total","tier":"dedicated","cores":12000})");
    Session session = world.server.session();
    ASSERT_TRUE(request_quota(session, world.terminal.console(),
                              {.family = "total", .cores = "12000", .reason = "sweep"}, {}));
    EXPECT_EQ(world.terminal.out.str(), "qr-1\n");
    EXPECT_NE(world.terminal.err.str().find("lavant quota grant qr-1"), std::string::npos);
    EXPECT_NE(world.server.requests.back().body.find(R"("reason":"sweep")"), std::string::npos);
}

TEST(QuotaRequests, AreListedAndDecided) {
    Fixture world;
    world.server.on("GET /lavant/v1/quotas/requests", 200,
                    R"({"value":[{"id":"qr-1","status":"pending","family":"total","tier":"dedicated",)"
                    R"("cores":12000,"requestedBy":"bob","reason":"steer\u001b[31m"}]})");
    world.server.on(
        "POST /lavant/v1/quotas/requests/qr-1/grant", 200,
        R"({"id":"qr-1","status":"granted","family":"total","tier":"dedicated","location":"local",)"
        R"("cores":12000,"granted":11000})");
    world.server.on(
        "POST /lavant/v1/quotas/requests/qr-1/deny", 200,
        R"({"id":"qr-1","status":"denied","family":"total","tier":"dedicated","location":"local"})");
    Session session = world.server.session();
    ASSERT_TRUE(list_quota_requests(session, world.terminal.console(), false, {}));
    EXPECT_NE(world.server.requests.back().url.find("?status=pending"), std::string::npos);
    EXPECT_NE(world.terminal.out.str().find("bob"), std::string::npos);
    EXPECT_EQ(world.terminal.out.str().find('\x1b'), std::string::npos);
    world.terminal.out.str("");
    ASSERT_TRUE(grant_quota(session, world.terminal.console(), "qr-1", "11000", {}));
    EXPECT_EQ(world.server.requests.back().body, R"({"cores":11000})");
    EXPECT_EQ(world.terminal.out.str(), "granted qr-1 of total in local, dedicated: 11000 cores\n");
    ASSERT_TRUE(grant_quota(session, world.terminal.console(), "qr-1", "", {}));
    EXPECT_EQ(world.server.requests.back().body, "{}");
    world.terminal.out.str("");
    ASSERT_TRUE(deny_quota(session, world.terminal.console(), "qr-1", {}));
    EXPECT_EQ(world.terminal.out.str(), "denied qr-1 of total in local, dedicated\n");
    const auto unknown = deny_quota(session, world.terminal.console(), "../x", {});
    ASSERT_FALSE(unknown);
    EXPECT_NE(world.server.requests.back().url.find("/requests/..%2Fx/deny"), std::string::npos);
}

TEST(ListUsage, HasTheSdksNames) {
    Fixture world;
    const std::string place =
        "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.MachineLearningServices/"
        "locations/";
    world.server.on("GET " + place + "local/usages", 200,
                    R"({"value":[{"id":"i","type":"t","unit":"Count","currentValue":4,"limit":100,)"
                    R"("name":{"value":"standardDSv2Family","localizedValue":"Standard DSv2"},)"
                    R"("amlWorkspaceLocation":"local"}]})");
    Session session = world.server.session();
    ASSERT_TRUE(list_usages(session, world.terminal.console(), "", {.format = Format::Json}));
    const Json usage = wire::parse_json(world.terminal.out.str()).value().items().front();
    EXPECT_EQ(usage["current_value"].integer(), 4);
    EXPECT_EQ(usage.get("name.localized_value").text(), "Standard DSv2");
    EXPECT_EQ(usage["unit"].text(), "count");
}

}  // namespace
}  // namespace lavant::cli
