#include "api/curated.h"

#include <gtest/gtest.h>

#include "api/test_world.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kSklearn = "AzureML-sklearn-1.0-ubuntu20.04-py38-cpu";

Json get(TestWorld& world, const std::string& path) {
    const auto response = world.call({"GET", path, "", {}});
    EXPECT_EQ(response.status, 200) << path << response.body;
    return json_of(response);
}

TEST(Curated, AreFoundInEveryWorkspace) {
    TestWorld world;
    const std::string all = kWs + "/environments/" + kSklearn;
    const Json version = get(world, all + "/versions/33");
    EXPECT_EQ(version["id"].text(), "azureml://registries/azureml/environments/" + kSklearn + "/versions/33");
    EXPECT_EQ(version.get("properties.environmentType").text(), "Curated");
    const std::string latest = get(world, all).get("properties.latestVersion").string();
    EXPECT_EQ(
        get(world, all + "/versions?$orderBy=createdtime%20desc&$top=1")["value"].items().front()["name"],
        Json(latest));
    EXPECT_EQ(get(world, all + "/labels/latest")["name"].text(), latest);
    for (const char* bad : {"/versions/0", "/versions/100000", "/versions/x", "/labels/newest"})
        EXPECT_EQ(world.call({"GET", all + bad, "", {}}).status, 404) << bad;
    EXPECT_EQ(world.call({"GET", kWs + "/environments/AzureML-none", "", {}}).status, 404);
    EXPECT_EQ(get(world, kWs + "/environments")["value"].size(), 1U) << "lists have the workspace's own";
}

TEST(Curated, AreFoundInTheirRegistry) {
    TestWorld world;
    const Json found = get(world, "/registrymanagement/v1.0/registries/azureml/discovery");
    EXPECT_EQ(found["primaryRegionResourceProviderUri"].text(), "https://127.0.0.1:8443/");
    for (const std::string start : {"", "/mferp/managementfrontend"}) {
        const std::string all = start +
                                "/subscriptions/azureml/resourceGroups/azureml/providers/"
                                "Microsoft.MachineLearningServices/registries/";
        EXPECT_GT(get(world, all + "azureml/environments")["value"].size(), 5U);
        EXPECT_EQ(get(world, all + "azureml/environments/sklearn-1.5/versions/3")["id"].text(),
                  "azureml://registries/azureml/environments/sklearn-1.5/versions/3");
        EXPECT_EQ(get(world, all + "azureml/environments/sklearn-1.5/versions")["value"].size(), 1U);
        EXPECT_EQ(world.call({"GET", all + "azureml/environments/none", "", {}}).status, 404);
        EXPECT_EQ(world.call({"GET", all + "other/environments", "", {}}).status, 404);
    }
    EXPECT_EQ(world.call({"GET", "/registrymanagement/v1.0/registries/other/discovery", "", {}}).status, 404);
}

TEST(Curated, AreTakenByJobsWithANote) {
    TestWorld world;
    int number = 0;
    for (const char* id : {"azureml://registries/azureml/environments/sklearn-1.5/labels/latest",
                           "azureml://registries/azureml/environments/sklearn-1.5/versions/7",
                           "azureml:AzureML-sklearn-1.5@latest"}) {
        const auto made =
            world.call({"PUT",
                        kWs + "/jobs/j" + std::to_string(++number),
                        R"({"properties":{"jobType":"Command","command":"x","environmentId":")" +
                            std::string(id) + "\"}}",
                        {}});
        EXPECT_EQ(made.status, 201) << made.body;
        EXPECT_EQ(json_of(made).get("properties.environmentId").text(), id);
    }
}

TEST(Curated, AreReferredToByTheRegistry) {
    const std::string start = "azureml://registries/azureml/environments/AzureML-x/";
    EXPECT_EQ(to_registry_reference("azureml:AzureML-x:3"), start + "versions/3");
    EXPECT_EQ(to_registry_reference(kWs + "/environments/AzureML-x/versions/3"), start + "versions/3");
    EXPECT_EQ(to_registry_reference("azureml:AzureML-x@latest"), start + "labels/latest");
    for (const char* as_it_is :
         {"azureml:mine:1", "", "azureml://registries/a/environments/AzureML-x/versions/1"})
        EXPECT_EQ(to_registry_reference(as_it_is), as_it_is);
}

TEST(Looks, ChangeNothingAndSayItIsFine) {
    TestWorld world;
    const auto diagnosed = world.call({"POST", kWs + "/diagnose", "{}", {}});
    EXPECT_EQ(diagnosed.status, 200);
    EXPECT_TRUE(json_of(diagnosed).get("value.otherResults").is_array());
    const std::string validate =
        "/subscriptions/s1/resourcegroups/g1/providers/Microsoft.Resources/deployments/w1/validate";
    const auto fine = world.call({"POST", validate, R"({"properties":{"template":{"resources":[]}}})", {}});
    EXPECT_EQ(fine.status, 200) << fine.body;
    EXPECT_EQ(json_of(fine).get("properties.provisioningState").text(), "Succeeded");
    EXPECT_EQ(world.call({"POST", validate, "{}", {}}).status, 400);
}

}  // namespace
}  // namespace lavant::api
