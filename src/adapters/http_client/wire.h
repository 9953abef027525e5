#pragma once
// One connection of a client that blocks: a socket that never blocks, TLS over it where asked for, and
// waiting with an end. Programs that use it ignore SIGPIPE.

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files.h"
#include "net/dial.h"

struct ssl_st;
struct ssl_ctx_st;

namespace lavant::adapters::http_client {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;  // none: for ever

enum class Step { Moved, Later, Ended, Broken, TimedOut };
struct Moved {
    Step step = Step::Later;
    std::size_t bytes = 0;
};

class Wire {
 public:
    // Tries one address after the other; each but the last gets its share of the time. When `stop_fd` (-1:
    // none) can be read, nothing is waited for any more: as if the time was over.
    static Step dial(const net::Endpoints& endpoints, Deadline until, int stop_fd,
                     std::unique_ptr<Wire>& made);
    Wire(Fd socket, int stop_fd) : socket_(std::move(socket)), stop_fd_(stop_fd) {}
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    // Empty when it went well. `untrusted` tells a certificate that does not fit from other failures.
    struct Refusal {
        Step step = Step::Moved;
        bool untrusted = false;
        std::string why;
    };
    Refusal secure(ssl_ctx_st* context, const std::string& host, Deadline until);

    Moved read(std::span<char> into);     // at once: Later where nothing is there yet
    Moved write(std::string_view bytes);  // at once
    bool wait_to_read(Deadline until) { return wait(read_needs_, until); }  // false: in vain
    bool wait_for_either(Deadline until) { return wait(read_needs_ | write_needs_, until); }
    bool is_quiet() const;  // Between two answers a server that says anything says good-bye.

 private:
    static bool wait_on(int socket, int events, int stop_fd, Deadline until);
    bool wait(int events, Deadline until) const { return wait_on(socket_.get(), events, stop_fd_, until); }
    Moved settle(long count, int& needs);

    Fd socket_;
    int stop_fd_;
    ssl_st* tls_ = nullptr;
    int read_needs_ = POLLIN;    // what reading waits for; TLS may have to write first
    int write_needs_ = POLLOUT;  // likewise
};

}  // namespace lavant::adapters::http_client
