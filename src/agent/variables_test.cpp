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

// What a process of a job of two nodes with two processes each finds.
std::map<std::string, std::string> of_rank(int index, const std::string& distribution,
                                           const std::string& gpus = "", bool machine_has_gpus = false) {
    lavant::Launch launch = a_launch();
    launch.distribution = distribution;
    const StartTask start{.task = {{4}, 1, index},
                          .instances = 2,
                          .hosts = {"a", "b"},
                          .processes = 2,
                          .port = 21000,
                          .gpus = gpus};
    return environment_of({.launch = launch, .start = start, .machine_has_gpus = machine_has_gpus});
}

TEST(Variables, PrintsAndSetsAllOfTheTable) {
    lavant::Launch launch = a_launch();
    launch.distribution = "mpi";
    const StartTask start{.task = {{4}, 2, 3},
                          .instances = 3,
                          .hosts = {"a", "b", "c"},
                          .job_token = "tok",
                          .processes = 2,
                          .gpus = "1,GPU-7"};
    auto all = environment_of({.launch = launch,
                               .start = start,
                               .server_url = "https://h:1",
                               .ca_file = "/ca.pem",
                               .node = "node-9",
                               .inputs = {{"data", "/in/data"}},
                               .outputs = {{"model", "/out/model"}}});
    launch.distribution = "tensorflow";
    all["TF_CONFIG"] = environment_of({.launch = launch, .start = start}).at("TF_CONFIG");
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
    EXPECT_EQ(all.at("RANK"), "3");
    EXPECT_EQ(all.at("WORLD_SIZE"), "6");
    EXPECT_EQ(all.at("MASTER_ADDR"), "a");
    EXPECT_EQ(all.at("AZ_BATCHAI_NUM_GPUS"), "2");
    EXPECT_EQ(all.at("LAVANT_ATTEMPT"), "2");
    EXPECT_EQ(all.at("PATH").substr(0, 14), "/opt/venv/bin:");
    EXPECT_EQ(all.at("MLFLOW_RUN_ID"), "joyful_pear");
}

TEST(Variables, CountsRanksNodeByNode) {
    for (int index = 0; index < 4; ++index) {
        const auto all = of_rank(index, "pytorch");
        EXPECT_EQ(all.at("RANK"), std::to_string(index));
        EXPECT_EQ(all.at("LOCAL_RANK"), std::to_string(index % 2));
        EXPECT_EQ(all.at("WORLD_SIZE"), "4");
        EXPECT_EQ(all.at("LOCAL_WORLD_SIZE"), "2");
        for (const char* node : {"NODE_RANK", "GROUP_RANK", "AZUREML_CR_NODE_RANK", "AZ_BATCHAI_TASK_INDEX"})
            EXPECT_EQ(all.at(node), std::to_string(index / 2)) << node;
        EXPECT_EQ(all.at("MASTER_ADDR"), "a");
        EXPECT_EQ(all.at("MASTER_PORT"), "21000");
        EXPECT_EQ(all.at("AZ_BATCH_MASTER_NODE"), "a:21000");
        EXPECT_FALSE(all.contains("TF_CONFIG"));
        EXPECT_FALSE(all.contains("OMPI_COMM_WORLD_RANK"));
    }
}

TEST(Variables, SpeakTheWordsOfMpiToItsPrograms) {
    const auto all = of_rank(3, "mpi");
    EXPECT_EQ(all.at("OMPI_COMM_WORLD_RANK"), "3");
    EXPECT_EQ(all.at("OMPI_COMM_WORLD_SIZE"), "4");
    EXPECT_EQ(all.at("OMPI_COMM_WORLD_LOCAL_RANK"), "1");
    EXPECT_EQ(all.at("OMPI_COMM_WORLD_LOCAL_SIZE"), "2");
    EXPECT_EQ(all.at("AZ_BATCHAI_MPI_MASTER_NODE"), "a");
}

TEST(Variables, TellTensorflowItsCluster) {
    EXPECT_EQ(of_rank(2, "tensorflow").at("TF_CONFIG"),
              R"({"cluster": {"worker": ["a:21000", "a:21001", "b:21002", "b:21003"]}, )"
              R"("task": {"type": "worker", "index": 2}, "environment": "cloud"})");
    lavant::Launch launch = a_launch();
    launch.distribution = "tensorflow";
    const StartTask vast{.instances = 1000, .processes = 4096};
    EXPECT_FALSE(environment_of({.launch = launch, .start = vast}).contains("TF_CONFIG"));
    const StartTask alone;
    EXPECT_EQ(environment_of({.launch = launch, .start = alone}).at("TF_CONFIG"),
              R"({"cluster": {"worker": ["127.0.0.1:6105"]}, "task": {"type": "worker", "index": 0}, )"
              R"("environment": "cloud"})");
}

TEST(Variables, ShowATaskItsOwnGpusAndNoOther) {
    EXPECT_EQ(of_rank(0, "", "2,3", true).at("CUDA_VISIBLE_DEVICES"), "2,3");
    EXPECT_EQ(of_rank(0, "", "2,3", false).at("CUDA_VISIBLE_DEVICES"), "2,3");
    EXPECT_EQ(of_rank(0, "", "2,3", true).at("AZ_BATCHAI_NUM_GPUS"), "2");
    EXPECT_EQ(of_rank(0, "", "", true).at("CUDA_VISIBLE_DEVICES"), "") << "it would take all of them";
    EXPECT_EQ(of_rank(0, "", "", true).at("AZ_BATCHAI_NUM_GPUS"), "0");
    EXPECT_FALSE(of_rank(0, "").contains("CUDA_VISIBLE_DEVICES"));
}

TEST(Variables, LetTheUserHideGpusButNotTakeThoseOfOthers) {
    const StartTask start{.gpus = "2,GPU-7"};
    for (const auto& [asked, given] : {std::pair{"", ""},
                                       {"-1", "-1"},
                                       {"2", "2"},
                                       {"GPU-7, 2", "GPU-7, 2"},
                                       {"0", "2,GPU-7"},
                                       {"2,0", "2,GPU-7"},
                                       {"2,", "2,GPU-7"},
                                       {"all", "2,GPU-7"}}) {
        lavant::Launch launch = a_launch();
        launch.environment_variables = {{"CUDA_VISIBLE_DEVICES", asked}};
        EXPECT_EQ(environment_of({.launch = launch, .start = start}).at("CUDA_VISIBLE_DEVICES"), given)
            << asked;
    }
    lavant::Launch launch = a_launch();
    launch.environment_variables = {{"CUDA_VISIBLE_DEVICES", "0"}};
    const StartTask none;
    EXPECT_EQ(environment_of({.launch = launch, .start = none, .machine_has_gpus = true})
                  .at("CUDA_VISIBLE_DEVICES"),
              "");
    EXPECT_EQ(environment_of({.launch = launch, .start = none}).at("CUDA_VISIBLE_DEVICES"), "0");
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
