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
        task_ = node_ + "/task";
        for (const char* name : {"/wd/outputs", "/wd/logs"})
            ASSERT_TRUE(make_directories(task_ + name, 0755));
        ASSERT_EQ(::chmod(task_.c_str(), 0700), 0);
        for (const char* name : {"/launch.bin", "/std_log.txt", "/run.state"})
            ASSERT_TRUE(write_file_atomically(task_ + name, "x"));
    }
    void TearDown() override { (void)remove_tree(node_); }
    std::string node_;
    std::string task_;
};

TEST_F(SpoolTest, KnowsAFolderThatNobodyTouched) {
    EXPECT_TRUE(is_untouched(task_));
    for (const char* file : {"/wd/x", "/wd/.hidden", "/wd/outputs/y", "/wd/logs/z", "/run.upper"}) {
        ASSERT_TRUE(write_file_atomically(task_ + file, ""));
        EXPECT_FALSE(is_untouched(task_)) << file;
        ::unlink((task_ + file).c_str());
        EXPECT_TRUE(is_untouched(task_));
    }
}

TEST_F(SpoolTest, TakesChangedModesAttributesAndLinksForATouch) {
    ASSERT_EQ(::chmod((task_ + "/wd/logs").c_str(), 0700), 0);
    EXPECT_FALSE(is_untouched(task_));
    ASSERT_EQ(::chmod((task_ + "/wd/logs").c_str(), 0755), 0);
    if (::setxattr((task_ + "/wd").c_str(), "user.mine", "1", 1, 0) == 0) {
        EXPECT_FALSE(is_untouched(task_));
        ::removexattr((task_ + "/wd").c_str(), "user.mine");
    }
    ASSERT_EQ(::rmdir((task_ + "/wd/outputs").c_str()), 0);
    ASSERT_EQ(::symlink("/etc", (task_ + "/wd/outputs").c_str()), 0);
    EXPECT_FALSE(is_untouched(task_));
}

TEST_F(SpoolTest, AMissingFolderIsATouchToo) {
    ASSERT_EQ(::rmdir((task_ + "/wd/outputs").c_str()), 0);
    EXPECT_FALSE(is_untouched(task_));
}

TEST_F(SpoolTest, ALogThatIsLargeLinkedOrClosedToUsIsATouch) {
    const std::string log = task_ + "/std_log.txt";
    ASSERT_EQ(::chmod(log.c_str(), 0), 0);
    EXPECT_FALSE(is_untouched(task_));
    ASSERT_EQ(::chmod(log.c_str(), 0600), 0);
    ASSERT_EQ(::link(log.c_str(), (node_ + "/mine").c_str()), 0);
    EXPECT_FALSE(is_untouched(task_));
    ASSERT_EQ(::unlink((node_ + "/mine").c_str()), 0);
    EXPECT_TRUE(is_untouched(task_));
    ASSERT_TRUE(write_file_atomically(log, std::string(2U << 20, 'x')));
    EXPECT_FALSE(is_untouched(task_));
}

TEST_F(SpoolTest, GivesAFolderAgainToTheSameUserOnly) {
    Spool spool(node_);
    const std::string first = *spool.take("ann");
    spool.give_back(first, "ann");
    EXPECT_NE(*spool.take("bob"), first);
    EXPECT_NE(*spool.make(), first) << "that one is not empty";
    EXPECT_EQ(*spool.take("ann"), first);
    EXPECT_NE(*spool.take("ann"), first);
}

TEST_F(SpoolTest, DoesNotGiveWhatAnEarlierAgentLeft) {
    ASSERT_TRUE(make_directories(node_ + "/tasks/1"));
    Spool spool(node_);
    EXPECT_EQ(*spool.take("ann"), node_ + "/tasks/2");
}

TEST_F(SpoolTest, KeepsOnlyAFewFolders) {
    Spool spool(node_);
    std::vector<std::string> folders;
    for (int i = 0; i < 10; ++i) folders.push_back(*spool.take("ann"));
    for (const std::string& folder : folders) spool.give_back(folder, "ann");
    EXPECT_EQ(list_directory(node_ + "/tasks")->size(), 4U);
    EXPECT_EQ(*spool.take("ann"), folders[6]);
}

}  // namespace
}  // namespace lavant::agent
