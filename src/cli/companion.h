#pragma once
// While one thread waits for a log, this one says what goes on when nothing comes, and answers Ctrl-C.

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/files.h"
#include "cli/console.h"

namespace lavant::cli {

class Companion {
 public:
    struct Words {
        std::function<std::string()> now;  // what the job does; asked on this thread
        std::string farewell;              // said at Ctrl-C, before the program ends
    };
    Companion(const Console& console, Words words);
    ~Companion();
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;

    // Log text to standard output. False when nobody reads any more.
    bool write(std::string_view bytes);
    void stop();  // nothing more is said

 private:
    void run();
    void say(const std::string& text);
    void wipe();

    const Console& console_;
    Words words_;
    Fd signals_;
    Fd wake_;
    std::mutex mutex_;  // guards what follows, and the console
    std::chrono::steady_clock::time_point last_word_;
    bool line_shown_ = false;  // one that the next output wipes away
    bool ends_with_newline_ = true;
    std::thread thread_;
};

}  // namespace lavant::cli
