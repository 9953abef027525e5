#include "host/trees.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

namespace lavant::host {
namespace {

TEST(Trees, RemovesWhateverIsInAFolderAndFollowsNoLink) {
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
    EXPECT_TRUE(remove_whole_tree(folder));
    EXPECT_TRUE(remove_whole_tree(folder));
    EXPECT_FALSE(remove_contents(folder));
    EXPECT_TRUE(remove_whole_tree(base));
}

TEST(Trees, RemovesWhatIsNestedDeeperThanAPathIsLong) {
    std::string base = "/tmp/lavant-trees-XXXXXX";
    ASSERT_NE(::mkdtemp(base.data()), nullptr);
    ASSERT_EQ(::chdir(base.c_str()), 0);
    const std::string name(100, 'd');
    for (int depth = 0; depth < 60; ++depth) {
        ASSERT_EQ(::mkdir(name.c_str(), 0700), 0);
        ASSERT_EQ(::chdir(name.c_str()), 0);
    }
    ASSERT_EQ(::chdir("/"), 0);
    EXPECT_TRUE(remove_whole_tree(base));
}

}  // namespace
}  // namespace lavant::host
