#pragma once
// The agent's one thread and its wires to the server. Every call and every callback is on the thread that is
// in Reactor::run().

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "ports/http.h"

namespace lavant::ports {

class Reactor {
 public:
    using Timer = std::uint64_t;  // 0 is none
    virtual ~Reactor() = default;
    virtual void run() = 0;  // until stop()
    virtual void stop() = 0;
    virtual void post(std::function<void()> task) = 0;
    virtual Timer after(Duration delay, std::function<void()> task) = 0;
    virtual void cancel(Timer timer) = 0;  // an unknown one is fine
    // Calls once. The descriptor stays the caller's, who forgets it before closing it.
    virtual void when_readable(int fd, std::function<void()> task) = 0;
    virtual void forget(int fd) = 0;
};

// What happens on a link that is kept: up and down alternate.
class LinkHandler {
 public:
    virtual ~LinkHandler() = default;
    virtual void up() = 0;
    virtual void received(std::string_view frame) = 0;
    virtual void down() = 0;
    // The server answered the upgrade with this status. The link goes on trying.
    virtual void refused(int status) = 0;
};

// A WebSocket that dials again by itself, with a growing, jittered pause. Ends when destroyed.
class KeptLink {
 public:
    virtual ~KeptLink() = default;
    virtual void send(std::string frame) = 0;  // lost while the link is down
};

class ServerWire {
 public:
    virtual ~ServerWire() = default;
    // `path` is below the server's URL. The handler must outlive the link.
    [[nodiscard]] virtual std::unique_ptr<KeptLink> keep_link(const std::string& path,
                                                              const std::string& bearer,
                                                              LinkHandler& handler) = 0;
    // A url that starts with '/' goes to the server, any other to the world. `on_bytes` is not looked at.
    // Unavailable: could not be reached, or the connection broke; whoever asks may ask again.
    using Done = std::function<void(Result<HttpResponse>)>;
    virtual void send(ClientRequest request, Done done) = 0;
};

}  // namespace lavant::ports
