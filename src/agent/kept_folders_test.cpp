#include "agent/kept_folders.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/files.h"

namespace lavant::agent {
namespace {

class KeptFoldersTest : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "lavant-kept-XXXXXX";
        base_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(base_)); }
    std::string make_task() {
        const std::string folder = base_ + "/task";
        for (const char* name : {"/wd", "/inputs/set"}) EXPECT_TRUE(make_directories(folder + name));
        for (const char* name : {"/wd/model", "/std_log.txt", "/launch.bin", "/inputs/set/x"})
            EXPECT_TRUE(write_file_atomically(folder + name, "x"));
        return folder;
    }

    std::string base_;
};

TEST_F(KeptFoldersTest, KeepsWhatATaskMadeWithoutItsSecretsAndInputs) {
    KeptFolders kept(base_ + "/kept");
    const TaskRef task{{7}, 2, 0};
    const std::string folder = make_task();
    ASSERT_TRUE(kept.take(task, folder));
    EXPECT_FALSE(exists(folder));
    const std::string place = kept.place_of(task);
    EXPECT_EQ(place, base_ + "/kept/7.2.0");
    EXPECT_TRUE(exists(place + "/wd/model"));
    EXPECT_TRUE(exists(place + "/std_log.txt"));
    EXPECT_FALSE(exists(place + "/launch.bin"));
    EXPECT_FALSE(exists(place + "/inputs"));
}

TEST_F(KeptFoldersTest, KeepsTheLastFewOnly) {
    KeptFolders kept(base_ + "/kept");
    const int tasks = static_cast<int>(KeptFolders::kKeptMax) + 3;
    for (int job = tasks; job > 0; --job) ASSERT_TRUE(kept.take({{job}, 1, 0}, make_task()));
    EXPECT_EQ(list_directory(base_ + "/kept")->size(), KeptFolders::kKeptMax);
    EXPECT_TRUE(exists(kept.place_of({{1}, 1, 0}))) << "the last one";
    EXPECT_FALSE(exists(kept.place_of({{tasks}, 1, 0}))) << "the first one";
}

}  // namespace
}  // namespace lavant::agent
