#include "adapters/sandbox_linux/folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

namespace lavant::sandbox_linux {
namespace {

class Folders : public ::testing::Test {
 protected:
    void SetUp() override {
        ASSERT_NE(::mkdtemp(base_.data()), nullptr);
        ASSERT_TRUE(make_directories(base_ + "/from/sub"));
        ASSERT_TRUE(write_file_atomically(base_ + "/from/run.sh", "run\n", 0755));
        ASSERT_TRUE(write_file_atomically(base_ + "/from/sub/data", "data\n", 0400));
        ASSERT_EQ(::symlink("sub/data", (base_ + "/from/link").c_str()), 0);
        ASSERT_EQ(::mkfifo((base_ + "/from/fifo").c_str(), 0600), 0);
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(base_)); }
    struct stat look_at(const std::string& name) const {
        struct stat found {};
        EXPECT_EQ(::lstat((base_ + name).c_str(), &found), 0) << name;
        return found;
    }
    std::string base_ = "/tmp/lavant-folders-XXXXXX";
};

TEST_F(Folders, ACopyIsWritableKeepsModesAndLinksAndSharesNoFile) {
    ASSERT_TRUE(copy_tree(base_ + "/from", base_ + "/to", std::nullopt));
    EXPECT_EQ(*read_file(base_ + "/to/sub/data", 100), "data\n");
    EXPECT_EQ(look_at("/to/run.sh").st_mode & 0777, 0755U);
    EXPECT_EQ(look_at("/to/sub/data").st_mode & 0777, 0600U);
    EXPECT_TRUE(S_ISLNK(look_at("/to/link").st_mode));
    EXPECT_FALSE(exists(base_ + "/to/fifo"));
    EXPECT_EQ(look_at("/from/run.sh").st_nlink, 1U);
    EXPECT_NE(look_at("/from/run.sh").st_ino, look_at("/to/run.sh").st_ino);
}

TEST_F(Folders, AsRootACopyAndATreeCanBeGivenAway) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_TRUE(copy_tree(base_ + "/from", base_ + "/to", 200'123));
    for (const char* name : {"/to", "/to/sub", "/to/sub/data", "/to/link", "/to/run.sh"})
        EXPECT_EQ(look_at(name).st_uid, 200'123U) << name;
    ASSERT_TRUE(give_tree(base_ + "/to", 200'124));
    EXPECT_EQ(look_at("/to/link").st_uid, 200'124U);
    EXPECT_EQ(look_at("/from/sub/data").st_uid, 0U) << "a link is given, not what it points to";
    ASSERT_TRUE(move_tree(base_ + "/from", base_ + "/moved", 200'125));
    for (const char* name : {"/moved", "/moved/sub", "/moved/sub/data"})
        EXPECT_EQ(look_at(name).st_uid, 200'125U) << name;
}

TEST_F(Folders, AMoveJoinsWhatIsThereAndReplacesWhatIsInItsWay) {
    ASSERT_TRUE(make_directories(base_ + "/to/run.sh/inner"));
    ASSERT_TRUE(write_file_atomically(base_ + "/to/sub", "a file where a folder is to be"));
    ASSERT_TRUE(write_file_atomically(base_ + "/to/kept", "kept\n"));
    const auto moved = look_at("/from/sub/data");
    ASSERT_TRUE(move_tree(base_ + "/from", base_ + "/to", std::nullopt));
    EXPECT_EQ(*read_file(base_ + "/to/run.sh", 100), "run\n");
    EXPECT_EQ(*read_file(base_ + "/to/kept", 100), "kept\n");
    EXPECT_EQ(look_at("/to/sub/data").st_ino, moved.st_ino);
    EXPECT_EQ(look_at("/to/sub/data").st_mtim.tv_nsec, moved.st_mtim.tv_nsec);
    EXPECT_FALSE(exists(base_ + "/to/link")) << "a link could lead anywhere";
    EXPECT_FALSE(exists(base_ + "/from/run.sh"));
}

TEST_F(Folders, AMoveFollowsNoLinkAtItsGoal) {
    ASSERT_TRUE(make_directories(base_ + "/elsewhere"));
    ASSERT_TRUE(make_directories(base_ + "/to"));
    for (const char* name : {"/outputs", "/to/sub"})
        ASSERT_EQ(::symlink((base_ + "/elsewhere").c_str(), (base_ + name).c_str()), 0);
    ASSERT_TRUE(move_tree(base_ + "/from", base_ + "/to", std::nullopt));
    ASSERT_TRUE(move_tree(base_ + "/to", base_ + "/outputs", std::nullopt));
    EXPECT_TRUE(list_directory(base_ + "/elsewhere")->empty());
    EXPECT_EQ(*read_file(base_ + "/outputs/sub/data", 100), "data\n");
}

TEST_F(Folders, SmallMeansWithinBothLimits) {
    EXPECT_TRUE(is_small_tree(base_ + "/from", {.files = 5, .bytes = 9}));
    EXPECT_FALSE(is_small_tree(base_ + "/from", {.files = 4, .bytes = 9}));
    EXPECT_FALSE(is_small_tree(base_ + "/from", {.files = 5, .bytes = 8}));
    EXPECT_FALSE(is_small_tree(base_ + "/nowhere", {.files = 5, .bytes = 9}));
}

}  // namespace
}  // namespace lavant::sandbox_linux
