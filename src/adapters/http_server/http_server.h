#pragma once
// The HTTPS server: HTTP/1.1 and WebSockets over TLS on one port, in front of a ports::HttpApplication.
// Each I/O thread owns its connections, so that a connection needs no locks; answers from other threads come
// in through the thread's mailbox.

#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "ports/http.h"

namespace lavant::adapters {

struct ServerLimits {
    int connections = limits::kConnections;
    std::size_t head_bytes = limits::kHttpHeadBytes;
    std::size_t frame_bytes = limits::kFrameBytes;
    std::size_t stream_bytes = 16U << 20;   // written to one response stream and not yet taken; more ends it
    std::size_t socket_bytes = 64U << 20;   // the same for one WebSocket
    std::uint64_t body_bytes = 512U << 20;  // request bodies in memory, over all connections
    Duration head = std::chrono::seconds{30};  // from the first byte of a request to the end of its head
    Duration idle = std::chrono::minutes{5};   // between two requests
    Duration body = std::chrono::seconds{30};  // each such span must bring body_bytes_min
    std::uint64_t body_bytes_min = 8U << 10;
    Duration write = std::chrono::seconds{60};  // without the client taking a byte
    Duration ping = std::chrono::seconds{30};   // WebSocket: pinged after this silence, cut after twice that
};

struct ServerSettings {
    std::string address = "127.0.0.1";  // or a host name; "::" and "0.0.0.0" for all
    int port = 0;                       // 0: any free one
    bool tls = true;
    std::string certificate_file;
    std::string key_file;
    std::string temporary_folder;  // for bodies that go to files; must exist
    int io_threads = 1;
    ServerLimits limits;
};

struct ServerStats {
    std::int64_t connections = 0;  // open now, WebSockets included
    std::int64_t sockets = 0;      // WebSockets open now
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  // above the limit
    std::uint64_t handshakes_failed = 0;
    std::uint64_t requests = 0;
    std::uint64_t requests_malformed = 0;
    std::uint64_t frames_in = 0;
    std::uint64_t frames_out = 0;
    std::uint64_t bytes_in = 0;  // before encryption
    std::uint64_t bytes_out = 0;
};

class HttpServer {
 public:
    // `application` must outlive the server and whatever it still holds of requests.
    HttpServer(ServerSettings settings, ports::HttpApplication& application);
    ~HttpServer();  // stops without grace
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // Listens; returns the port. Unavailable where the port is taken.
    [[nodiscard]] Result<int> start();
    // Takes no more connections, lets requests in flight finish, cuts response streams, says good-bye on
    // WebSockets; what is left after `grace` is cut. Returns when no thread is left. Not from a callback.
    void stop(Duration grace);
    // New connections get the certificate that lies in the files now.
    [[nodiscard]] Result<void> reload_certificate();

    ServerStats stats() const;  // any thread

 private:
    class Machine;
    std::unique_ptr<Machine> machine_;
};

}  // namespace lavant::adapters
