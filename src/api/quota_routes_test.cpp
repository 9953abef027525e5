#include "api/quota_routes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/test_world.h"
#include "core/quota/quota_names.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::size_t kKeys = quota_keys_in("local", families_of(size_catalogue())).size();
const std::string kPlace = "/subscriptions/s1/providers/Microsoft.MachineLearningServices/locations/local";

class QuotaRoutes : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& body, std::map<std::string, std::string> headers = {}) {
        return world_.call({"PUT", "/lavant/v1/quotas", body, std::move(headers)});
    }
    Json get(const std::string& path) {
        const auto answer = world_.call({"GET", path, "", {}});
        EXPECT_EQ(answer.status, 200) << answer.body;
        return json_of(answer);
    }
    Json row(const std::string& family, const std::string& tier = "dedicated") {
        const Json list = get("/lavant/v1/quotas");
        for (const Json& one : list["value"].items())
            if (one["family"].text() == family && one["tier"].text() == tier) return one;
        ADD_FAILURE() << "no row for " << family;
        return {};
    }
    void add_pool(const std::string& compute, int nodes_max, int vcpus) {
        Pool pool;
        pool.id = {++last_pool_};
        pool.version = 1;
        pool.workspace = kDefaultWorkspace;
        pool.key = "compute/" + compute;
        pool.nodes_max = nodes_max;
        pool.terms = {.compute = compute, .location = "local", .family = "standardDSv2Family"};
        pool.terms.vcpus = vcpus;
        WriteBatch batch;
        batch.pools.push_back(pool);
        ASSERT_TRUE(world_.store.commit(batch));
    }
    TestWorld world_;
    std::int64_t last_pool_ = 0;
};

TEST_F(QuotaRoutes, ListsTheDefaultsOfAFreshWorkspace) {
    const Json list = get("/lavant/v1/quotas")["value"];
    EXPECT_EQ(list.size(), kKeys);
    const Json family = row("standardDSv2Family");
    EXPECT_EQ(family["limit"].integer(), 1000);
    EXPECT_EQ(family["subscriptionLimit"].integer(), 1000);
    EXPECT_TRUE(family["workspaceLimit"].is_null());
    EXPECT_EQ(family["used"].integer(-1), 0);
    EXPECT_FALSE(family["set"].boolean(true));
    EXPECT_EQ(row("total")["limit"].integer(), 10000);
}

TEST_F(QuotaRoutes, ShowsWhatComputesHold) {
    add_pool("cpu", 4, 8);
    EXPECT_EQ(row("standardDSv2Family")["used"].integer(), 32);
    EXPECT_EQ(row("total")["used"].integer(), 32);
    EXPECT_EQ(row("total", "low_priority")["used"].integer(), 0);
}

TEST_F(QuotaRoutes, HaveTheFamiliesOfTheSitesOwnSizes) {
    const auto made = world_.call({"PUT", "/lavant/v1/sizes/rtx4090", R"({"vcpus":16,"memoryGib":64})", {}});
    ASSERT_LT(made.status, 300) << made.body;
    EXPECT_EQ(row("site")["limit"].integer(), 1000);
    EXPECT_EQ(put(R"({"family":"rtx4090","cores":32})").status, 200);
    EXPECT_EQ(row("site")["limit"].integer(), 32);
}

TEST_F(QuotaRoutes, SetsALimitOfEachLevel) {
    ASSERT_EQ(put(R"({"family":"standarddsv2family","cores":100})").status, 200);
    ASSERT_EQ(put(R"({"family":"total","cores":50,"tier":"low_priority"})").status, 200);
    const auto set = put(R"({"family":"Standard_DS3_v2","cores":40,"level":"workspace"})");
    ASSERT_EQ(set.status, 200) << set.body;
    EXPECT_EQ(json_of(set)["family"].text(), "standardDSv2Family");
    const Json family = row("standardDSv2Family");
    EXPECT_EQ(family["subscriptionLimit"].integer(), 100);
    EXPECT_EQ(family["workspaceLimit"].integer(), 40);
    EXPECT_EQ(family["limit"].integer(), 40);
    EXPECT_TRUE(family["set"].boolean());
    EXPECT_EQ(row("total", "low_priority")["limit"].integer(), 50);

    ASSERT_EQ(put(R"({"family":"standardDSv2Family","cores":"unlimited","level":"workspace"})").status, 200);
    EXPECT_EQ(row("standardDSv2Family")["limit"].integer(), 100);
    EXPECT_TRUE(row("standardDSv2Family")["workspaceLimit"].is_null());
}

TEST_F(QuotaRoutes, ShowsOtherLocationsWhereSomethingIsSet) {
    ASSERT_EQ(put(R"({"family":"total","cores":7,"location":"West Europe"})").status, 200);
    EXPECT_EQ(get("/lavant/v1/quotas")["value"].size(), 2 * kKeys);
    const Json there = get("/lavant/v1/quotas?location=westeurope&family=total")["value"];
    ASSERT_EQ(there.size(), 2U);
    EXPECT_EQ(there.items()[0]["limit"].integer(), 7);
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/quotas?location=atlantis", "", {}}).status, 400);
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/quotas?family=nonsense", "", {}}).status, 400);
}

TEST_F(QuotaRoutes, RefusesWhatMakesNoSense) {
    const std::pair<const char*, const char*> bad[] = {
        {R"({"cores":1})", "family"},
        {R"({"family":"standardDSv2Famly","cores":1})", "did you mean standardDSv2Family?"},
        {R"({"family":"total"})", "cores"},
        {R"({"family":"total","cores":-1})", "whole number"},
        {R"({"family":"total","cores":1.5})", "whole number"},
        {R"({"family":"total","cores":"many"})", "whole number"},
        {R"({"family":"total","cores":9000000000000000000})", "whole number"},
        {R"({"family":"total","cores":"unlimited"})", "only the workspace"},
        {R"({"family":"total","cores":1,"location":"westeurop"})", "did you mean 'westeurope'?"},
        {R"({"family":"total","cores":1,"tier":"dedicted"})", "did you mean 'dedicated'?"},
        {R"({"family":"total","cores":1,"level":"planet"})", "subscription or workspace"},
        {R"({"family":"total","cores":1,"teir":"dedicated"})", "did you mean 'tier'?"},
        {R"({"family":"total","cores":10001,"level":"workspace"})", "the subscription has 10000 cores"},
        {R"([1])", "JSON object"},
        {R"({)", ""},
    };
    for (const auto& [body, why] : bad) {
        const auto answer = put(body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_NE(answer.body.find(why), std::string::npos) << answer.body;
    }
    EXPECT_TRUE(world_.posted.empty());
}

TEST_F(QuotaRoutes, PassesThePlanesRefusalOn) {
    world_.refuse = [](const plane::Event&) { return Error{ErrorCode::Conflict, "12 cores are in use", {}}; };
    const auto answer = put(R"({"family":"total","cores":4})");
    EXPECT_EQ(answer.status, 409);
    EXPECT_NE(answer.body.find("12 cores are in use"), std::string::npos);
    EXPECT_EQ(row("total")["limit"].integer(), 10000);
}

TEST_F(QuotaRoutes, LetsOnlyOwnersSet) {
    for (const Role role : {Role::Reader, Role::Contributor}) {
        const auto headers = world_.as(std::string(name_of(role)), role);
        EXPECT_EQ(put(R"({"family":"total","cores":4})", headers).status, 403);
        EXPECT_EQ(world_.call({"GET", "/lavant/v1/quotas", "", headers}).status, 200);
        EXPECT_EQ(world_.call({"POST", kPlace + "/updateQuotas", R"({"value":[]})", headers}).status, 403);
    }
}

// --- Azure's ---

const Json* find_usage(const Json& list, std::string_view name) {
    const auto& all = list["value"].items();
    const auto found = std::ranges::find_if(
        all, [&](const Json& one) { return one.get("name.localizedValue").text() == name; });
    return found == all.end() ? nullptr : &*found;
}

TEST_F(QuotaRoutes, ShowsUsagesAsAzureDoes) {
    add_pool("cpu", 2, 4);
    const Json list = get(kPlace + "/usages?api-version=2023-08-01-preview");
    EXPECT_EQ(list["value"].size(), kKeys);
    const Json* family = find_usage(list, "Standard DSv2 Family Cluster Dedicated vCPUs");
    ASSERT_NE(family, nullptr);
    EXPECT_EQ((*family)["currentValue"].integer(), 8);
    EXPECT_EQ((*family)["limit"].integer(), 1000);
    EXPECT_EQ((*family)["unit"].text(), "Count");
    EXPECT_EQ(family->get("name.value").text(), "standardDSv2Family");
    EXPECT_EQ((*family)["type"].text(), "Microsoft.MachineLearningServices/vmFamily/dedicatedCores/usages");
    EXPECT_EQ((*family)["id"].text(), kPlace + "/usages/standardDSv2Family");
    EXPECT_EQ((*family)["amlWorkspaceLocation"].text(), "local");
    const Json* total = find_usage(list, "Total Cluster LowPriority Regional vCPUs");
    ASSERT_NE(total, nullptr);
    EXPECT_EQ(total->get("name.value").text(), "TotalLowPriorityCores");
    EXPECT_NE(find_usage(list, "Total Cluster Dedicated Regional vCPUs"), nullptr);
    EXPECT_NE(find_usage(list, "Standard DSv2 Family Cluster LowPriority vCPUs"), nullptr);
    EXPECT_EQ(world_
                  .call({"GET",
                         "/subscriptions/s1/providers/Microsoft.MachineLearningServices/locations/"
                         "easttus/usages",
                         "",
                         {}})
                  .status,
              400);
}

TEST_F(QuotaRoutes, ShowsTheWorkspaceTheLimitThatCounts) {
    ASSERT_EQ(put(R"({"family":"standardDSv2Family","cores":40,"level":"workspace"})").status, 200);
    const Json own = get(kWs + "/usages");
    EXPECT_EQ((*find_usage(own, "Standard DSv2 Family Cluster Dedicated vCPUs"))["limit"].integer(), 40);
    const Json all = get(kPlace + "/usages");
    EXPECT_EQ((*find_usage(all, "Standard DSv2 Family Cluster Dedicated vCPUs"))["limit"].integer(), 1000);
    const Json quotas = get(kPlace + "/quotas");
    EXPECT_EQ(quotas["value"].size(), kKeys + 1);
}

TEST_F(QuotaRoutes, UpdatesSeveralAtOnceWithAStatusEach) {
    world_.refuse = [](const plane::Event& event) -> std::optional<Error> {
        const auto& quota = std::get<plane::SetQuota>(event).quota;
        if (quota.cores != 1) return std::nullopt;
        return Error{ErrorCode::Conflict, "more is in use", {}};
    };
    const auto entry = [](const std::string& family, const std::string& tier, const std::string& limit) {
        return R"({"id":")" + kWs + "/quotas/" + family +
               R"(","type":"Microsoft.MachineLearningServices/workspaces/)" + tier + R"(/quotas","limit":)" +
               limit + R"(,"unit":"Count"})";
    };
    const auto answer = world_.call({"POST",
                                     kPlace + "/updateQuotas",
                                     R"({"value":[)" + entry("StandardDSv2Family", "dedicatedCores", "100") +
                                         "," + entry("standardDSv2Family", "lowPriorityCores", "50") + "," +
                                         entry("standardDSv3Family", "dedicatedCores", "1") + "," +
                                         entry("nonsense", "dedicatedCores", "5") + "," +
                                         entry("standardNCFamily", "dedicatedCores", "2000") + "," +
                                         entry("standardNCFamily", "dedicatedCores", "-2") + "," +
                                         entry("TotalDedicatedCores", "dedicatedCores", "500") + "," +
                                         entry("standardESv3Family", "dedicatedCores", "-1") + "]}",
                                     {}});
    ASSERT_EQ(answer.status, 200) << answer.body;
    std::vector<std::string> statuses;
    const Json body = json_of(answer);
    for (const Json& one : body["value"].items()) statuses.push_back(one["status"].string());
    EXPECT_EQ(statuses, (std::vector<std::string>{
                            "Success", "Success", "InvalidQuotaBelowClusterMinimum", "InvalidVMFamilyName",
                            "InvalidQuotaExceedsSubscriptionLimit", "Failure", "Success", "Success"}));
    EXPECT_EQ(row("standardDSv2Family")["workspaceLimit"].integer(), 100);
    EXPECT_EQ(row("standardDSv2Family", "low_priority")["workspaceLimit"].integer(), 50);
    EXPECT_EQ(row("total")["workspaceLimit"].integer(), 500);
    EXPECT_TRUE(row("standardNCFamily")["workspaceLimit"].is_null());
    EXPECT_TRUE(row("standardESv3Family")["workspaceLimit"].is_null());
}

TEST_F(QuotaRoutes, AnswersAnUpdateThatTheInboxDoesNotTake) {
    world_.api();
    world_.inbox_full = true;
    const auto answer = world_.call({"POST",
                                     kPlace + "/updateQuotas",
                                     R"({"value":[{"id":"x/quotas/standardNCFamily","limit":5}]})",
                                     {}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(json_of(answer)["value"].items().front()["status"].text(), "Failure");
    for (const char* body : {"{}", R"({"value":[]})", R"({"value":7})", "nonsense"})
        EXPECT_EQ(world_.call({"POST", kPlace + "/updateQuotas", body, {}}).status, 400) << body;
}

}  // namespace
}  // namespace lavant::api
