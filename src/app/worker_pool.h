#pragma once
// A few threads for work that would keep an I/O thread from its connections: large copies, waiting for disks.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lavant::app {

class WorkerPool {
 public:
    explicit WorkerPool(int threads);
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;
    ~WorkerPool();  // what was given is done first

    void run(std::function<void()> work);

 private:
    void work();

    std::mutex mutex_;  // guards what follows but the threads
    std::condition_variable come_;
    std::deque<std::function<void()>> waiting_;
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace lavant::app
