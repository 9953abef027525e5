#include "adapters/blobs_fs/beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/temporary_folder.h"

namespace lavant::blobs {
namespace {

using Open = Fd (*)(int, const std::string&, int, mode_t);

class Beneath : public testing::TestWithParam<Open> {
 protected:
    Beneath() : root_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
    Fd open(const std::string& path, int flags) { return GetParam()(root_.get(), path, flags, 0600); }

    test::TemporaryFolder folder_;
    Fd root_;
};

TEST_P(Beneath, OpensWhatIsThere) {
    ASSERT_TRUE(make_directories(folder_ / "a/b"));
    EXPECT_TRUE(open("", O_RDONLY | O_DIRECTORY));
    EXPECT_TRUE(open("a/b", O_RDONLY | O_DIRECTORY));
    EXPECT_TRUE(open("a/b/c", O_WRONLY | O_CREAT));
    EXPECT_TRUE(exists(folder_ / "a/b/c"));
    EXPECT_FALSE(open("a/b/c/d", O_RDONLY));
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_FALSE(open("a/x", O_RDONLY));
    EXPECT_EQ(errno, ENOENT);
}

TEST_P(Beneath, FollowsNoLinkAnywhereOnTheWay) {
    test::TemporaryFolder outside;
    ASSERT_TRUE(write_file_atomically(outside / "secret", "x"));
    ASSERT_EQ(::symlink(outside.path().c_str(), (folder_ / "out").c_str()), 0);
    ASSERT_EQ(::symlink((outside / "secret").c_str(), (folder_ / "file").c_str()), 0);
    EXPECT_FALSE(open("out/secret", O_RDONLY));
    EXPECT_FALSE(open("out", O_RDONLY | O_DIRECTORY));
    EXPECT_FALSE(open("file", O_RDONLY));
    EXPECT_FALSE(open("file", O_WRONLY | O_CREAT | O_TRUNC));
    EXPECT_EQ(*read_file(outside / "secret", 10), "x");
}

TEST_P(Beneath, DoesNotClimbOut) {
    ASSERT_TRUE(make_directories(folder_ / "a"));
    EXPECT_FALSE(open("..", O_RDONLY | O_DIRECTORY));
    EXPECT_FALSE(open("a/../../x", O_RDONLY | O_CREAT));
}

INSTANTIATE_TEST_SUITE_P(Ways, Beneath, testing::Values(&open_beneath, &open_beneath_by_walking));

TEST(SyncsInOrder, NeedsAJournal) {
    EXPECT_TRUE(has_journal("rw\nbsddf\ndata=ordered\nbarrier\n"));
    EXPECT_TRUE(has_journal("data=writeback"));
    EXPECT_FALSE(has_journal("rw\nbsddf\nnojournal_checksum\nbarrier\nmetadata=1\n"));
    EXPECT_FALSE(has_journal(""));
    const Fd memory(::open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(memory);
    EXPECT_FALSE(syncs_in_order(memory.get()));
}

TEST(MakeFolders, MakesWhatIsMissingAndRefusesAFileInTheWay) {
    test::TemporaryFolder folder;
    const Fd root(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    UnsyncedFolders unsynced;
    ASSERT_TRUE(make_folders_beneath(root.get(), "a/b/c", unsynced));
    ASSERT_TRUE(make_folders_beneath(root.get(), "a/b/c", unsynced));
    EXPECT_TRUE(unsynced.sync());
    EXPECT_TRUE(exists(folder / "a/b/c"));
    ASSERT_TRUE(write_file_atomically(folder / "a/file", "x"));
    const auto refused = make_folders_beneath(root.get(), "a/file/d", unsynced);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
}

}  // namespace
}  // namespace lavant::blobs
