#include "app/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>

namespace lavant::app {
namespace {

TEST(WorkerPool, DoesAllThatItWasGivenBeforeItEnds) {
    std::atomic<int> done = 0;
    {
        WorkerPool pool(3);
        for (int i = 0; i < 100; ++i) pool.run([&done] { ++done; });
    }
    EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace lavant::app
