#pragma once
// A running server: every part made, wired and given its threads.

#include <memory>
#include <string>

#include "base/result.h"
#include "main/serve.h"

namespace lavant {

class Server {
 public:
    explicit Server(ServeOptions options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] Result<std::string> start();  // the URL it serves
    // Returns after a stop signal, or after it was idle for long enough; everything is stopped then.
    void run_until_stopped(int signal_fd);

 private:
    class Parts;
    ServeOptions options_;
    std::unique_ptr<Parts> parts_;
};

}  // namespace lavant
