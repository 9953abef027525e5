#pragma once
// A few threads for what others on the net may hold up; HostTurns says whose turn it is.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/host_turns.h"

namespace lavant::app {

class HostExecutor {
 public:
    explicit HostExecutor(int threads, HostTurns::Settings settings = {});
    ~HostExecutor() { stop(); }
    HostExecutor(const HostExecutor&) = delete;
    HostExecutor& operator=(const HostExecutor&) = delete;

    // Any thread. False: too much waits, or it is stopping.
    [[nodiscard]] bool post(const std::string& host, HostTurns::Work work);
    void stop();  // takes no more, drops what waits, joins what is under way

 private:
    void run();

    std::mutex mutex_;  // guards what follows but the threads
    std::condition_variable arrived_;
    HostTurns turns_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace lavant::app
