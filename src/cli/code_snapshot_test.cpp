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

// Beside the code folder: what a component includes.
class IncludesTest : public SnapshotTest {
 protected:
    void beside(const std::string& name, const std::string& text) { write("../" + name, text); }
    std::string place(const std::string& name) const { return parent_of(folder_) + "/" + name; }
    Result<Snapshot> taken(const std::vector<std::string>& includes, bool with_code = true) const {
        ComponentCode code{with_code ? folder_ : "", {}, parent_of(folder_)};
        for (const std::string& one : includes) code.includes.push_back(place(one));
        return take_component_snapshot(code);
    }
    static Paths paths_of(const Result<Snapshot>& snapshot) {
        Paths all;
        if (!snapshot) return {snapshot.error().message};
        for (const SnapshotFile& file : snapshot->files) all.push_back(file.path);
        return all;
    }
    std::string refusal(const std::vector<std::string>& includes) const {
        const auto snapshot = taken(includes);
        return snapshot ? "" : snapshot.error().message;
    }
};

TEST_F(IncludesTest, AComponentsCodeHasNothingThatPythonCompiled) {
    write("main.py", "x");
    write("__pycache__/main.pyc", "x");
    write("sub/__pycache__/b.pyc", "x");
    EXPECT_EQ(paths_of(taken({})), (Paths{"main.py"}));
    EXPECT_EQ(paths().size(), 3U);  // a job's has
}

TEST_F(IncludesTest, StandBesideTheCodeAndHashAsTheSdkDoes) {
    write("main.py", "print(1)\n");
    write("__pycache__/x.pyc", "x");
    write(".amlignore", "*.log\n");
    write("a.log", "x");
    beside("lib/l.py", "l\n");
    beside("lib/b.log", "x");
    beside("lib/sub/.amlignore", "*.tmp\n");
    beside("lib/sub/c.tmp", "x");
    beside("lib/sub/d.txt", "x");
    beside("one.txt", "one");
    const auto merged = taken({"lib", "one.txt"});
    EXPECT_EQ(paths_of(merged),
              (Paths{".amlignore", "lib/l.py", "lib/sub/.amlignore", "lib/sub/d.txt", "main.py", "one.txt"}));
    EXPECT_EQ(merged->name, "code_with_additional_includes");
    EXPECT_EQ(content_hash(*merged, *crypto_).value(),
              "c4b97e8c9d64aa89b87a533531fbe1f9eb77e3314b56174a1b2d3b43816d551c");
    const auto alone = taken({"lib"}, false);  // without code, its rules do not hold
    EXPECT_EQ(paths_of(alone), (Paths{"lib/b.log", "lib/l.py", "lib/sub/.amlignore", "lib/sub/d.txt"}));
    EXPECT_EQ(content_hash(*alone, *crypto_).value(),
              "6a8ab7b2e0773f79f93323c5a4e6adb0803e1c1313db4d28dc814198afe344a4");
    EXPECT_EQ(paths_of(taken({"lib", "lib/l.py", "one.txt", "one.txt"})).size(), 7U);  // named twice is once
}

TEST_F(IncludesTest, DoNotReplaceWhatTheCodeHas) {
    write("one.txt", "code's");
    beside("one.txt", "other");
    EXPECT_NE(refusal({"one.txt"}).find("the code folder has 'one.txt' already"), std::string::npos);
    EXPECT_NE(refusal({"nothing"}), "");
    ComponentCode root{folder_, {"/"}, folder_};
    EXPECT_FALSE(take_component_snapshot(root).has_value());
}

TEST_F(IncludesTest, LinksInThemStayInside) {
    write("main.py", "x");
    beside("secret", "hush");
    beside("lib/a/b.txt", "x");
    const auto link = [this](const std::string& target, const std::string& name) {
        ASSERT_EQ(::symlink(target.c_str(), place(name).c_str()), 0);
    };
    link("a/b.txt", "lib/inside");
    EXPECT_EQ(paths_of(taken({"lib"})), (Paths{"lib/a/b.txt", "lib/inside", "main.py"}));
    link("../secret", "lib/outside");
    EXPECT_NE(refusal({"lib"}).find("link 'lib/outside' leads out of"), std::string::npos);
    ASSERT_EQ(::unlink(place("lib/outside").c_str()), 0);
    link("../../lib", "lib/a/up");
    EXPECT_NE(refusal({"lib"}).find("leads back to one above it"), std::string::npos);
    ASSERT_EQ(::unlink(place("lib/a/up").c_str()), 0);
    link("gone", "lib/nowhere");
    EXPECT_NE(refusal({"lib"}).find("'lib/nowhere' leads nowhere"), std::string::npos);
    // One that is named is followed, and has the name of what it leads to.
    link("secret", "named");
    EXPECT_EQ(paths_of(taken({"named"})), (Paths{"main.py", "secret"}));
}

}  // namespace
}  // namespace lavant::cli
