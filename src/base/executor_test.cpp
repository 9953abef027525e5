#include "base/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace lavant {
namespace {

TEST(Executor, FinishesWhatIsQueuedBeforeItStops) {
    std::atomic<int> done = 0;
    {
        Executor executor(2);
        for (int i = 0; i < 1000; ++i) ASSERT_TRUE(executor.post([&] { ++done; }));
    }
    EXPECT_EQ(done, 1000);
}

TEST(Executor, DropsWhatIsQueuedWhenItIsAbandoned) {
    std::promise<void> gate;
    std::promise<void> started;
    std::atomic<int> done = 0;
    Executor executor(1);
    ASSERT_TRUE(executor.post([&] {
        started.set_value();
        gate.get_future().wait();
        ++done;
    }));
    started.get_future().wait();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(executor.post([&] { ++done; }));
    std::thread opener([&] { gate.set_value(); });
    executor.abandon();
    opener.join();
    EXPECT_LE(done, 1001);
    EXPECT_GE(done, 1);
    EXPECT_FALSE(executor.post([] {}));
}

TEST(Executor, RefusesWhatDoesNotFitItsQueue) {
    Executor executor(1, 1);
    std::promise<void> gate;
    std::promise<void> started;
    ASSERT_TRUE(executor.post([&] {
        started.set_value();
        gate.get_future().wait();
    }));
    started.get_future().wait();
    EXPECT_TRUE(executor.post([] {}));
    EXPECT_FALSE(executor.post([] {}));
    gate.set_value();
    executor.stop();
    EXPECT_FALSE(executor.post([] {}));
}

}  // namespace
}  // namespace lavant
