#include "cli/advice.h"

#include <gtest/gtest.h>

#include <string>

namespace lavant::cli {
namespace {

using wire::Json;

Json failed(int exit_code, const std::string& environment) {
    return Json::object({{"environment", environment},
                         {"error", Json::object({{"code", "UserError"}, {"exit_code", exit_code}})}});
}

TEST(Advice, NamesTheCommandThatIsNotThere) {
    for (const char* said : {"/bin/bash: line 1: trian: command not found\n", "sh: 1: trian: not found\n"}) {
        const std::string advice = advise(failed(127, "azureml:base:1"), said);
        EXPECT_NE(advice.find("'trian'"), std::string::npos) << advice;
        EXPECT_NE(advice.find("azureml:base:1"), std::string::npos) << advice;
    }
    EXPECT_EQ(advise(failed(127, "host"), "nothing that a shell says"), "");
}

TEST(Advice, NamesTheScriptThatDidNotTravel) {
    const std::string log = "python: can't open file '/job/trian.py': [Errno 2] No such file or directory\n";
    EXPECT_EQ(advise(failed(2, "host"), log),
              "there is no 'trian.py' in the job's folder; check `code`, and what .amlignore leaves out");
}

TEST(Advice, NamesTheFileThatIsNotExecutable) {
    EXPECT_EQ(advise(failed(126, "host"), "/bin/bash: line 1: ./train.sh: Permission denied\n"),
              "make it executable:\n    chmod +x ./train.sh");
}

TEST(Advice, NamesThePackageOfAModule) {
    const std::string log =
        "Traceback (most recent call last):\nModuleNotFoundError: No module named 'sklearn.svm'\n";
    EXPECT_EQ(
        advise(failed(1, "azureml:mine:2"), log),
        "environment azureml:mine:2 has no module 'sklearn.svm'; add this line to the pip section of its "
        "conda file, or run with the Python that is active here (--set environment=host):\n    - "
        "scikit-learn");
    Json job = failed(1, "host");
    job.set("properties", Json::object({{"lavant.python_home", "/opt/venv"}}));
    EXPECT_EQ(
        advise(job, log),
        "the job's Python has no module 'sklearn.svm'; install it there:\n    /opt/venv/bin/pip install "
        "scikit-learn");
}

TEST(Advice, TheLastModuleCountsAndHostileOnesDoNot) {
    EXPECT_NE(advise(failed(1, "e"), "No module named 'a'\nNo module named 'b'\n").find("'b'"),
              std::string::npos);
    EXPECT_EQ(advise(failed(1, "e"), "No module named 'a'\nValueError: 3\n"), "");  // it was caught
    EXPECT_EQ(advise(failed(1, "e"), "No module named '$(rm -rf /)'\n"), "");
    EXPECT_EQ(advise(failed(0, "e"), "No module named 'a'\n"), "");
    EXPECT_EQ(advise(Json::object({{"environment", "e"}}), "No module named 'a'\n"), "");
}

TEST(LastLines, AreTheLast) {
    EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b\nc");
    EXPECT_EQ(last_lines("a\nb", 5), "a\nb");
    EXPECT_EQ(last_lines("", 3), "");
    EXPECT_EQ(last_lines("\n\n", 3), "");
    EXPECT_EQ(last_lines("\na\nb\n", 2), "a\nb");
}

}  // namespace
}  // namespace lavant::cli
