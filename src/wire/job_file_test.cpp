#include "wire/job_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/limits.h"

namespace lavant::wire {
namespace {

class JobFile : public testing::Test {
 protected:
    JobFile() : folder_(testing::TempDir() + "job_file_" + std::to_string(::getpid())) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_ + "/src");
    }
    ~JobFile() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }

    std::string folder_;
};

Result<spec::CommandJobSpec> load_command_file(const std::string& path,
                                               const std::vector<std::string>& sets) {
    LAVANT_TRY(spec::JobSpec job, load_job_file(path, sets));
    return std::get<spec::CommandJobSpec>(job);
}

const std::string kJob = "command: echo hi\ncode: src\nenvironment: azureml:e:1\ninputs: {lr: 0.1}\n";

TEST_F(JobFile, LoadsTheFileAndResolvesPathsBesideIt) {
    const auto job = load_command_file(write("job.yml", kJob), {});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->code_local, folder_ + "/src");
}

TEST_F(JobFile, SettingsReplaceAndAddValues) {
    const auto job =
        load_command_file(write("job.yml", kJob),
                          {"inputs.lr=0.5", "display_name=a=b", "tags.team=x", "resources.instance_count=2",
                           "limits={timeout: 5}", "inputs.s='7'", "description="});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->inputs[0].value, "0.5");
    EXPECT_EQ(job->inputs[1].value_type, "string");
    EXPECT_EQ(job->display_name, "a=b");
    EXPECT_EQ(job->tags.at("team"), "x");
    EXPECT_EQ(job->resources->instance_count, 2);
    EXPECT_EQ(job->timeout_seconds, 5);
}

TEST_F(JobFile, RefusesSettingsThatLeadNowhere) {
    const std::string path = write("job.yml", kJob);
    for (const char* setting : {"noequals", "=x", "command.x=1", "a..b=1", "inputs.lr.x=2", "inputs={"}) {
        EXPECT_FALSE(load_job_file(path, {setting})) << setting;
    }
    EXPECT_FALSE(load_job_file(path, {"resources.instance_count=0"}));
}

TEST_F(JobFile, MissingCodeFolderIsOneClearSentence) {
    const std::string path = write("job.yml", "command: x\ncode: ./gone\nenvironment: azureml:e:1\n");
    const auto job = load_job_file(path, {});
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().message,
              path + ": the job is not valid: code: the code folder './gone' does not exist (looked for " +
                  folder_ + "/gone) (line 2, column 7)");
}

TEST_F(JobFile, FilesThatAreNoJobsAreRefusedInOneSentence) {
    EXPECT_FALSE(load_job_file(folder_ + "/none.yml", {}));
    EXPECT_FALSE(load_job_file(folder_, {}));
    EXPECT_FALSE(load_job_file(write("list.yml", "- a\n"), {}));
    EXPECT_FALSE(load_job_file(write("empty.yml", ""), {}));
    EXPECT_FALSE(load_job_file(write("broken.yml", "a: [\n"), {}));
    const auto large = load_job_file(write("large.yml", std::string(limits::kYamlBytes + 1, 'x')), {});
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().message.find("larger than the limit"), std::string::npos)
        << large.error().message;
}

TEST_F(JobFile, FollowsComponentAndCondaFilesRelativeToTheirOwnFolder) {
    std::filesystem::create_directories(folder_ + "/parts/code");
    write("parts/conda.yml", "name: c\n");
    write("parts/train.yml",
          "type: command\nname: t\ncommand: x\ncode: code\nenvironment: {image: i, conda_file: conda.yml}\n");
    const auto job = load_command_file(write("job.yml", "component: ./parts/train.yml\n"), {});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->code_local, folder_ + "/parts/code");
    EXPECT_EQ(job->environment.conda_text, "name: c\n");
}

TEST_F(JobFile, FindingsForAzureNameSizesThatItHasNot) {
    const auto with_size = [&](const std::string& size) {
        const auto job =
            load_job_file(write("job.yml", kJob + "resources: {instance_type: " + size + "}\n"), {});
        EXPECT_TRUE(job) << job.error().message;
        return job ? azure_findings(*job) : std::vector<spec::Finding>{{true, "not loaded"}};
    };
    EXPECT_TRUE(with_size("Standard_NC24s_v3").empty());
    EXPECT_EQ(with_size("Standard_NC24"),
              (std::vector<spec::Finding>{{true,
                                           "resources.instance_type: refused; Standard_NC24 was retired on "
                                           "2023-08-31; use its successor Standard_NC24s_v3"}}));
    EXPECT_EQ(with_size("rtx4090"),
              (std::vector<spec::Finding>{
                  {true, "resources.instance_type: refused; Azure has no size 'rtx4090'"}}));
}

}  // namespace
}  // namespace lavant::wire
