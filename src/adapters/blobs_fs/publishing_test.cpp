#include "adapters/blobs_fs/publishing.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "tests/support/temporary_folder.h"

namespace lavant::adapters {
namespace {

class Publishing : public testing::Test {
 protected:
    Publishing() : store_(std::move(*FsBlobStore::open(folder_ / "blobs"))) {
        (void)store_->make_container("c");
    }

    void put(const std::string& name, const std::string& bytes) {
        ASSERT_TRUE(store_->put_bytes("c", name, bytes));
    }
    std::string get(const std::string& name) {
        return read_file(store_->path_of("c", name), 1'000).value_or("absent");
    }
    std::size_t count(const std::string& folder) {
        const auto listed = list_directory(folder_ / ("blobs/c/" + folder));
        return listed ? listed->size() : 0;
    }

    test::TemporaryFolder folder_;
    std::unique_ptr<FsBlobStore> store_;
    const std::string staged_ = ".lavant-staging/7-1";
};

TEST_F(Publishing, MovesAWholeTree) {
    put(staged_ + "/run/outputs/a", "1");
    put(staged_ + "/run/outputs/deep/b", "2");
    ASSERT_TRUE(store_->publish("c", staged_ + "/run/outputs", "run/outputs"));
    EXPECT_EQ(get("run/outputs/a"), "1");
    EXPECT_EQ(get("run/outputs/deep/b"), "2");
    EXPECT_EQ(count(staged_ + "/run"), 0U);
}

TEST_F(Publishing, JoinsWhatIsThereAndReplacesFilesOfTheSameName) {
    put("run/outputs/kept", "old");
    put("run/outputs/deep/replaced", "old");
    put(staged_ + "/outputs/deep/replaced", "new");
    put(staged_ + "/outputs/deep/added", "new");
    put(staged_ + "/outputs/fresh/x", "new");
    ASSERT_TRUE(store_->publish("c", staged_ + "/outputs", "run/outputs"));
    EXPECT_EQ(get("run/outputs/kept"), "old");
    EXPECT_EQ(get("run/outputs/deep/replaced"), "new");
    EXPECT_EQ(get("run/outputs/deep/added"), "new");
    EXPECT_EQ(get("run/outputs/fresh/x"), "new");
    EXPECT_EQ(count(staged_), 0U);
}

TEST_F(Publishing, NothingStagedMeansThatItIsDone) {
    EXPECT_TRUE(store_->publish("c", staged_ + "/outputs", "run/outputs"));
    put(staged_ + "/outputs/a", "1");
    EXPECT_TRUE(store_->publish("c", staged_ + "/outputs", "run/outputs"));
    EXPECT_TRUE(store_->publish("c", staged_ + "/outputs", "run/outputs"));
    EXPECT_EQ(get("run/outputs/a"), "1");
}

TEST_F(Publishing, MovesASingleBlobThatStillGrows) {
    ASSERT_TRUE(store_->append("c", "logs/std_log.txt", 0, "first"));
    ASSERT_TRUE(store_->publish("c", "logs/std_log.txt", "logs/attempt_1/std_log.txt"));
    ASSERT_TRUE(store_->append("c", "logs/std_log.txt", 0, "second"));
    EXPECT_EQ(get("logs/attempt_1/std_log.txt"), "first");
    EXPECT_EQ(get("logs/std_log.txt"), "second");
}

// Whatever the order: the old log is whole where it went, and the new one is a file of its own.
TEST_F(Publishing, MovesABlobThatIsAppendedToAtTheSameTime) {
    for (int round = 0; round < 50; ++round) {
        const std::string folder = "run-" + std::to_string(round);
        ASSERT_TRUE(store_->append("c", folder + "/log", 0, "first"));
        std::thread writer([&] { (void)store_->append("c", folder + "/log", 5, "!"); });
        ASSERT_TRUE(store_->publish("c", folder + "/log", folder + "/aside/log"));
        writer.join();
        ASSERT_TRUE(store_->append("c", folder + "/log", 0, "second"));
        ASSERT_TRUE(get(folder + "/aside/log").starts_with("first"));
        ASSERT_EQ(get(folder + "/log"), "second");
    }
}

TEST_F(Publishing, FileInTheWayOfAFolderIsNamed) {
    put("run/outputs", "a file");
    put(staged_ + "/outputs/a", "1");
    const auto blocked = store_->publish("c", staged_ + "/outputs", "run/outputs");
    ASSERT_FALSE(blocked);
    EXPECT_EQ(blocked.error().code, ErrorCode::Conflict);
    EXPECT_NE(blocked.error().message.find("run/outputs"), std::string::npos);
    EXPECT_EQ(get("run/outputs"), "a file");
    const auto deeper = store_->publish("c", staged_ + "/outputs", "run/outputs/inner");
    ASSERT_FALSE(deeper);
    EXPECT_EQ(deeper.error().code, ErrorCode::Conflict);
    EXPECT_EQ(get(staged_ + "/outputs/a"), "1");
}

TEST_F(Publishing, WhatIsInTheWayKeepsNothingElseBack) {
    put("a/taken", "a file");
    put("m", "a file");
    for (const char* name : {"/a/first", "/a/taken/x", "/a/zlast", "/m/x", "/z/last"})
        put(staged_ + name, "1");
    const auto blocked = store_->publish("c", staged_, "");
    ASSERT_FALSE(blocked);
    EXPECT_EQ(blocked.error().code, ErrorCode::Conflict);
    EXPECT_NE(blocked.error().message.find("'"), std::string::npos);
    for (const char* name : {"a/first", "a/zlast", "z/last"}) EXPECT_EQ(get(name), "1") << name;
    EXPECT_EQ(get("a/taken"), "a file");
    EXPECT_EQ(get(staged_ + "/m/x"), "1");
}

TEST_F(Publishing, DropsWhatNobodyWillPublish) {
    EXPECT_TRUE(store_->list_staged("c")->empty());
    EXPECT_TRUE(store_->list_staged("absent")->empty());
    EXPECT_TRUE(store_->drop_staged("c", "7-1"));
    put(staged_ + "/run/outputs/a", "1");
    put(".lavant-staging/7-2/run/outputs/a", "2");
    EXPECT_EQ(*store_->list_staged("c"), (std::vector<std::string>{"7-1", "7-2"}));
    ASSERT_TRUE(store_->drop_staged("c", "7-1"));
    ASSERT_TRUE(store_->drop_staged("c", "7-1"));
    EXPECT_EQ(*store_->list_staged("c"), (std::vector<std::string>{"7-2"}));
    EXPECT_EQ(get(".lavant-staging/7-2/run/outputs/a"), "2");
    EXPECT_TRUE(list_directory(store_->temporary_folder())->empty());
    EXPECT_FALSE(store_->drop_staged("c", "../run"));
}

TEST_F(Publishing, RefusesLinksAndPlacesInsideItself) {
    put(staged_ + "/x", "1");
    ASSERT_EQ(::symlink("/etc/passwd", (folder_ / ("blobs/c/" + staged_ + "/link")).c_str()), 0);
    EXPECT_FALSE(store_->publish("c", staged_ + "/link", "run/passwd"));
    EXPECT_FALSE(store_->publish("c", staged_, staged_ + "/inner"));
    EXPECT_FALSE(store_->publish("c", staged_, staged_));
    EXPECT_FALSE(store_->publish("c", "../c", "run"));
    EXPECT_FALSE(store_->publish("c", staged_, "../run"));
}

// A child publishes and is killed at some instant; whoever comes after finishes the work.
TEST_F(Publishing, KilledHalfWayIsFinishedByTheNextCall) {
    constexpr int kFiles = 40;
    for (int round = 0; round < 25; ++round) {
        const std::string from = ".lavant-staging/" + std::to_string(round) + "-1/outputs";
        const std::string to = "run-" + std::to_string(round) + "/outputs";
        put(to + "/d1/there", "old");
        for (int i = 0; i < kFiles; ++i)
            put(from + "/d" + std::to_string(i % 5) + "/f" + std::to_string(i), std::to_string(i));
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            (void)store_->publish("c", from, to);
            ::_exit(0);
        }
        for (int spin = 0; spin < round * 20'000; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        ASSERT_TRUE(store_->publish("c", from, to));
        for (int i = 0; i < kFiles; ++i)
            ASSERT_EQ(get(to + "/d" + std::to_string(i % 5) + "/f" + std::to_string(i)), std::to_string(i));
        ASSERT_EQ(get(to + "/d1/there"), "old");
        ASSERT_EQ(count(from), 0U);
    }
}

}  // namespace
}  // namespace lavant::adapters
