#include "agent/trash.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

#include "base/files.h"

namespace lavant::agent {
namespace {

// Runs what is due when the test says so.
class HandReactor final : public ports::Reactor {
 public:
    void run() override {}
    void stop() override {}
    void post(std::function<void()> task) override { task(); }
    Timer after(Duration, std::function<void()> task) override {
        due = std::move(task);
        return 1;
    }
    void cancel(Timer timer) override {
        if (timer != 0) due = {};
    }
    void when_readable(int, std::function<void()>) override {}
    void forget(int) override {}

    bool fire() {
        if (!due) return false;
        std::exchange(due, {})();
        return true;
    }
    std::function<void()> due;
};

class TrashTest : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "lavant-trash-XXXXXX";
        base_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(base_)); }
    std::string make_folder(const std::string& name) {
        EXPECT_TRUE(make_directories(base_ + "/" + name));
        EXPECT_TRUE(write_file_atomically(base_ + "/" + name + "/file", "x"));
        return base_ + "/" + name;
    }
    std::size_t waiting() {
        const auto entries = list_directory(base_ + "/trash");
        return entries ? entries->size() : 0;
    }
    std::string base_;
    HandReactor reactor_;
};

TEST_F(TrashTest, MovesAtOnceAndRemovesWhenItIsQuiet) {
    Trash trash(base_ + "/trash", reactor_);
    const std::string folder = make_folder("a");
    ASSERT_TRUE(trash.take(folder));
    EXPECT_FALSE(exists(folder));
    EXPECT_EQ(waiting(), 1U);
    ASSERT_TRUE(reactor_.fire());  // Something was taken since the last look: not quiet yet.
    EXPECT_EQ(waiting(), 1U);
    ASSERT_TRUE(reactor_.fire());
    EXPECT_EQ(waiting(), 0U);
    EXPECT_FALSE(reactor_.fire());
}

TEST_F(TrashTest, RemovesManyInSmallSteps) {
    Trash trash(base_ + "/trash", reactor_);
    for (int i = 0; i < 150; ++i) ASSERT_TRUE(trash.take(make_folder(std::to_string(i))));
    int steps = 0;
    while (reactor_.fire()) ++steps;
    EXPECT_EQ(waiting(), 0U);
    EXPECT_GT(steps, 3);
}

TEST_F(TrashTest, TakesOverWhatAnEarlierProcessLeft) {
    {
        Trash trash(base_ + "/trash", reactor_);
        ASSERT_TRUE(trash.take(make_folder("a")));
    }
    EXPECT_FALSE(reactor_.fire());
    Trash again(base_ + "/trash", reactor_);
    ASSERT_TRUE(again.take(make_folder("b")));
    EXPECT_EQ(waiting(), 2U);
    while (reactor_.fire()) {
    }
    EXPECT_EQ(waiting(), 0U);
}

TEST_F(TrashTest, DoesNotMindThatThereIsNothingToTake) {
    Trash trash(base_ + "/trash", reactor_);
    EXPECT_TRUE(trash.take(base_ + "/absent"));
}

}  // namespace
}  // namespace lavant::agent
