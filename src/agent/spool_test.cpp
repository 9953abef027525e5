#include "agent/spool.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/files.h"

namespace lavant::agent {
namespace {

class SpoolTest : public ::testing::Test {
 protected:
    void SetUp() override {
        char folder[] = "/tmp/lavant-spool-XXXXXX";
        ASSERT_NE(::mkdtemp(folder), nullptr);
        node_ = folder;
        for (const char* name : {"/wd/outputs", "/wd/logs"})
            ASSERT_TRUE(make_directories(node_ + name, 0755));
        ::chmod((node_ + "/wd").c_str(), 0755);
    }
    void TearDown() override { (void)remove_tree(node_); }
    std::string node_;
};

TEST_F(SpoolTest, KnowsAFolderThatNobodyTouched) {
    EXPECT_TRUE(is_untouched(node_ + "/wd"));
    for (const char* file : {"/wd/x", "/wd/.hidden", "/wd/outputs/y", "/wd/logs/z"}) {
        ASSERT_TRUE(write_file_atomically(node_ + file, ""));
        EXPECT_FALSE(is_untouched(node_ + "/wd")) << file;
        ::unlink((node_ + file).c_str());
        EXPECT_TRUE(is_untouched(node_ + "/wd"));
    }
}

TEST_F(SpoolTest, TakesChangedModesAttributesAndLinksForATouch) {
    ASSERT_EQ(::chmod((node_ + "/wd/logs").c_str(), 0700), 0);
    EXPECT_FALSE(is_untouched(node_ + "/wd"));
    ASSERT_EQ(::chmod((node_ + "/wd/logs").c_str(), 0755), 0);
    if (::setxattr((node_ + "/wd").c_str(), "user.mine", "1", 1, 0) == 0) {
        EXPECT_FALSE(is_untouched(node_ + "/wd"));
        ::removexattr((node_ + "/wd").c_str(), "user.mine");
    }
    ASSERT_EQ(::rmdir((node_ + "/wd/outputs").c_str()), 0);
    ASSERT_EQ(::symlink("/etc", (node_ + "/wd/outputs").c_str()), 0);
    EXPECT_FALSE(is_untouched(node_ + "/wd"));
}

TEST_F(SpoolTest, AMissingFolderIsATouchToo) {
    ASSERT_EQ(::rmdir((node_ + "/wd/outputs").c_str()), 0);
    EXPECT_FALSE(is_untouched(node_ + "/wd"));
}

TEST_F(SpoolTest, GivesAFolderAgainWhenItWasGivenBackReusable) {
    Spool spool(node_);
    const std::string first = *spool.take(false);
    const std::string second = *spool.take(false);
    EXPECT_NE(first, second);
    ASSERT_TRUE(spool.give_back(first, true));
    ASSERT_TRUE(spool.give_back(second, false));
    EXPECT_FALSE(exists(second));
    const std::string empty = *spool.take(true);
    EXPECT_NE(empty, first) << "that one is not empty";
    EXPECT_EQ(*spool.take(false), first);
}

TEST_F(SpoolTest, DoesNotGiveWhatAnEarlierAgentLeft) {
    ASSERT_TRUE(make_directories(node_ + "/tasks/1"));
    Spool spool(node_);
    EXPECT_EQ(*spool.take(false), node_ + "/tasks/2");
}

TEST_F(SpoolTest, KeepsOnlyAFewFolders) {
    Spool spool(node_);
    std::vector<std::string> folders;
    for (int i = 0; i < 10; ++i) folders.push_back(*spool.take(false));
    for (const std::string& folder : folders) ASSERT_TRUE(spool.give_back(folder, true));
    EXPECT_EQ(list_directory(node_ + "/tasks")->size(), 4U);
}

}  // namespace
}  // namespace lavant::agent
