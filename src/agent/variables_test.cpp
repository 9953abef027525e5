#include "agent/variables.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

namespace lavant::agent {
namespace {

std::map<std::string, std::string> environment_of(const VariableContext& context) {
    std::map<std::string, std::string> all;
    for (const std::string& line : make_environment(context)) {
        const std::size_t equals = line.find('=');
        EXPECT_TRUE(all.emplace(line.substr(0, equals), line.substr(equals + 1)).second) << line;
    }
    return all;
}

lavant::Launch a_launch() {
    lavant::Launch launch;
    launch.subscription = "S";
    launch.resource_group = "G";
    launch.workspace_name = "W";
    launch.job_name = "joyful_pear";
    launch.experiment_name = "exp";
    launch.experiment_id = "e-1";
    launch.environment.python_home = "/opt/venv";
    launch.process_count = 2;
    return launch;
}

TEST(Variables, PrintsAndSetsAllOfTheTable) {
    const lavant::Launch launch = a_launch();
    const StartTask start{.task = {{4}, 2, 1}, .instances = 3, .hosts = {"a", "b", "c"}, .job_token = "tok"};
    const auto all = environment_of({.launch = launch,
                                     .start = start,
                                     .server_url = "https://h:1",
                                     .ca_file = "/ca.pem",
                                     .node = "node-9",
                                     .inputs = {{"data", "/in/data"}},
                                     .outputs = {{"model", "/out/model"}}});
    for (const auto& [name, value] : all) std::printf("%s=%s\n", name.c_str(), value.c_str());
    std::set<std::string_view> documented;
    for (const VariableDoc& doc : documented_variables()) {
        EXPECT_FALSE(doc.meaning.empty()) << doc.name;
        EXPECT_TRUE(documented.insert(doc.name).second) << doc.name;
        if (doc.name.find('<') == std::string_view::npos) {
            EXPECT_TRUE(all.contains(std::string(doc.name))) << doc.name;
        }
    }
    EXPECT_EQ(all.size(), documented.size());
    EXPECT_EQ(all.at("AZUREML_RUN_ID"), "joyful_pear");
    EXPECT_EQ(all.at("AZUREML_ROOT_RUN_ID"), "joyful_pear");
    EXPECT_EQ(all.at("AZURE_ML_INPUT_data"), "/in/data");
    EXPECT_EQ(all.at("AZURE_ML_OUTPUT_model"), "/out/model");
    EXPECT_EQ(all.at("RANK"), "2");
    EXPECT_EQ(all.at("WORLD_SIZE"), "6");
    EXPECT_EQ(all.at("MASTER_ADDR"), "a");
    EXPECT_EQ(all.at("LAVANT_ATTEMPT"), "2");
    EXPECT_EQ(all.at("PATH").substr(0, 14), "/opt/venv/bin:");
    EXPECT_EQ(all.at("MLFLOW_RUN_ID"), "joyful_pear");
}

TEST(Variables, LetsTheUserWin) {
    lavant::Launch launch = a_launch();
    launch.environment_variables = {{"PYTHONUNBUFFERED", "0"}, {"RANK", "77"}, {"MINE", "x=y"}};
    const StartTask start;
    const auto all = environment_of({.launch = launch, .start = start});
    EXPECT_EQ(all.at("PYTHONUNBUFFERED"), "0");
    EXPECT_EQ(all.at("RANK"), "77");
    EXPECT_EQ(all.at("MINE"), "x=y");
    EXPECT_FALSE(all.contains("MLFLOW_TRACKING_TOKEN")) << "an empty token would be sent as one";
}

TEST(Variables, LeavesOutWhatNoProcessCouldCarry) {
    lavant::Launch launch = a_launch();
    launch.environment_variables = {{"A=B", "1"}, {"", "2"}, {"C", std::string("x\0y", 3)}};
    const StartTask start;
    const auto all = environment_of({.launch = launch, .start = start});
    EXPECT_FALSE(all.contains("A"));
    EXPECT_FALSE(all.contains(""));
    EXPECT_FALSE(all.contains("C"));
}

}  // namespace
}  // namespace lavant::agent
