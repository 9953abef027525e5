#include "cli/code_snapshot.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "base/files.h"

namespace lavant::cli {
namespace {

class SnapshotTest : public ::testing::Test {
 protected:
    SnapshotTest() {
        std::string pattern = ::testing::TempDir() + "/snapshot.XXXXXX";
        folder_ = std::string(::mkdtemp(pattern.data())) + "/code";
        EXPECT_TRUE(make_directories(folder_));
        crypto_ = std::move(*adapters::OpensslCrypto::without_key_file());
    }
    ~SnapshotTest() override { (void)remove_tree(parent_of(folder_)); }

    void write(const std::string& name, const std::string& text) {
        ASSERT_TRUE(make_directories(parent_of(folder_ + "/" + name)));
        ASSERT_TRUE(write_file_atomically(folder_ + "/" + name, text, 0644));
    }
    std::vector<std::string> paths() {
        const auto snapshot = take_snapshot(folder_);
        EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
        std::vector<std::string> all;
        if (snapshot) {
            for (const SnapshotFile& file : snapshot->files) all.push_back(file.path);
        }
        return all;
    }
    std::string hash() { return content_hash(*take_snapshot(folder_), *crypto_).value(); }

    std::string folder_;
    std::unique_ptr<adapters::OpensslCrypto> crypto_;
};

using Paths = std::vector<std::string>;

// The expected hashes in this file were computed with azure-ai-ml 1.35.2.
TEST_F(SnapshotTest, HashesNamesSizesAndBytesAsTheSdkDoes) {
    write("a.txt", "a");
    write("B/c.txt", "");
    EXPECT_EQ(paths(), (Paths{"a.txt", "B/c.txt"}));
    EXPECT_EQ(hash(), "2b4f432755a846b35d3da5f31678cc5ccf25b58aad9aa41ab6221ad3572a635e");
    EXPECT_EQ(object_hash(folder_, *crypto_).value(),
              "f65e93e24018117f43f65e0823b2107fa0cab0cece8e6bcc44d636ad5b84e3af");
}

TEST_F(SnapshotTest, SortsByLowerCaseOfEveryScript) {
    for (const char* name : {"b", "A", "Ä", "ä1", "Ω", "ω2", "z"}) write(name, name);
    EXPECT_EQ(paths(), (Paths{"A", "b", "z", "Ä", "ä1", "Ω", "ω2"}));
}

TEST_F(SnapshotTest, AmlignoreWinsOverGitignoreAndOnlyTheRootCounts) {
    write(".gitignore", "a.txt\n");
    write("a.txt", "a");
    write("b.txt", "b");
    write("sub/.amlignore", "*\n");
    write("sub/c.txt", "c");
    EXPECT_EQ(paths(), (Paths{".gitignore", "b.txt", "sub/.amlignore", "sub/c.txt"}));
    write(".amlignore", "b.txt\n.*\n");
    EXPECT_EQ(paths(), (Paths{"a.txt", "sub/c.txt"}));
}

TEST_F(SnapshotTest, FollowsLinksUnderTheirOwnNames) {
    write("real/x.txt", "x");
    ASSERT_EQ(::symlink("real", (folder_ + "/link").c_str()), 0);
    ASSERT_EQ(::symlink("real/x.txt", (folder_ + "/y.txt").c_str()), 0);
    EXPECT_EQ(paths(), (Paths{"link/x.txt", "real/x.txt", "y.txt"}));
}

TEST_F(SnapshotTest, RefusesLinksThatLeadNowhereOrInCircles) {
    ASSERT_EQ(::symlink("absent", (folder_ + "/broken").c_str()), 0);
    const auto broken = take_snapshot(folder_);
    ASSERT_FALSE(broken.has_value());
    EXPECT_NE(broken.error().message.find("'broken' leads nowhere"), std::string::npos)
        << broken.error().message;
    ASSERT_EQ(::unlink((folder_ + "/broken").c_str()), 0);
    ASSERT_EQ(::symlink(".", (folder_ + "/loop").c_str()), 0);
    const auto loop = take_snapshot(folder_);
    ASSERT_FALSE(loop.has_value());
    EXPECT_NE(loop.error().message.find("'loop' leads back"), std::string::npos) << loop.error().message;
}

TEST_F(SnapshotTest, AnExcludedBrokenLinkDoesNoHarm) {
    ASSERT_EQ(::symlink("absent", (folder_ + "/broken").c_str()), 0);
    write(".amlignore", "broken\n");
    EXPECT_EQ(paths(), (Paths{".amlignore"}));
}

TEST_F(SnapshotTest, AFileIsASnapshotOfItself) {
    write("train.py", "print()");
    const auto snapshot = take_snapshot(folder_ + "/train.py");
    ASSERT_TRUE(snapshot.has_value());
    EXPECT_TRUE(snapshot->is_file);
    EXPECT_EQ(snapshot->files.front().path, "train.py");
}

TEST(SizeWarning, NamesTheThreeLargestEntries) {
    Snapshot snapshot;
    snapshot.name = "src";
    snapshot.files = {{"/x", "data/big", 90'000'000},
                      {"/x", "data/more", 20'000'000},
                      {"/x", "model.bin", 5'000'000},
                      {"/x", "notes", 2'000'000},
                      {"/x", "small", 1}};
    for (const SnapshotFile& file : snapshot.files) snapshot.bytes += file.bytes;
    const std::string warning = size_warning(snapshot);
    EXPECT_NE(warning.find("data/ (110.0 MB), model.bin (5.0 MB), notes (2.0 MB)"), std::string::npos)
        << warning;
    EXPECT_EQ(warning.find("small"), std::string::npos);
}

TEST(SizeWarning, IsSilentAtTheLimit) {
    Snapshot snapshot;
    snapshot.files = {{"/x", "a", kSnapshotWarnBytes}};
    snapshot.bytes = kSnapshotWarnBytes;
    EXPECT_EQ(size_warning(snapshot), "");
    snapshot.bytes += 1;
    EXPECT_NE(size_warning(snapshot), "");
}

}  // namespace
}  // namespace lavant::cli
