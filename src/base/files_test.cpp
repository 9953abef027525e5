#include "base/files.h"

#include <gtest/gtest.h>
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

}  // namespace
}  // namespace lavant
