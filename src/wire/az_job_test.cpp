#include "wire/az_job.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/job_file.h"

namespace lavant::wire {
namespace {

const std::string kWorkspace =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.MachineLearningServices/workspaces/w";

Json arm() {
    return parse_json(R"({"id":")" + kWorkspace + R"(/jobs/j1","name":"j1",
        "systemData":{"createdAt":"2026-01-02T03:04:05.000006Z","createdBy":"ann","createdByType":"User",
                      "lastModifiedAt":"2026-01-02T03:04:05.000006Z"},
        "properties":{"status":"Failed","displayName":"j1","jobType":"Command","command":"python a.py",
          "codeId":")" +
                      kWorkspace + R"(/codes/c/versions/1",
          "environmentId":")" +
                      kWorkspace + R"(/environments/base/versions/3",
          "computeId":")" +
                      kWorkspace + R"(/computes/cpu",
          "experimentName":"e","tags":{"camelCase":"kept"},"environmentVariables":{"fooBar":"1"},
          "inputs":{"lr":{"jobInputType":"literal","value":"0.1"},
                    "data":{"jobInputType":"uri_folder","uri":"azureml://datastores/d/paths/p/",
                            "mode":"ReadOnlyMount"},
                    "asset":{"jobInputType":"uri_file","uri":")" +
                      kWorkspace + R"(/data/d/versions/2"},
                    "model":{"jobInputType":"mlflow_model","uri":")" +
                      kWorkspace + R"(/models/m/versions/3"},
                    "short":{"jobInputType":"uri_file","uri":"d@latest"}},
          "outputs":{"out":{"jobOutputType":"uri_folder","mode":"ReadWriteMount","assetName":"m"}},
          "resources":{"instanceCount":2,"instanceType":"Standard_DS3_v2","properties":{}},
          "limits":{"jobLimitsType":"Command","timeout":"PT5M"},
          "distribution":{"distributionType":"PyTorch","processCountPerInstance":2},
          "queueSettings":{"jobTier":"Standard"},
          "error":{"code":"UserError","exitCode":3},
          "services":{"Studio":{"jobServiceType":"Studio","endpoint":"https://x"}}}})")
        .value();
}

TEST(AzJob, HasTheWordsOfJobFiles) {
    const Json job = to_az_job(arm());
    EXPECT_EQ(job["name"].text(), "j1");
    EXPECT_EQ(job["id"].text(), "azureml:" + kWorkspace + "/jobs/j1");
    EXPECT_EQ(job["type"].text(), "command");
    EXPECT_EQ(job["environment"].text(), "azureml:base:3");
    EXPECT_EQ(job["compute"].text(), "azureml:cpu");
    EXPECT_EQ(job["code"].text(), "azureml:" + kWorkspace + "/codes/c/versions/1");
    EXPECT_EQ(job.get("inputs.lr").text(), "0.1");
    EXPECT_EQ(job.get("inputs.data.mode").text(), "ro_mount");
    EXPECT_EQ(job.get("inputs.data.path").text(), "azureml://datastores/d/paths/p/");
    EXPECT_EQ(job.get("inputs.asset.path").text(), "azureml:d:2");
    EXPECT_EQ(job.get("inputs.model.path").text(), "azureml:m:3");
    EXPECT_EQ(job.get("inputs.short.path").text(), "azureml:d@latest");
    EXPECT_EQ(job.get("outputs.out.name").text(), "m");
    EXPECT_EQ(job.get("resources.instance_count").integer(), 2);
    EXPECT_EQ(job.get("limits.timeout").integer(), 300);
    EXPECT_EQ(job.get("distribution.type").text(), "pytorch");
    EXPECT_EQ(job.get("distribution.process_count_per_instance").integer(), 2);
    EXPECT_EQ(job.get("queue_settings.job_tier").text(), "standard");
    EXPECT_EQ(job.get("services.Studio.type").text(), "Studio");
    EXPECT_EQ(job.get("error.exit_code").integer(), 3);
    EXPECT_EQ(job.get("creation_context.created_at").text(), "2026-01-02T03:04:05.000006+00:00");
    EXPECT_EQ(job["resourceGroup"].text(), "g");
    EXPECT_EQ(job.get("tags.camelCase").text(), "kept");  // the user's own words stay
    EXPECT_EQ(job.get("environment_variables.fooBar").text(), "1");
}

TEST(AzJob, MakesAJobFileThatIsTheSameJob) {
    const std::string text = to_job_file(to_az_job(arm())).to_yaml();
    const auto loaded = load_job_text(text, "saved.yml", "/", {});
    ASSERT_TRUE(loaded) << loaded.error().message << "\n" << text;
    const auto* job = std::get_if<spec::CommandJobSpec>(&*loaded);
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(job->name, "");
    EXPECT_EQ(job->display_name, "");  // it was made up from the name
    EXPECT_EQ(job->command, "python a.py");
    EXPECT_EQ(job->environment.reference, "base:3");
    EXPECT_EQ(job->compute, "cpu");
    EXPECT_EQ(job->resources->instance_count, 2);
    EXPECT_EQ(job->timeout_seconds, 300);
    EXPECT_EQ(job->inputs.size(), 5U);
    EXPECT_EQ(job->tags.at("camelCase"), "kept");
}

}  // namespace
}  // namespace lavant::wire
