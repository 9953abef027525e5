#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lavant {
namespace {

class Files : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "lavant-files-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }
    std::string folder_;
};

TEST_F(Files, WritesAtomicallyAndReadsBack) {
    const std::string path = folder_ + "/a";
    ASSERT_TRUE(write_file_atomically(path, "one"));
    ASSERT_TRUE(write_file_atomically(path, "two"));
    EXPECT_EQ(read_file(path, 100).value(), "two");
    EXPECT_EQ(list_directory(folder_)->size(), 1U);
}

TEST_F(Files, RefusesToReadPastTheLimit) {
    const std::string path = folder_ + "/a";
    ASSERT_TRUE(write_file_atomically(path, "four"));
    EXPECT_TRUE(read_file(path, 4));
    EXPECT_EQ(read_file(path, 3).error().code, ErrorCode::ResourceExhausted);
}

TEST_F(Files, MakesFoldersAndSaysWhatIsInTheWay) {
    ASSERT_TRUE(make_directories(folder_ + "/a/b/c"));
    ASSERT_TRUE(make_directories(folder_ + "/a/b/c"));
    ASSERT_TRUE(write_file_atomically(folder_ + "/f", ""));
    EXPECT_FALSE(make_directories(folder_ + "/f"));
}

TEST_F(Files, RemovesLinksAndNotWhatTheyPointTo) {
    ASSERT_TRUE(make_directories(folder_ + "/kept"));
    ASSERT_TRUE(write_file_atomically(folder_ + "/kept/x", "x"));
    ASSERT_TRUE(make_directories(folder_ + "/gone"));
    ASSERT_EQ(::symlink((folder_ + "/kept").c_str(), (folder_ + "/gone/link").c_str()), 0);
    ASSERT_TRUE(remove_tree(folder_ + "/gone"));
    EXPECT_TRUE(exists(folder_ + "/kept/x"));
}

TEST(FileTrees, RemovesWhateverIsInAFolderAndFollowsNoLink) {
    std::string base = "/tmp/lavant-trees-XXXXXX";
    ASSERT_NE(::mkdtemp(base.data()), nullptr);
    const std::string folder = base + "/folder";
    ASSERT_TRUE(make_directories(folder + "/a/b"));
    ASSERT_TRUE(write_file_atomically(folder + "/a/b/c", "x"));
    ASSERT_TRUE(write_file_atomically(base + "/outside", "kept"));
    ASSERT_EQ(::symlink((base + "/outside").c_str(), (folder + "/link").c_str()), 0);
    ASSERT_EQ(::symlink(base.c_str(), (folder + "/folder-link").c_str()), 0);
    ASSERT_EQ(::mkfifo((folder + "/fifo").c_str(), 0), 0);
    ASSERT_EQ(::chmod((folder + "/a/b").c_str(), 0), 0);
    ASSERT_EQ(::chmod((folder + "/a").c_str(), 0500), 0);
    EXPECT_TRUE(remove_contents(folder));
    EXPECT_TRUE(list_directory(folder)->empty());
    EXPECT_TRUE(exists(base + "/outside"));
    EXPECT_TRUE(remove_tree(folder));
    EXPECT_TRUE(remove_tree(folder));
    EXPECT_FALSE(remove_contents(folder));
    EXPECT_TRUE(remove_tree(base));
}

TEST(FileTrees, RemovesWhatIsNestedDeeperThanAPathIsLong) {
    std::string base = "/tmp/lavant-trees-XXXXXX";
    ASSERT_NE(::mkdtemp(base.data()), nullptr);
    ASSERT_EQ(::chdir(base.c_str()), 0);
    const std::string name(100, 'd');
    for (int depth = 0; depth < 60; ++depth) {
        ASSERT_EQ(::mkdir(name.c_str(), 0700), 0);
        ASSERT_EQ(::chdir(name.c_str()), 0);
    }
    ASSERT_EQ(::chdir("/"), 0);
    EXPECT_TRUE(remove_tree(base));
}

}  // namespace
}  // namespace lavant
