#include "api/job_references.h"

#include <gtest/gtest.h>

#include "api/test_world.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

class JobReferences : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& path, const std::string& properties) {
        return world_.call({"PUT", kWs + path, R"({"properties":{)" + properties + "}}", {}});
    }
    ports::HttpResponse pipeline(const std::string& more) {
        return put("/jobs/p" + std::to_string(++count_), R"("jobType":"Pipeline",)" + more);
    }
    ports::HttpResponse sweep(const std::string& environment) {
        return put("/jobs/s" + std::to_string(++count_),
                   R"("jobType":"Sweep","searchSpace":{"x":["choice",[[1,2]]]},)"
                   R"("objective":{"goal":"Maximize","primaryMetric":"m"},)"
                   R"("samplingAlgorithm":{"samplingAlgorithmType":"Random"},)"
                   R"("limits":{"jobLimitsType":"Sweep"},)"
                   R"("trial":{"command":"echo","environmentId":")" +
                       environment + R"("})");
    }
    static std::string step(const std::string& component, const std::string& more = "") {
        return R"("jobs":{"a":{"type":"command","componentId":")" + component + "\"" + more + "}}";
    }
    TestWorld world_;
    int count_ = 0;
};

TEST_F(JobReferences, ComponentsOfStepsMustBeThere) {
    const auto refused = pipeline(step(kWs + "/components/gone/versions/1"));
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("component 'gone:1' is not registered"), std::string::npos) << refused.body;
    EXPECT_NE(refused.body.find("properties.jobs.a.componentId"), std::string::npos) << refused.body;
    ASSERT_EQ(put("/components/here/versions/1",
                  R"("componentSpec":{"name":"here","version":"1","type":"command","command":"echo",)"
                  R"("environment":"azureml:base:1"})")
                  .status,
              201);
    EXPECT_EQ(pipeline(step(kWs + "/components/here/versions/1")).status, 201);
    EXPECT_EQ(pipeline(step("azureml:here:1")).status, 201);
    EXPECT_EQ(pipeline(step("azureml://registries/r/components/c/versions/1")).status, 201);
}

TEST_F(JobReferences, ComputesMustBeThereUnlessTheyAreServerlessOrBound) {
    const auto refused =
        pipeline(R"("settings":{"default_compute":")" + kWs + R"(/computes/gone"},"jobs":{})");
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("there is no compute 'gone'"), std::string::npos) << refused.body;
    EXPECT_EQ(pipeline(R"("settings":{"default_compute":"azureml:gone"},"jobs":{})").status, 400);
    EXPECT_EQ(pipeline(R"("settings":{"default_compute":"serverless"},"jobs":{})").status, 201);
    EXPECT_EQ(pipeline(R"("settings":{"default_compute":"azureml:serverless"},"jobs":{})").status, 201);
    const std::string bound = R"(,"computeId":"${{parent.inputs.where}}")";
    EXPECT_EQ(pipeline(step("azureml://registries/r/components/c/versions/1", bound)).status, 201);
    const std::string gone = R"(,"computeId":")" + kWs + R"(/computes/gone")";
    EXPECT_EQ(pipeline(step("azureml://registries/r/components/c/versions/1", gone)).status, 400);
}

TEST_F(JobReferences, NonsenseInTheirPlacesIsNoReference) {
    for (const char* more : {R"("settings":3,"jobs":{})", R"("settings":{"default_compute":{}},"jobs":{})",
                             R"("jobs":{"a":{"type":"command","componentId":[]}})", R"("jobs":{"a":7})"})
        EXPECT_LT(pipeline(more).status, 500) << more;
}

TEST_F(JobReferences, TheEnvironmentOfATrialIsResolved) {
    const auto made = sweep("azureml:base:1");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_NE(made.body.find(kWs + "/environments/base/versions/1"), std::string::npos) << made.body;
    const auto curated = sweep("azureml:AzureML-sklearn-1.5@latest");
    ASSERT_EQ(curated.status, 201) << curated.body;
    EXPECT_NE(curated.body.find("azureml://registries/azureml/environments/"), std::string::npos);
    EXPECT_EQ(sweep("azureml:gone:1").status, 404);
}

TEST_F(JobReferences, AComponentThatIsTheWholeJobMustBeThere) {
    const auto refused = pipeline(R"("jobs":{},"componentId":"azureml:gone:1")");
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("properties.componentId"), std::string::npos) << refused.body;
}

TEST_F(JobReferences, TheOnlyMeasureOfATaskIsFilledIn) {
    const auto made = put(
        "/jobs/ner", R"("jobType":"AutoML","taskDetails":{"taskType":"TextNER",)"
                     R"("trainingData":{"jobInputType":"mltable","uri":"azureml://datastores/d/paths/p"}})");
    ASSERT_EQ(made.status, 201) << made.body;
    const auto body = wire::parse_json(made.body);
    EXPECT_EQ(body->get("properties.taskDetails.primaryMetric").text(), "Accuracy");
}

TEST_F(JobReferences, TheKeyOfATeacherIsNotKept) {
    const std::string connection =
        R"("properties":{"azureml.enable_distillation":"True","azureml.connection_information":)"
        R"("{\"name\":\"c\",\"credentials\":{\"type\":\"api_key\",\"key\":\"hush\"},\"api_key\":\"hush\"}"})";
    const std::string details =
        R"("jobType":"FineTuning","fineTuningDetails":{"taskType":"ChatCompletion"},)";
    for (int round = 0; round < 2; ++round) {  // made, then edited
        const auto made = put("/jobs/t", details + connection);
        ASSERT_LT(made.status, 300) << made.body;
        EXPECT_EQ(made.body.find("hush"), std::string::npos) << made.body;
        const auto kept = wire::parse_json(world_.call({"GET", kWs + "/jobs/t", "", {}}).body);
        EXPECT_EQ((*kept)["properties"]["properties"]["azureml.connection_information"].text(),
                  R"({"name":"c","credentials":{"type":"api_key","key":"***"},"api_key":"***"})");
    }
    const auto odd =
        put("/jobs/u", details + R"("properties":{"azureml.connection_information":"key=hush"})");
    ASSERT_EQ(odd.status, 201) << odd.body;
    EXPECT_EQ(odd.body.find("hush"), std::string::npos) << odd.body;
}

}  // namespace
}  // namespace lavant::api
