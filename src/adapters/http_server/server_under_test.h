#pragma once
// For this room's tests: a blocking client that may misbehave, and an application made of lambdas.

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/crypto_openssl/certificates.h"
#include "adapters/http_server/http_server.h"
#include "base/files.h"
#include "ports/http.h"

namespace lavant::adapters::http {

struct Reply {
    int status = 0;  // 0: none came
    std::string head;
    std::string body;
    std::string header(std::string_view name) const;
};

// Gives up after 20 s without a byte, so that a hanging server fails a test and does not stop it.
class TestClient {
 public:
    enum class Security { Plain, Tls };
    // `resume`: a session of an earlier client, owned by the caller.
    TestClient(int port, Security security, const std::string& ca_file, SSL_SESSION* resume = nullptr);
    ~TestClient();
    TestClient(const TestClient&) = delete;
    TestClient& operator=(const TestClient&) = delete;

    bool is_connected() const { return connected_; }
    bool send(std::string_view bytes);
    std::string receive();      // some bytes; "" at the end
    std::string receive_all();  // until the server closes
    std::string receive_exactly(std::size_t bytes);
    Reply read_reply(bool to_head = false);  // one response; what follows stays
    void close();
    void reset();  // so that the server sees an error, not an end
    int descriptor() const { return socket_.get(); }
    bool was_resumed() const { return SSL_session_reused(ssl_) == 1; }
    SSL_SESSION* session() const { return SSL_get1_session(ssl_); }

    // WebSocket
    bool upgrade(const std::string& path, const std::string& more_headers = "");
    bool send_frame(std::string_view payload, int opcode = 2, bool final = true);
    static std::string make_frame(std::string_view payload, int opcode = 2, bool final = true);
    struct Frame {
        int opcode = -1;  // -1: none came
        std::string payload;
    };
    Frame read_frame();

 private:
    bool fill(std::size_t bytes);
    bool read_line(std::string* line);

    Fd socket_;
    SSL_CTX* context_ = nullptr;
    SSL* ssl_ = nullptr;
    bool connected_ = false;
    std::string in_;
};

class TestApplication : public ports::HttpApplication {
 public:
    std::function<ports::BodyPlan(const ports::HttpRequest&)> on_plan = [](const ports::HttpRequest&) {
        return ports::BodyPlan{1U << 20, false};
    };
    std::function<void(ports::HttpRequest, std::shared_ptr<ports::Responder>)> on_request;
    std::function<tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse>(
        const ports::HttpRequest&)>
        on_socket;

    ports::BodyPlan plan_body(const ports::HttpRequest& head) override { return on_plan(head); }
    void handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) override {
        on_request(std::move(request), std::move(responder));
    }
    tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse> accept_socket(
        const ports::HttpRequest& head) override {
        return on_socket(head);
    }
};

// A server on a free loopback port, with certificates and a temporary folder of its own.
class ServerUnderTest {
 public:
    ServerUnderTest();
    ~ServerUnderTest();
    ServerUnderTest(const ServerUnderTest&) = delete;
    ServerUnderTest& operator=(const ServerUnderTest&) = delete;

    void start();  // with settings and application as they are then
    TestClient connect(TestClient::Security security = TestClient::Security::Tls) const {
        return {port, security, certificates.ca_file};
    }
    std::string spool() const { return folder + "/spool"; }

    std::string folder;
    CertificateFiles certificates;
    ServerSettings settings;
    TestApplication application;
    std::unique_ptr<HttpServer> server;
    int port = 0;
};

}  // namespace lavant::adapters::http
