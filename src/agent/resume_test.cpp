#include "agent/resume.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/files.h"
#include "core/model/workspace.h"

namespace lavant::agent {
namespace {

class Resume : public ::testing::Test {
 protected:
    void SetUp() override {
        char folder[] = "/tmp/lavant-resume-XXXXXX";
        ASSERT_NE(::mkdtemp(folder), nullptr);
        paths_ = paths_in(folder);
        launch_.job_name = "pear";
        const std::string root = "azureml://datastores/workspaceblobstore/paths/azureml/pear/";
        launch_.outputs = {{"model", "uri_folder", "rw_mount", root + "model/"},
                           {"score", "uri_file", "rw_mount", root + "score.txt"},
                           {"stream", "uri_folder", "direct", root + "stream/"},
                           {"far", "uri_folder", "rw_mount", "azureml://datastores/other/paths/x"}};
    }
    void TearDown() override { ASSERT_TRUE(remove_tree(paths_.folder)); }

    void write(const std::string& path, const std::string& text) {
        ASSERT_TRUE(make_directories(parent_of(path)));
        const Result<Fd> file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        ASSERT_TRUE(file && write_all(file->get(), text));
    }
    // As the sandbox does before the command runs.
    void begin() {
        ASSERT_TRUE(remember_resumed(launch_, paths_));
        ASSERT_TRUE(make_directories(paths_.working_folder));
        if (const std::string before = resumed_outputs(paths_); !before.empty()) {
            ASSERT_EQ(::rename(before.c_str(), (paths_.working_folder + "/outputs").c_str()), 0);
        }
    }
    std::vector<std::string> kept() {
        Uploads uploads = find_uploads(launch_, paths_, paths_.working_folder);
        leave_out_unchanged(uploads, paths_);
        std::vector<std::string> names;
        for (const Upload& upload : uploads.files) names.push_back(upload.place.path);
        return names;
    }

    TaskPaths paths_;
    lavant::Launch launch_;
};

using Names = std::vector<std::string>;

TEST_F(Resume, FetchesNamedOutputsAndTheOutputsFolder) {
    const std::vector<Fetch> fetches = plan_resume(launch_, paths_);
    ASSERT_EQ(fetches.size(), 3U) << "nothing of what the command reads itself, or of an unknown datastore";
    EXPECT_EQ(fetches[0].kind, Fetch::Kind::Folder);
    EXPECT_EQ(fetches[0].place, (BlobPlace{kBlobContainer, "azureml/pear/model/"}));
    EXPECT_EQ(fetches[0].into, paths_.outputs + "/model");
    EXPECT_EQ(fetches[1].kind, Fetch::Kind::Blob);
    EXPECT_EQ(fetches[1].place, (BlobPlace{kBlobContainer, "azureml/pear/score.txt"}));
    EXPECT_EQ(fetches[1].into + "/" + fetches[1].file, view_of(launch_, paths_)->outputs.at("score"));
    EXPECT_EQ(fetches[2].place, (BlobPlace{kArtifactContainer, "ExperimentRun/dcid.pear/outputs"}));
    for (const Fetch& fetch : fetches) EXPECT_TRUE(fetch.if_there);
}

TEST_F(Resume, KeepsOnlyWhatTheTaskChanged) {
    for (const char* name : {"same", "longer", "as long", "replaced", "gone", "deep/same"})
        write(paths_.resumed + "/outputs/" + name, "1");
    write(paths_.outputs + "/model/same", "1");
    write(paths_.outputs + "/model/changed", "1");
    write(paths_.outputs + "/score/score.txt", "1");
    begin();
    const std::string outputs = paths_.working_folder + "/outputs/";
    write(outputs + "longer", "12");
    write(outputs + "as long", "2");
    write(outputs + "beside", "1");
    ASSERT_EQ(::rename((outputs + "beside").c_str(), (outputs + "replaced").c_str()), 0);
    ASSERT_EQ(::unlink((outputs + "gone").c_str()), 0);
    write(outputs + "new", "1");
    write(paths_.outputs + "/model/changed", "2");
    const std::string root = "ExperimentRun/dcid.pear/outputs/";
    EXPECT_EQ(kept(), (Names{root + "as long", root + "longer", root + "new", root + "replaced",
                             "azureml/pear/model/changed"}));
    write(paths_.outputs + "/score/score.txt", "2");
    EXPECT_EQ(kept().back(), "azureml/pear/score.txt");
}

TEST_F(Resume, KeepsFilesThatChangedPlaces) {
    for (const char* name : {"a", "b", "c"}) write(paths_.resumed + "/outputs/" + name, "1");
    begin();
    const std::string outputs = paths_.working_folder + "/outputs/";
    ASSERT_EQ(::rename((outputs + "a").c_str(), (outputs + "x").c_str()), 0);
    ASSERT_EQ(::rename((outputs + "b").c_str(), (outputs + "a").c_str()), 0);
    const std::string root = "ExperimentRun/dcid.pear/outputs/";
    EXPECT_EQ(kept(), (Names{root + "a", root + "x"}));
}

TEST_F(Resume, KeepsEverythingWhereNothingWasFetched) {
    begin();
    EXPECT_EQ(resumed_outputs(paths_), "");
    EXPECT_FALSE(exists(paths_.resumed));
    write(paths_.working_folder + "/outputs/a", "1");
    EXPECT_EQ(kept(), Names{"ExperimentRun/dcid.pear/outputs/a"});
}

TEST_F(Resume, BearsNamesAndListsOfAnyKind) {
    write(paths_.resumed + "/outputs/two words\nand a line", "1");
    begin();
    EXPECT_EQ(kept(), Names{});
    write(paths_.resumed + "/files", "rubbish\n\n 1:2:3\nx ");
    EXPECT_EQ(kept(), Names{"ExperimentRun/dcid.pear/outputs/two words\nand a line"});
}

}  // namespace
}  // namespace lavant::agent
