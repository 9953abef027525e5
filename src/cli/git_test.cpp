#include "cli/git.h"

#include <gtest/gtest.h>

namespace lavant::cli {
namespace {

TEST(WithoutCredentials, LeavesNoTokenInAnyPlace) {
    EXPECT_EQ(without_credentials("https://token@host/x.git"), "https://host/x.git");
    EXPECT_EQ(without_credentials("https://ann:secret@host:8443/x"), "https://host:8443/x");
    EXPECT_EQ(without_credentials("https://host/token@org/x"), "https://host/org/x");
    EXPECT_EQ(without_credentials("https://a@b@host/x"), "https://host/x");
    EXPECT_EQ(without_credentials("https://token@host/org/@scope/x"), "https://host/org/scope/x");
    EXPECT_EQ(without_credentials("https://u:t@host/o/p@x/r?access_token=t"), "https://host/o/x/r");
    EXPECT_EQ(without_credentials("https://host/x"), "https://host/x");
    EXPECT_EQ(without_credentials("git@host:org/x.git"), "git@host:org/x.git");  // a user, not a secret
    EXPECT_EQ(without_credentials(""), "");
}

TEST(ReadGit, VariablesWinAsWithTheSdk) {
    const GitState state = read_git(false, [](const std::string& name) -> std::string {
        if (name == "AZUREML_GIT_REPOSITORY_URI") return "https://t@host/r";
        if (name == "AZUREML_GIT_BRANCH") return "b";
        if (name == "AZUREML_GIT_COMMIT") return "c";
        if (name == "AZUREML_GIT_DIRTY") return "1";
        return name == "AZUREML_GIT_BUILD_ID" ? "42" : "";
    });
    EXPECT_EQ(state.properties.at("mlflow.source.git.repoURL"), "https://host/r");
    EXPECT_EQ(state.properties.at("mlflow.source.git.branch"), "b");
    EXPECT_EQ(state.properties.at("mlflow.source.git.commit"), "c");
    EXPECT_EQ(state.properties.at("azureml.git.dirty"), "True");
    EXPECT_EQ(state.properties.at("azureml.git.build_id"), "42");
    EXPECT_FALSE(state.properties.contains("azureml.git.build_uri"));
    EXPECT_TRUE(state.diff.empty());
}

}  // namespace
}  // namespace lavant::cli
