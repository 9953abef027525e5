#include "cli/submit.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/yaml.h"

namespace lavant::cli {
namespace {

// The command of the job file that the words make, as a reader of the file gets it.
std::string command_of(std::vector<std::string> words) {
    QuickJob job;
    job.code = "none";
    job.words = std::move(words);
    const auto text = to_job_text(job, ".");
    if (!text) return text.error().error.message;
    const auto file = wire::parse_yaml(*text, "job.yml");
    return file ? file->find("command")->text : file.error().message;
}

TEST(Submit, WordsReachTheShellAsTheyAre) {
    EXPECT_EQ(command_of({"python", "train.py", "--lr", "0.1"}), "python train.py --lr 0.1");
    EXPECT_EQ(command_of({"echo", "a b", "$HOME", "it's", ""}), R"(echo 'a b' '$HOME' 'it'\''s' '')");
    EXPECT_EQ(command_of({"a | b > c"}), "a | b > c");  // one word is a line for the shell
    EXPECT_EQ(command_of({"printf", "x\ny: #z", "\x7f"}), "printf 'x\ny: #z' '\x7f'");
}

TEST(Submit, SaysTheRestInTheFilesWords) {
    QuickJob job;
    job.words = {"true"};
    job.code = "src";
    job.size = "Standard_DS3_v2";
    job.instances = 2;
    job.timeout_s = 60;
    job.tags = {"team=vision=1"};
    job.variables = {"A="};
    const auto text = to_job_text(job, "elsewhere");
    ASSERT_TRUE(text);
    const auto file = wire::parse_yaml(*text, "job.yml");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("code")->text, "../src");  // a job file's paths start from its folder
    EXPECT_EQ(file->find("environment")->text, "host");
    EXPECT_EQ(file->find("resources")->find("instance_count")->integer, 2);
    EXPECT_EQ(file->find("limits")->find("timeout")->integer, 60);
    EXPECT_EQ(file->find("tags")->find("team")->text, "vision=1");
    EXPECT_EQ(file->find("environment_variables")->find("A")->text, "");
}

TEST(Submit, RefusesWhatIsNoPairAndNoEnvironment) {
    QuickJob job;
    job.words = {"true"};
    job.code = "none";
    job.tags = {"team"};
    EXPECT_EQ(to_job_text(job, ".").error().error.message,
              "cannot use --tag team: write it as --tag KEY=VALUE");
    job.tags.clear();
    job.environment = "/no/such/file";
    EXPECT_EQ(to_job_text(job, ".").error().exit, Exit::Usage);
}

}  // namespace
}  // namespace lavant::cli
