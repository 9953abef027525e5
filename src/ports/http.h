#pragma once
// HTTP without a library in sight. Adapters turn bytes into these and back.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace lavant::ports {

using Header = std::pair<std::string, std::string>;

struct HttpRequest {
    std::string method;
    std::string path;   // still percent-encoded, without the query
    std::string query;  // after '?', still encoded
    std::vector<Header> headers;
    std::string body;
    std::string
        body_file;  // set instead of body where the BodyPlan asked for it; the handler may move the file away
    std::uint64_t body_bytes = 0;
    std::string peer;  // "127.0.0.1:5123"

    std::string_view header(std::string_view name) const;  // "" if absent; case does not matter
    std::optional<std::string> query_value(std::string_view name) const;  // decoded
};

struct FileBody {
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::shared_ptr<const Fd> file = nullptr;  // shared with the store; if set, it is read, not the path
};

struct HttpResponse {
    int status = 200;
    std::vector<Header> headers;
    std::string body;
    std::optional<FileBody> file;                 // sent instead of body
    std::optional<std::uint64_t> content_length;  // for HEAD: what GET would send
};

// A response that goes on (SSE, followed logs). Any thread; calls after the client left are ignored.
class ResponseStream {
 public:
    virtual ~ResponseStream() = default;
    virtual void write(std::string bytes) = 0;
    virtual void finish() = 0;
    virtual bool client_is_gone() const = 0;
    virtual std::size_t bytes_waiting() const = 0;  // written here, not yet taken by the client
};

// Answers one request, once, from any thread. Dropping it unanswered sends 500.
class Responder {
 public:
    virtual ~Responder() = default;
    virtual void respond(HttpResponse response) = 0;
    virtual std::shared_ptr<ResponseStream> stream(HttpResponse head) = 0;  // shared: writer and connection
};

// What to do with a request's body, asked when the head is read and before the body.
struct BodyPlan {
    std::uint64_t bytes_max = 0;
    bool to_file = false;  // spool into a temporary file of the server's, hand over its path
};

// One WebSocket, seen by the application. Callbacks come from one thread at a time.
class SocketPeer {
 public:
    virtual ~SocketPeer() = default;
    virtual void send(std::string frame) = 0;  // any thread
    virtual void close() = 0;                  // any thread
};
class SocketHandler {
 public:
    virtual ~SocketHandler() = default;
    virtual void opened(std::shared_ptr<SocketPeer> peer) = 0;  // shared: senders outlive the connection
    virtual void received(std::string frame) = 0;
    virtual void closed() = 0;
};

// The application behind a server. Calls come from I/O threads: they must not block for long; SQL point reads
// and small files are fine, anything longer goes to a pool of the application's own.
class HttpApplication {
 public:
    virtual ~HttpApplication() = default;
    virtual BodyPlan plan_body(const HttpRequest& head) = 0;
    virtual void handle(HttpRequest request, std::shared_ptr<Responder> responder) = 0;
    // A handler, or the response that refuses the upgrade.
    virtual tl::expected<std::unique_ptr<SocketHandler>, HttpResponse> accept_socket(
        const HttpRequest& head) = 0;
};

// --- client side (the CLI) ---

struct ClientRequest {
    std::string method = "GET";
    std::string url;
    std::vector<Header> headers;
    std::string body;
    std::string body_file;                           // sent instead of body
    std::string response_file;                       // if set, a 2xx body is written there
    int timeout_s = 100;                             // 0: none (streams)
    std::function<bool(std::string_view)> on_bytes;  // if set, gets the body as it comes; false stops
};

class HttpClient {
 public:
    virtual ~HttpClient() = default;
    // Unavailable when the server cannot be reached or the TLS name or CA does not fit. Blocks. One thread.
    [[nodiscard]] virtual Result<HttpResponse> send(const ClientRequest& request) = 0;
};

}  // namespace lavant::ports
