#include "api/size_routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/sizes.h"
#include "api/test_world.h"
#include "core/model/site_size.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

Json parsed(const ports::HttpResponse& response) {
    auto json = wire::parse_json(response.body);
    EXPECT_TRUE(json) << response.status << " " << response.body;
    return json ? *json : Json();
}

const Json* named(const Json& list, std::string_view name) {
    for (const Json& one : list["value"].items())
        if (one["name"].text() == name) return &one;
    return nullptr;
}

class SizeRoutes : public testing::Test {
 protected:
    Json sizes_in(const std::string& location) {
        return parsed(world_.call({"GET",
                                   "/subscriptions/s/providers/Microsoft.MachineLearningServices/locations/" +
                                       location + "/vmSizes",
                                   "",
                                   {}}));
    }
    ports::HttpResponse send(const std::string& method, const std::string& name, const std::string& body = "",
                             std::map<std::string, std::string> headers = {}) {
        return world_.call({method, "/lavant/v1/sizes" + name, body, std::move(headers)});
    }
    std::string refused(const std::string& name, const std::string& body) {
        const auto response = send("PUT", "/" + name, body);
        EXPECT_EQ(response.status, 400) << response.body;
        return response.body;
    }
    ports::HttpResponse submit(const std::string& name, const std::string& size, int instances = 1) {
        return world_.call(
            {"PUT",
             kWs + "/jobs/" + name,
             R"({"properties":{"jobType":"Command","command":"x","environmentId":"azureml:base:1","resources":)"
             R"({"instanceType":")" +
                 size + R"(","instanceCount":)" + std::to_string(instances) + "}}}",
             {}});
    }
    std::string warning_of(const std::string& job) {
        return world_.store.find_job(kDefaultWorkspace, job).value()->head.warning;
    }
    TestWorld world_;
    const std::string card_ = R"({"vcpus":16,"memoryGib":64,"gpus":1})";
};

TEST_F(SizeRoutes, ListsTheSizesOfARegionAsAzureDoes) {
    const Json everything = sizes_in("local");
    EXPECT_GE(everything["value"].size(), 120U);
    const Json* one = named(everything, "Standard_NC4as_T4_v3");
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->dump(),
              R"({"name":"Standard_NC4as_T4_v3","family":"standardNCASv3_T4Family","vCPUs":4,"gpus":1,)"
              R"("osVhdSizeMB":0,"maxResourceVolumeMB":184320,"memoryGB":28.0,"lowPriorityCapable":true,)"
              R"("premiumIO":false,"estimatedVMPrices":{"billingCurrency":"USD","unitOfMeasure":"OneHour",)"
              R"("values":[{"retailPrice":0.526,"osType":"Linux","vmTier":"Standard"},)"
              R"({"retailPrice":0.1052,"osType":"Linux","vmTier":"LowPriority"}]},)"
              R"("supportedComputeTypes":["AmlCompute","ComputeInstance"]})");
    EXPECT_EQ(named(everything, "Standard_NC24"), nullptr) << "nobody should choose a retired size";
    const Json far = sizes_in("West%20India");
    EXPECT_NE(named(far, "Standard_DS3_v2"), nullptr);
    EXPECT_EQ(named(far, "Standard_NC4as_T4_v3"), nullptr);
    EXPECT_NE(named(far, "local"), nullptr);
}

TEST_F(SizeRoutes, AnUnknownRegionIsRefusedWithTheNearest) {
    const auto response =
        world_.call({"GET",
                     "/subscriptions/s/providers/Microsoft.MachineLearningServices/locations/wetus2/vmSizes",
                     "",
                     {}});
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("did you mean 'westus2'?"), std::string::npos) << response.body;
}

TEST_F(SizeRoutes, OurOwnListHasRetiredOnesAndTheMachineToo) {
    const Json list = parsed(send("GET", ""));
    EXPECT_EQ(list["value"].size(), size_catalogue().size() + 1);
    const Json* retired = named(list, "Standard_NC24");
    ASSERT_NE(retired, nullptr);
    EXPECT_EQ((*retired)["retiredOn"].text(), "2023-08-31");
    EXPECT_EQ((*retired)["successor"].text(), "Standard_NC24s_v3");
    const Json machine = parsed(send("GET", "/LOCAL"));
    EXPECT_EQ(
        machine.dump(),
        R"({"name":"local","family":"local","vcpus":4,"memoryGib":16.0,"gpus":0,"diskGib":0,"price":0.0,)"
        R"("lowPriorityPrice":0.0,"origin":"machine","regions":["all"]})");
    EXPECT_EQ(parsed(send("GET", "/standard_ds3_V2"))["name"].text(), "Standard_DS3_v2");
    EXPECT_EQ(send("GET", "/none").status, 404);
    EXPECT_EQ(send("GET", "/" + std::string(5000, 'x')).status, 404);
}

TEST_F(SizeRoutes, ASiteMakesListsAndDeletesItsOwn) {
    const auto made =
        send("PUT", "/RTX4090", R"({"vcpus":16,"memoryGib":64,"gpus":1,"price":0.5,"diskGib":900})");
    EXPECT_EQ(made.status, 201) << made.body;
    const std::string view =
        R"({"name":"RTX4090","family":"site","vcpus":16,"memoryGib":64.0,"gpus":1,"diskGib":900,"price":0.5,)"
        R"("lowPriorityPrice":0.1,"origin":"site","regions":["all"]})";
    EXPECT_EQ(made.body, view);
    EXPECT_EQ(send("GET", "/rtx4090").body, view);
    EXPECT_NE(named(parsed(send("GET", "")), "RTX4090"), nullptr);
    EXPECT_NE(named(sizes_in("westeurope"), "RTX4090"), nullptr);
    EXPECT_EQ(send("DELETE", "/rtx4090").status, 204);
    EXPECT_EQ(send("GET", "/RTX4090").status, 404);
    EXPECT_EQ(send("DELETE", "/rtx4090").status, 404);
}

TEST_F(SizeRoutes, ASecondPutReplacesUnlessItMustNot) {
    ASSERT_EQ(send("PUT", "/card", card_).status, 201);
    const auto again = send("PUT", "/CARD", card_, {{"If-None-Match", "*"}});
    EXPECT_EQ(again.status, 409);
    EXPECT_NE(again.body.find("there is a size 'CARD' already"), std::string::npos) << again.body;
    const auto replaced = send("PUT", "/card", R"({"vcpus":8,"memoryGib":0.5})");
    EXPECT_EQ(replaced.status, 200) << replaced.body;
    EXPECT_EQ(parsed(send("GET", "/card"))["vcpus"].integer(), 8);
    EXPECT_EQ(parsed(send("GET", "/card"))["memoryGib"].number(), 0.5);
}

TEST_F(SizeRoutes, RefusesWhatIsNoSize) {
    EXPECT_NE(refused("Standard_New", card_).find("are Azure's"), std::string::npos);
    EXPECT_NE(refused("local", card_).find("whole machine"), std::string::npos);
    EXPECT_NE(refused("9x", card_).find("begins with a letter"), std::string::npos);
    EXPECT_NE(refused("a%2Fb", card_).find("begins with a letter"), std::string::npos);
    EXPECT_NE(refused("card", "{}").find("must be from 1 to 1024"), std::string::npos);
    EXPECT_NE(refused("card", R"({"vcpu":1})").find("did you mean 'vcpus'?"), std::string::npos);
    EXPECT_NE(refused("card", R"({"vcpus":1,"memoryGib":1,"family":3})").find("family"), std::string::npos);
    for (const char* body :
         {"", "x", "[]", "3", R"({"vcpus":1.5,"memoryGib":1})", R"({"vcpus":"4","memoryGib":1})",
          R"({"vcpus":1,"memoryGib":"1"})", R"({"vcpus":1e300,"memoryGib":1})",
          R"({"vcpus":1,"memoryGib":1e300})", R"({"vcpus":1,"memoryGib":1,"gpus":-1})",
          R"({"vcpus":1,"memoryGib":1,"gpus":null})", R"({"vcpus":1,"memoryGib":1,"price":-1})"})
        refused("card", body);
    EXPECT_EQ(send("GET", "/card").status, 404);
    const Json answer = parsed(send("PUT", "/card", R"({"vcpus":0,"memoryGib":0,"gpus":99})"));
    EXPECT_EQ(answer["error"]["details"].size(), 3U) << "all problems at once";
}

TEST_F(SizeRoutes, OnlyOwnersChangeSizes) {
    const Json made =
        parsed(world_.call({"POST", "/lavant/v1/keys", R"({"user":"bob","role":"contributor"})", {}}));
    const std::map<std::string, std::string> bob{{"Authorization", "Bearer " + made["key"].string()}};
    EXPECT_EQ(send("PUT", "/card", card_, bob).status, 403);
    EXPECT_EQ(send("DELETE", "/card", "", bob).status, 403);
    EXPECT_EQ(send("GET", "", "", bob).status, 200);
}

TEST_F(SizeRoutes, WhatIsNotTheSitesCannotBeDeleted) {
    EXPECT_NE(send("DELETE", "/Standard_DS3_v2").body.find("is Azure's"), std::string::npos);
    EXPECT_EQ(send("DELETE", "/local").status, 409);
}

TEST_F(SizeRoutes, ASizeThatAComputeHasStays) {
    ASSERT_EQ(send("PUT", "/card", card_).status, 201);
    AssetWrite compute;
    compute.asset.key = {kDefaultWorkspace, "computes", "gpu-cluster", ""};
    compute.asset.body =
        R"({"location":"local","properties":{"computeType":"AmlCompute","properties":{"vmSize":"CARD"}}})";
    world_.write({compute});
    const auto kept = send("DELETE", "/card");
    EXPECT_EQ(kept.status, 409);
    EXPECT_NE(kept.body.find("'gpu-cluster'"), std::string::npos) << kept.body;
    const auto changed = send("PUT", "/card", R"({"vcpus":8,"memoryGib":64})");
    EXPECT_EQ(changed.status, 409);
    EXPECT_NE(changed.body.find("'gpu-cluster'"), std::string::npos) << changed.body;
    EXPECT_EQ(parsed(send("GET", "/card"))["vcpus"].integer(), 16);
    EXPECT_EQ(send("PUT", "/card", card_).status, 200) << "it stays as it is";
    compute.remove = true;
    world_.write({compute});
    EXPECT_EQ(send("PUT", "/card", R"({"vcpus":8,"memoryGib":64})").status, 200);
    EXPECT_EQ(send("DELETE", "/card").status, 204);
}

TEST_F(SizeRoutes, ThereIsALimitToTheSitesSizes) {
    world_.api();
    std::vector<AssetWrite> writes;
    for (int i = 0; i < kSiteSizesMax; ++i) {
        AssetWrite& write = writes.emplace_back();
        const std::string name = "s" + std::to_string(i);
        write.asset.key = size_key(name);
        write.asset.body = R"({"name":")" + name + R"(","size":{"vcpus":1,"memoryGib":1}})";
    }
    world_.write(std::move(writes));
    EXPECT_EQ(send("PUT", "/one-more", card_).status, 429);
    EXPECT_EQ(send("PUT", "/s7", card_).status, 200) << "one that is there can be changed";
}

TEST_F(SizeRoutes, AFullInboxIsSaid) {
    world_.inbox_full = true;
    EXPECT_EQ(send("PUT", "/card", card_).status, 429);
}

// --- jobs ---

TEST_F(SizeRoutes, AJobOfARetiredSizeRunsOnItsSuccessorWithAWarning) {
    ASSERT_EQ(submit("a1", "standard_nc24").status, 201);
    EXPECT_EQ(warning_of("a1"),
              "Standard_NC24 was retired on 2023-08-31; its successor Standard_NC24s_v3 is used");
    ASSERT_EQ(submit("a2", "Standard_NC24s_v3").status, 201);
    EXPECT_EQ(warning_of("a2"), "");
}

TEST_F(SizeRoutes, BothWarningsAreTold) {
    world_.capacity.gpus = 0;
    ASSERT_EQ(submit("a1", "Standard_NC6").status, 201);
    EXPECT_EQ(
        warning_of("a1"),
        "Standard_NC6 was retired on 2023-08-31; its successor Standard_NC6s_v3 is used; Standard_NC6s_v3 is "
        "larger than this machine: a node gets 0 of 1 GPUs");
}

TEST_F(SizeRoutes, AJobOfARetiredSizeIsRefusedWhereTheServerIsSetSo) {
    world_.retired_sizes = RetiredSizes::Refuse;
    const auto response = submit("a1", "Standard_NC24");
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(
        response.body.find("Standard_NC24 was retired on 2023-08-31; use its successor Standard_NC24s_v3"),
        std::string::npos)
        << response.body;
    EXPECT_NE(response.body.find("properties.resources.instanceType"), std::string::npos);
    EXPECT_EQ(submit("a1", "Standard_NC24s_v3").status, 201);
}

TEST_F(SizeRoutes, JobsRunOnTheSitesSizesAndOnTheWholeMachine) {
    EXPECT_EQ(submit("a1", "card").status, 400);
    ASSERT_EQ(send("PUT", "/card", card_).status, 201);
    EXPECT_EQ(submit("a1", "Card").status, 201);
    EXPECT_EQ(submit("a2", "local").status, 201);
    EXPECT_EQ(warning_of("a2"), "");
    const auto near = submit("a3", "crd");
    EXPECT_NE(near.body.find("did you mean 'card'?"), std::string::npos) << near.body;
}

}  // namespace
}  // namespace lavant::api
