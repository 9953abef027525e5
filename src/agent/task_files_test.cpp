#include "agent/task_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <set>

#include "base/files.h"
#include "wire/messages.h"

namespace lavant::agent {
namespace {

constexpr TaskRef kTask{{42}, 3, 1};

class TaskFiles : public ::testing::Test {
 protected:
    void SetUp() override {
        char folder[] = "/tmp/lavant-task-XXXXXX";
        ASSERT_NE(::mkdtemp(folder), nullptr);
        node_ = folder;
        paths_ = paths_in(node_ + "/tasks/1");
        ASSERT_TRUE(make_directories(paths_.folder));
    }
    void TearDown() override { (void)remove_tree(node_); }
    static void put(const std::string& path, std::string_view text) {
        ASSERT_TRUE(make_directories(parent_of(path)));
        ASSERT_TRUE(write_file_atomically(path, text));
    }
    std::set<std::string> names(const Uploads& uploads) {
        std::set<std::string> all;
        for (const Upload& upload : uploads.files)
            all.insert(upload.place.container + ":" + upload.place.path);
        return all;
    }
    std::string node_;
    TaskPaths paths_;
    lavant::Launch launch_{.job_name = "pear"};
};

TEST_F(TaskFiles, TellsWhereAFolderReallyIs) {
    const std::string server = node_ + "/server";
    put(server + "/secret.key", "x");
    put(node_ + "/data/set/a", "x");
    const std::string link = node_ + "/link";
    ASSERT_EQ(::symlink((node_ + "/data").c_str(), link.c_str()), 0);
    EXPECT_EQ(*resolve_local(link + "/set/../set", server), node_ + "/data/set");
    ASSERT_EQ(::unlink(link.c_str()), 0);
    ASSERT_EQ(::symlink(server.c_str(), link.c_str()), 0);
    EXPECT_EQ(resolve_local(link, server).error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(resolve_local(node_, server).error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(resolve_local("/", server).error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(resolve_local(node_ + "/none", server).error().code, ErrorCode::NotFound);
}

TEST_F(TaskFiles, FindTheirTasksAgain) {
    const StartTask start{.task = kTask, .launch = wire::encode_launch(launch_), .job_token = "t"};
    ASSERT_TRUE(make_task_folders(launch_, start, paths_));
    ASSERT_TRUE(save_launch(paths_, start));
    put(paths_in(node_ + "/tasks/2").log_file, "never launched");
    put(node_ + "/tasks/rubbish/x", "");
    const auto saved = load_tasks(node_);
    ASSERT_TRUE(saved);
    ASSERT_EQ(saved->size(), 1U);
    EXPECT_EQ(saved->at(0).start.task, kTask);
    EXPECT_EQ(saved->at(0).start.job_token, "t");
    EXPECT_EQ(saved->at(0).launch.job_name, "pear");
    EXPECT_GT(to_micros(saved->at(0).launched_at), 1'600'000'000'000'000);
    EXPECT_EQ(list_directory(node_ + "/tasks")->size(), 1U) << "what was never launched is removed";
}

TEST_F(TaskFiles, DoNotTrustTheSpoolOfAnotherBoot) {
    const StartTask start{.task = kTask, .launch = wire::encode_launch(launch_)};
    ASSERT_TRUE(forget_tasks_of_another_boot(node_, "one"));
    ASSERT_TRUE(make_directories(paths_.folder));
    ASSERT_TRUE(make_task_folders(launch_, start, paths_));
    ASSERT_TRUE(save_launch(paths_, start));
    ASSERT_TRUE(forget_tasks_of_another_boot(node_, "one"));
    EXPECT_EQ(load_tasks(node_)->size(), 1U);
    put(paths_.launch_file, "");  // as a power cut may leave it
    ASSERT_TRUE(forget_tasks_of_another_boot(node_, "two"));
    EXPECT_EQ(load_tasks(node_)->size(), 0U);
}

TEST_F(TaskFiles, AreWrittenOverByTheNextTaskInTheFolder) {
    launch_.job_name = "a_rather_long_name_of_a_job_that_came_before";
    StartTask start{
        .task = kTask, .launch = wire::encode_launch(launch_), .job_token = std::string(500, 't')};
    ASSERT_TRUE(make_task_folders(launch_, start, paths_));
    append_to_log(paths_, "what the earlier task said");
    ASSERT_TRUE(save_launch(paths_, start));
    launch_.job_name = "fig";
    start = {.task = {{50}, 1, 0}, .launch = wire::encode_launch(launch_), .job_token = "u"};
    ASSERT_TRUE(make_task_folders(launch_, start, paths_));
    EXPECT_EQ(*read_file(paths_.log_file, 4096),
              "lavant: attempt 1 of fig, environment host, python of the system\n");
    ASSERT_TRUE(save_launch(paths_, start));
    const auto saved = load_tasks(node_);
    ASSERT_EQ(saved->size(), 1U);
    EXPECT_EQ(saved->at(0).start.task, start.task);
    EXPECT_EQ(saved->at(0).launch.job_name, "fig");
}

TEST_F(TaskFiles, OfAForgottenTaskHaveNoTokenAndAreNotTakenOver) {
    const StartTask start{.task = kTask, .launch = wire::encode_launch(launch_), .job_token = "secret"};
    ASSERT_TRUE(make_task_folders(launch_, start, paths_));
    const auto saved = save_launch(paths_, start);
    ASSERT_TRUE(saved);
    ASSERT_TRUE(blank_launch(*saved));
    EXPECT_EQ(read_file(paths_.launch_file, 4096)->find("secret"), std::string::npos);
    EXPECT_TRUE(load_tasks(node_)->empty());
}

TEST_F(TaskFiles, OfATaskWhoseLaunchWasNotWrittenWholeAreRemoved) {
    const StartTask start{.task = kTask, .launch = wire::encode_launch(launch_)};
    ASSERT_TRUE(make_task_folders(launch_, start, paths_));
    ASSERT_TRUE(save_launch(paths_, start));
    const std::string whole = *read_file(paths_.launch_file, 4096);
    put(paths_.launch_file, whole.substr(0, whole.size() / 2));
    EXPECT_TRUE(load_tasks(node_)->empty());
    EXPECT_FALSE(exists(paths_.folder));
}

TEST_F(TaskFiles, ReadDatastoreUris) {
    EXPECT_EQ(parse_datastore_uri("azureml://datastores/workspaceblobstore/paths/a/b c", launch_).value(),
              (BlobPlace{"azureml-blobstore", "a/b c"}));
    EXPECT_EQ(parse_datastore_uri("azureml://subscriptions/s/resourcegroups/g/workspaces/w/datastores/"
                                  "workspaceartifactstore/paths/x/",
                                  launch_)
                  .value(),
              (BlobPlace{"azureml", "x/"}));
    for (const char* bad : {"", "azureml:data:1", "azureml://datastores/other/paths/x",
                            "azureml://datastores/x", "wasbs://a@b/c"})
        EXPECT_FALSE(parse_datastore_uri(bad, launch_)) << bad;
}

TEST_F(TaskFiles, ShowInputsAndOutputsToTheCommand) {
    launch_.inputs = {{"n", "literal", "", "7"},
                      {"f", "uri_file", "ro_mount", "azureml://datastores/workspaceblobstore/paths/d/x.csv"},
                      {"d", "uri_folder", "ro_mount", "azureml://datastores/workspaceblobstore/paths/d/"},
                      {"u", "uri_folder", "direct", "azureml://datastores/other/paths/d/"},
                      {"l", "uri_folder", "ro_mount", "file:///data/my%20set"},
                      {"w", "uri_file", "download", "https://h/a/b.zip?sig=1"}};
    launch_.outputs = {{"o", "uri_folder", "rw_mount", "azureml://datastores/workspaceblobstore/paths/p/"},
                       {"g", "uri_file", "rw_mount", "azureml://datastores/workspaceblobstore/paths/p/m.pkl"},
                       {"h", "uri_file", "rw_mount", "azureml://datastores/workspaceblobstore/paths/p/"}};
    launch_.command =
        "run ${{inputs.n}} ${{inputs.f}} ${{inputs.d}} $[[--m ${{inputs.missing}}]] ${{outputs.g}}";
    const auto view = view_of(launch_, paths_);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->inputs.at("n"), "7");
    EXPECT_EQ(view->inputs.at("f"), paths_.inputs + "/f/x.csv");
    EXPECT_EQ(view->inputs.at("d"), paths_.inputs + "/d");
    EXPECT_EQ(view->inputs.at("u"), "azureml://datastores/other/paths/d/");
    EXPECT_EQ(view->inputs.at("l"), "/data/my set");
    EXPECT_EQ(view->inputs.at("w"), paths_.inputs + "/w/b.zip");
    EXPECT_EQ(view->outputs.at("o"), paths_.outputs + "/o");
    EXPECT_EQ(view->outputs.at("g"), paths_.outputs + "/g/m.pkl");
    EXPECT_EQ(view->outputs.at("h"), paths_.outputs + "/h/h");
    EXPECT_EQ(view->binds.size(), 3U);
    const auto command = resolve_command(launch_, *view);
    ASSERT_TRUE(command) << command.error().message;
    EXPECT_NE(command->find("run 7 " + paths_.inputs + "/f/x.csv " + paths_.inputs + "/d "),
              std::string::npos);
    EXPECT_EQ(command->find("--m"), std::string::npos);
}

TEST_F(TaskFiles, RefuseNamesThatLeaveTheirFolder) {
    launch_.outputs = {{"../../x", "uri_folder", "", "azureml://datastores/workspaceblobstore/paths/p/"}};
    EXPECT_FALSE(view_of(launch_, paths_));
}

TEST_F(TaskFiles, UploadWhatTheTaskWroteAndNoLinkThatLeavesItsTree) {
    const std::string wd = paths_.working_folder;
    put(wd + "/outputs/a/model.bin", "123");
    put(wd + "/logs/t.txt", "");
    put(wd + "/other.txt", "not kept");
    put(paths_.outputs + "/o/deep/er/x", "1");
    put(paths_.outputs + "/g/m.pkl", "1");
    put(paths_.outputs + "/g/stray", "1");
    put(node_ + "/secret", "s");
    ASSERT_EQ(::symlink((node_ + "/secret").c_str(), (wd + "/outputs/stolen").c_str()), 0);
    ASSERT_EQ(::symlink("../../../../../secret", (wd + "/outputs/a/stolen").c_str()), 0);
    ASSERT_EQ(::symlink("/", (wd + "/outputs/root").c_str()), 0);
    ASSERT_EQ(::symlink("a/model.bin", (wd + "/outputs/latest").c_str()), 0);
    launch_.outputs = {{"o", "uri_folder", "", "azureml://datastores/workspaceblobstore/paths/p/"},
                       {"g", "uri_file", "", "azureml://datastores/workspaceblobstore/paths/q/m.pkl"}};
    const Uploads uploads = find_uploads(launch_, paths_, wd);
    EXPECT_EQ(uploads.problem, "");
    EXPECT_EQ(names(uploads),
              (std::set<std::string>{"azureml:ExperimentRun/dcid.pear/outputs/a/model.bin",
                                     "azureml:ExperimentRun/dcid.pear/outputs/latest",
                                     "azureml:ExperimentRun/dcid.pear/logs/t.txt",
                                     "azureml-blobstore:p/deep/er/x", "azureml-blobstore:q/m.pkl"}));
}

TEST_F(TaskFiles, NameTheEnvironmentInTheFirstLineOfTheLog) {
    launch_.environment = {.kind = "host", .name = "host", .python_home = "/opt/v", .note = "no GPU here"};
    ASSERT_TRUE(make_task_folders(launch_, StartTask{.task = kTask}, paths_));
    const std::string log = read_file(paths_.log_file, 10'000).value();
    EXPECT_NE(log.find("/opt/v/bin/python"), std::string::npos);
    EXPECT_NE(log.find("\nlavant: no GPU here\n"), std::string::npos);
}

TEST_F(TaskFiles, OnlyATaskWithGpusSeesTheirDevices) {
    const std::string devices = node_ + "/dev";
    ASSERT_TRUE(make_directories(devices + "/nvidia-caps"));
    for (const char* name : {"nvidia0", "nvidiactl", "null"})
        ASSERT_TRUE(write_file_atomically(devices + "/" + name, ""));
    ASSERT_EQ(::symlink("null", (devices + "/nvidia-link").c_str()), 0);
    EXPECT_TRUE(gpu_binds({}, devices).empty());
    const auto binds = gpu_binds({.gpus = "0"}, devices);
    ASSERT_EQ(binds.size(), 2U);
    EXPECT_EQ(binds[0].path, devices + "/nvidia0");
    EXPECT_EQ(binds[1].path, devices + "/nvidiactl");
    for (const ports::Bind& bind : binds) EXPECT_FALSE(bind.writable);
    EXPECT_TRUE(gpu_binds({.gpus = "0"}, devices + "/none").empty());
}

TEST_F(TaskFiles, EveryRankHasALogOfItsOwn) {
    EXPECT_EQ(log_name_of({}), "user_logs/std_log.txt");
    EXPECT_EQ(log_name_of({.task = {{1}, 1, 3}, .instances = 4}), "user_logs/std_log_process_3.txt");
    EXPECT_EQ(log_name_of({.task = {{1}, 1, 0}, .processes = 2}), "user_logs/std_log_process_0.txt");
}

TEST(Traceback, GivesTheLastLineOfTheLastOne) {
    EXPECT_EQ(
        find_traceback_line("x\nTraceback (most recent call last):\n  File \"a\", line 1\n    f()\n"
                            "KeyError: 'a'\n\nDuring handling ...\n\nTraceback (most recent call last):\n"
                            "  File \"b\"\nValueError: no such column\nbye\n"),
        "ValueError: no such column");
    EXPECT_EQ(find_traceback_line("all is well\n"), "");
    EXPECT_EQ(find_traceback_line("Traceback (most recent call last):\n  File"), "");
}

}  // namespace
}  // namespace lavant::agent
