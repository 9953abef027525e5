#include "api/quota_requests.h"

#include <gtest/gtest.h>

#include "api/test_world.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kBase = "/lavant/v1/quotas/requests";
const std::string kMore = R"({"family":"standardDSv2Family","cores":2000,"reason":"the big sweep"})";

class QuotaRequests : public testing::Test {
 protected:
    ports::HttpResponse post(const std::string& path, const std::string& body,
                             std::map<std::string, std::string> headers = {}) {
        return world_.call({"POST", kBase + path, body, std::move(headers)});
    }
    std::string request(const std::string& body = kMore) {
        const auto made = post("", body, world_.as("bob", Role::Reader));
        EXPECT_EQ(made.status, 201) << made.body;
        return json_of(made)["id"].string();
    }
    Json list() { return json_of(world_.call({"GET", kBase, "", {}}))["value"]; }
    std::int64_t limit_of(const std::string& query = "family=standardDSv2Family") {
        const Json rows = json_of(world_.call({"GET", "/lavant/v1/quotas?" + query, "", {}}));
        return rows["value"].items().front()["limit"].integer();
    }
    TestWorld world_;
};

TEST_F(QuotaRequests, AreMadeByAnybodyAndGrantedByAnOwner) {
    const std::string id = request();
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list().items()[0]["requestedBy"].text(), "bob");
    EXPECT_EQ(list().items()[0]["status"].text(), "pending");
    EXPECT_EQ(list().items()[0]["reason"].text(), "the big sweep");
    EXPECT_EQ(limit_of(), 1000);
    EXPECT_EQ(post("/" + id + "/grant", "", world_.as("cy", Role::Contributor)).status, 403);

    const auto granted = post("/" + id + "/grant", "");
    ASSERT_EQ(granted.status, 200) << granted.body;
    EXPECT_EQ(json_of(granted)["status"].text(), "granted");
    EXPECT_EQ(json_of(granted)["decidedBy"].text(), "ann");
    EXPECT_EQ(limit_of(), 2000);
    EXPECT_EQ(post("/" + id + "/grant", "").status, 409);
    EXPECT_EQ(post("/" + id + "/deny", "").status, 409);
}

TEST_F(QuotaRequests, CanBeGrantedInPart) {
    const auto granted = post("/" + request() + "/grant", R"({"cores":1500})");
    ASSERT_EQ(granted.status, 200) << granted.body;
    EXPECT_EQ(json_of(granted)["granted"].integer(), 1500);
    EXPECT_EQ(json_of(granted)["cores"].integer(), 2000);
    EXPECT_EQ(limit_of(), 1500);
}

TEST_F(QuotaRequests, RaiseTheWorkspacesOwnLimitToo) {
    ASSERT_EQ(world_
                  .call({"PUT",
                         "/lavant/v1/quotas",
                         R"({"family":"standardDSv2Family","cores":10,"level":"workspace"})",
                         {}})
                  .status,
              200);
    const std::string id = request(R"({"family":"standardDSv2Family","cores":20})");
    ASSERT_EQ(post("/" + id + "/grant", "").status, 200);
    EXPECT_EQ(limit_of(), 20);
}

TEST_F(QuotaRequests, StayPendingWhenTheLimitCannotBeSet) {
    const std::string id = request();
    world_.refuse = [](const plane::Event& event) -> std::optional<Error> {
        if (!std::holds_alternative<plane::SetQuota>(event)) return std::nullopt;
        return Error{ErrorCode::Unavailable, "no", {}};
    };
    EXPECT_EQ(post("/" + id + "/grant", "").status, 503);
    EXPECT_EQ(list().items()[0]["status"].text(), "pending");
}

TEST_F(QuotaRequests, CanBeDenied) {
    const std::string id = request();
    EXPECT_EQ(post("/" + id + "/deny", "", world_.as("cy", Role::Contributor)).status, 403);
    EXPECT_EQ(list().items()[0]["status"].text(), "pending");
    ASSERT_EQ(post("/" + id + "/deny", "").status, 200);
    EXPECT_EQ(list().items()[0]["status"].text(), "denied");
    EXPECT_EQ(limit_of(), 1000);
    EXPECT_EQ(post("/nobody/deny", "").status, 404);
    EXPECT_EQ(json_of(world_.call({"GET", kBase + "?status=pending", "", {}}))["value"].size(), 0U);
}

TEST_F(QuotaRequests, RefuseWhatMakesNoSense) {
    for (const std::string& body :
         {std::string("{}"), std::string(R"({"family":"total","cores":5})"),
          std::string(R"({"family":"total","cores":-5})"),
          std::string(R"({"family":"total","cores":"unlimited"})"),
          std::string(R"({"family":"total","cores":20000,"level":"workspace"})"),
          R"({"family":"total","cores":20000,"reason":")" + std::string(1001, 'x') + R"("})"})
        EXPECT_EQ(post("", body).status, 400) << body.substr(0, 80);
    EXPECT_EQ(list().size(), 0U);
    EXPECT_EQ(post("/" + request() + "/grant", R"({"cores":-1})").status, 400);
}

TEST_F(QuotaRequests, AreBoundedPerUser) {
    const auto bob = world_.as("bob", Role::Reader);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(post("", kMore, bob).status, 201);
    EXPECT_EQ(post("", kMore, bob).status, 409);
    EXPECT_EQ(post("", kMore).status, 201) << "somebody else can still ask";
}

}  // namespace
}  // namespace lavant::api
