#include "wire/az_asset.h"

#include <gtest/gtest.h>

namespace lavant::wire {
namespace {

const std::string kWorkspace =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.MachineLearningServices/workspaces/w";

Json arm(const std::string& path, const std::string& name, const char* properties) {
    return Json::object({{"id", kWorkspace + path},
                         {"name", name},
                         {"systemData", Json::object({{"createdAt", "2026-01-02T03:04:05Z"},
                                                      {"createdBy", "u"},
                                                      {"createdByType", "User"},
                                                      {"lastModifiedAt", "2026-01-02T03:04:05Z"}})},
                         {"properties", *parse_json(properties)}});
}

Json without_context(Json shown) {
    EXPECT_EQ(shown.get("creation_context.created_at").text(), "2026-01-02T03:04:05+00:00");
    shown.remove("creation_context");
    return shown;
}

TEST(AzAsset, DataIsShownInTheWordsOfItsFile) {
    const Json shown = without_context(to_az_data(arm(
        "/data/d/versions/3", "3", R"({"dataType":"uri_file","dataUri":"u","tags":{},"isArchived":false})")));
    EXPECT_EQ(shown.dump(), R"({"id":")" + kWorkspace +
                                R"(/data/d/versions/3","name":"d","path":"u","properties":{},)"
                                R"("resourceGroup":"g","tags":{},"type":"uri_file","version":"3"})");
    const Json container =
        to_az_data(arm("/data/d", "d", R"({"dataType":"uri_file","latestVersion":"3","isArchived":true})"));
    EXPECT_EQ(container["latest_version"].text(), "3");
    EXPECT_FALSE(container.has("version"));
    EXPECT_TRUE(container["is_archived"].boolean());
}

TEST(AzAsset, ModelsHaveTheirFlavors) {
    const Json shown = to_az_model(arm("/models/m/versions/1", "1",
                                       R"({"modelType":"mlflow_model","modelUri":"u","jobName":"j",
                                           "flavors":{"sk":{"data":{"v":"1"}}}})"));
    EXPECT_EQ(shown["id"].text(), "azureml:" + kWorkspace + "/models/m/versions/1");
    EXPECT_EQ(shown["flavors"].dump(), R"({"sk":{"v":"1"}})");
    EXPECT_EQ(shown["job_name"].text(), "j");
}

TEST(AzAsset, EnvironmentsShowTheirCondaFileAsAMapping) {
    const Json shown =
        to_az_environment(arm("/environments/e/versions/1", "1",
                              R"({"image":"i","condaFile":"name: x\n","osType":"Linux","properties":{}})"));
    EXPECT_EQ(shown["conda_file"].dump(), R"({"name":"x"})");
    EXPECT_EQ(shown["os_type"].text(), "linux");
    const Json broken =
        to_az_environment(arm("/environments/e/versions/1", "1", R"({"image":"i","condaFile":"[ no"})"));
    EXPECT_EQ(broken["conda_file"].text(), "[ no");
}

TEST(AzAsset, ComponentsShowTheirOwnWords) {
    const Json shown = to_az_component(arm(
        "/components/c/versions/1", "1",
        R"({"componentSpec":{"name":"c","version":"1","type":"command","command":"x","_source":"YAML"}})"));
    EXPECT_EQ(shown["command"].text(), "x");
    EXPECT_EQ(shown["type"].text(), "command");
    EXPECT_FALSE(shown.has("_source"));
}

TEST(AzAsset, DatastoresShowNoSecret) {
    const Json shown = to_az_datastore(
        arm("/datastores/d", "d",
            R"({"datastoreType":"AzureDataLakeGen2","accountName":"a","filesystem":"f","credentials":
               {"credentialsType":"ServicePrincipal","tenantId":"t","secrets":{"clientSecret":"hush"}}})"));
    EXPECT_EQ(shown["type"].text(), "azure_data_lake_gen2");
    EXPECT_EQ(shown["credentials"].dump(), R"({"tenant_id":"t"})");
    EXPECT_EQ(shown.dump().find("hush"), std::string::npos);
}

TEST(AzAsset, SchedulesShowTriggerAndJob) {
    const Json shown = to_az_schedule(
        arm("/schedules/s", "s",
            R"({"isEnabled":false,"trigger":{"triggerType":"Recurrence","frequency":"Week","interval":2,
                "schedule":{"hours":[3],"minutes":[0],"weekDays":["Monday"]}},
                "action":{"actionType":"CreateJob","jobDefinition":{"jobType":"Pipeline",
                "experimentName":"e","sourceJobId":"/j"}}})"));
    EXPECT_EQ(shown["trigger"].dump(), R"({"type":"recurrence","frequency":"week","interval":2,)"
                                       R"("schedule":{"hours":[3],"minutes":[0],"week_days":["monday"]}})");
    EXPECT_EQ(shown["create_job"].dump(), R"({"experiment_name":"e","id":"azureml:/j","type":"pipeline"})");
    EXPECT_FALSE(shown["is_enabled"].boolean(true));
}

TEST(AzAsset, WhateverAServerSaysIsShownSomehow) {
    for (const char* odd :
         {"{}", "[]", "null", R"({"id":7,"name":[],"properties":"x","systemData":1})",
          R"({"properties":{"condaFile":{},"flavors":[],"trigger":3,"action":[],"tags":7}})"}) {
        const Json value = *parse_json(odd);
        for (const auto show :
             {to_az_data, to_az_model, to_az_environment, to_az_component, to_az_datastore, to_az_schedule})
            EXPECT_TRUE(show(value).is_object()) << odd;
    }
}

}  // namespace
}  // namespace lavant::wire
