// Servers and proxies that do what a good one does not.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <future>
#include <thread>

#include "adapters/crypto_openssl/certificates.h"
#include "adapters/http_client/beast_client.h"
#include "adapters/http_server/http_server.h"
#include "base/files.h"
#include "base/log.h"

namespace lavant::adapters {
namespace {

using ports::HttpRequest;
using ports::HttpResponse;

// Hands every connection, one after the other, to a script.
class OddServer {
 public:
    using Script = std::function<void(int connection, int number)>;  // numbers count from 1
    explicit OddServer(Script script) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&place_), sizeof place_);
        ::listen(listener_.get(), 8);
        socklen_t size = sizeof place_;
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&place_), &size);
        thread_ = std::thread([this, script = std::move(script)] {
            for (int number = 1;; ++number) {
                const Fd connection(::accept(listener_.get(), nullptr, nullptr));
                if (!connection) return;
                ++accepted;
                script(connection.get(), number);
            }
        });
    }
    ~OddServer() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
    }
    OddServer(const OddServer&) = delete;
    OddServer& operator=(const OddServer&) = delete;
    std::string address() const { return "127.0.0.1:" + std::to_string(ntohs(place_.sin_port)); }
    std::string url() const { return "http://" + address() + "/x"; }

    std::atomic<int> accepted = 0;

 private:
    sockaddr_in place_{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    Fd listener_;
    std::thread thread_;
};

// A request without a body, or what comes with its head; "" when the client is gone.
std::string read_head(int connection) {
    std::string head;
    std::array<char, 4096> bytes{};
    while (head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(connection, bytes.data(), bytes.size(), 0);
        if (got <= 0) return {};
        head.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return head;
}

// The client's end of a connection is shut: nothing more comes from it.
void wait_until_gone(int connection) {
    std::array<char, 4096> bytes{};
    while (::recv(connection, bytes.data(), bytes.size(), 0) > 0) {
    }
}

void say(int connection, std::string_view text) { (void)write_all(connection, text); }

void answer_ok(int connection) { say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); }

class OddServersTest : public testing::Test {
 protected:
    void SetUp() override {
        configure_log({.least = Level::Error});
        ::signal(SIGPIPE, SIG_IGN);
    }
};

TEST_F(OddServersTest, ReadsChunksHoweverTheyAreCut) {
    const std::string text =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
        "5\r\nhello\r\n1;ext=\"x\"\r\n \r\nA\r\nworld01234\r\n0\r\nTrailer: t\r\n\r\n";
    const OddServer server([&](int connection, int) {
        while (!read_head(connection).empty())
            for (const char c : text) say(connection, {&c, 1});
    });
    BeastClient http({});
    for (int i = 0; i < 2; ++i) {
        const auto response = http.send({.url = server.url()});
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->status, 200);
        EXPECT_EQ(response->body, "hello world01234");
    }
    EXPECT_EQ(server.accepted, 1);
}

TEST_F(OddServersTest, TheEndOfTheConnectionMayEndABody) {
    const OddServer server([](int connection, int) {
        (void)read_head(connection);
        say(connection, "HTTP/1.1 200 OK\r\n\r\nas long as it lasts");
    });
    BeastClient http({});
    EXPECT_EQ(http.send({.url = server.url()}).value().body, "as long as it lasts");
}

TEST_F(OddServersTest, AConnectionThatWasClosedMeanwhileIsReplaced) {
    const OddServer server([](int connection, int) {
        (void)read_head(connection);
        const int together = 1;  // the answer and the end of the connection in one packet
        ::setsockopt(connection, IPPROTO_TCP, TCP_CORK, &together, sizeof together);
        answer_ok(connection);
        ::shutdown(connection, SHUT_WR);
        (void)read_head(connection);  // until the client has left
    });
    BeastClient http({});
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(http.send({.method = "POST", .url = server.url()}).value().body, "ok");
    EXPECT_EQ(server.accepted, 3);
}

TEST_F(OddServersTest, ARequestThatGotNoAnswerIsSentAgainOnlyWhereThatIsSafe) {
    const auto script = [](int connection, int) {
        (void)read_head(connection);
        answer_ok(connection);
        (void)read_head(connection);  // and closes: perhaps it was done, perhaps not
    };
    for (const std::string& method : {std::string("GET"), std::string("PUT"), std::string("POST")}) {
        const OddServer server(script);
        BeastClient http({});
        ASSERT_TRUE(http.send({.url = server.url()}));
        const auto second = http.send({.method = method, .url = server.url()});
        if (method != "POST") {
            EXPECT_TRUE(second) << method;
            EXPECT_EQ(server.accepted, 2) << method;
            continue;
        }
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, ErrorCode::Unavailable);
        EXPECT_NE(second.error().message.find("closed the connection"), std::string::npos);
        EXPECT_EQ(server.accepted, 1);
    }
}

TEST_F(OddServersTest, AFreshConnectionWithoutAnswerIsNotTriedAgain) {
    const OddServer server([](int connection, int) { (void)read_head(connection); });
    BeastClient http({});
    EXPECT_EQ(http.send({.url = server.url()}).error().code, ErrorCode::Unavailable);
    EXPECT_EQ(server.accepted, 1);
}

TEST_F(OddServersTest, ASlowAnswerEndsWithTheTimeAllowed) {
    const OddServer server([](int connection, int) {
        (void)read_head(connection);
        say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while (true) {  // one byte now and then, for ever: only the whole has a limit
            ::pollfd left{connection, POLLIN, 0};
            if (::poll(&left, 1, 50) != 0) return;
            say(connection, "x");
        }
    });
    BeastClient http({});
    const auto response = http.send({.url = server.url(), .timeout_s = 1});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::DeadlineExceeded) << response.error().message;
}

TEST_F(OddServersTest, BrokenAnswersAreErrors) {
    const std::string long_head = "HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x') + "\r\n\r\n";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"SSH-2.0-x\r\n", "not HTTP"},
        {long_head, "not HTTP"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzzzzzz\r\n", "not HTTP"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "closed the connection"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "closed the connection"},
        {"HTTP/1.1 200", "closed the connection"},
        {"", "closed the connection"}};
    for (const auto& [text, words] : cases) {
        const OddServer server([&](int connection, int) {
            (void)read_head(connection);
            say(connection, text);
        });
        BeastClient http({});
        const auto response = http.send({.url = server.url() + "?sig=secret"});
        ASSERT_FALSE(response) << text.substr(0, 50);
        EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
        EXPECT_NE(response.error().message.find(words), std::string::npos) << response.error().message;
        EXPECT_EQ(response.error().message.find("secret"), std::string::npos) << response.error().message;
    }
}

TEST_F(OddServersTest, HearsARefusalThatComesBeforeTheBodyIsThrough) {
    const OddServer server([](int connection, int) {
        (void)read_head(connection);
        say(connection, "HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmuch");
    });
    BeastClient http({});
    const auto response =
        http.send({.method = "PUT", .url = server.url(), .body = std::string(64U << 20, 'b')});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 413);
    EXPECT_EQ(response->body, "much");
}

TEST_F(OddServersTest, AConnectionWithHalfABodyInItIsNotUsedAgain) {
    std::promise<void> heard;
    const OddServer server([&, wait = heard.get_future().share()](int connection, int number) {
        (void)read_head(connection);
        if (number > 1) return answer_ok(connection);
        say(connection, "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno");
        wait.wait();
        std::array<char, 4096> bytes{};
        while (::recv(connection, bytes.data(), bytes.size(), 0) > 0) {
        }
    });
    BeastClient http({});
    EXPECT_EQ(
        http.send({.method = "PUT", .url = server.url(), .body = std::string(64U << 20, 'b')}).value().status,
        409);
    heard.set_value();
    EXPECT_EQ(http.send({.url = server.url(), .timeout_s = 30}).value().body, "ok");
    EXPECT_EQ(server.accepted, 2);
}

TEST_F(OddServersTest, NothingBreaksOutOfAHead) {
    BeastClient http({});
    for (const ports::Header& header :
         {ports::Header{"X", "a\r\nY: b"}, ports::Header{"X\r\nY", "b"}, ports::Header{"X: a", "b"},
          ports::Header{"", "b"}, ports::Header{"X", std::string("a\0b", 3)}})
        EXPECT_EQ(http.send({.url = "http://127.0.0.1:1/", .headers = {header}}).error().code,
                  ErrorCode::InvalidArgument);
    EXPECT_EQ(http.send({.method = "GET /y HTTP/1.1\r\n", .url = "http://127.0.0.1:1/"}).error().code,
              ErrorCode::InvalidArgument);
}

class Hello final : public ports::HttpApplication {
 public:
    ports::BodyPlan plan_body(const HttpRequest&) override { return {1000, false}; }
    void handle(HttpRequest, std::shared_ptr<ports::Responder> responder) override {
        responder->respond({.body = "hello"});
    }
    tl::expected<std::unique_ptr<ports::SocketHandler>, HttpResponse> accept_socket(
        const HttpRequest&) override {
        return tl::make_unexpected(HttpResponse{.status = 404});
    }
};

// A server whose certificate has the name server.test, which only the proxy can find.
class ProxyTest : public OddServersTest {
 protected:
    void SetUp() override {
        OddServersTest::SetUp();
        std::string pattern = testing::TempDir() + "lavant-proxy-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        files_ = make_certificates("tls");
        ServerSettings settings;
        settings.certificate_file = files_.certificate_file;
        settings.key_file = files_.key_file;
        server_ = std::make_unique<HttpServer>(settings, hello_);
        port_ = server_->start().value();
    }
    void TearDown() override {
        ::unsetenv("https_proxy");
        server_.reset();
        EXPECT_TRUE(remove_tree(folder_));
    }
    CertificateFiles make_certificates(const std::string& name) {
        const Instant now = from_micros(std::time(nullptr) * 1'000'000);
        return ensure_certificates(folder_ + "/" + name, {"server.test"}, now).value();
    }
    // Says yes and carries bytes to and fro until one side has ended.
    void relay(int connection) {
        heard_ = read_head(connection);
        const Fd onward(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in place{.sin_family = AF_INET,
                          .sin_port = htons(static_cast<std::uint16_t>(port_)),
                          .sin_addr = {htonl(INADDR_LOOPBACK)},
                          .sin_zero = {}};
        ASSERT_EQ(::connect(onward.get(), reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
        say(connection, "HTTP/1.1 200 Connection established\r\n\r\n");
        while (true) {
            std::array<::pollfd, 2> both{{{connection, POLLIN, 0}, {onward.get(), POLLIN, 0}}};
            ::poll(both.data(), both.size(), -1);
            for (const std::size_t from : {0U, 1U}) {
                if (both[from].revents == 0) continue;
                std::array<char, 4096> bytes{};
                const ssize_t got = ::recv(both[from].fd, bytes.data(), bytes.size(), 0);
                if (got <= 0) return;
                say(both[1 - from].fd, {bytes.data(), static_cast<std::size_t>(got)});
            }
        }
    }

    std::string folder_;
    CertificateFiles files_;
    Hello hello_;
    std::unique_ptr<HttpServer> server_;
    int port_ = 0;
    std::string heard_;
};

TEST_F(ProxyTest, ReachesAServerThroughIt) {
    {
        const OddServer proxy([&](int connection, int) { relay(connection); });
        ::setenv("https_proxy", ("http://me:pw@" + proxy.address()).c_str(), 1);
        BeastClient http({.ca_file = files_.ca_file});
        for (int i = 0; i < 2; ++i) {
            const auto response = http.send({.url = "https://server.test/x"});
            ASSERT_TRUE(response) << response.error().message;
            EXPECT_EQ(response->body, "hello");
        }
        EXPECT_EQ(proxy.accepted, 1);
    }
    EXPECT_TRUE(heard_.starts_with("CONNECT server.test:443 HTTP/1.1\r\nHost: server.test:443\r\n"))
        << heard_;
    EXPECT_NE(heard_.find("Proxy-Authorization: Basic bWU6cHc=\r\n"), std::string::npos) << heard_;
}

TEST_F(ProxyTest, ANameThatTheCertificateLacksIsRefused) {
    const OddServer proxy([&](int connection, int) { relay(connection); });
    ::setenv("https_proxy", ("http://" + proxy.address()).c_str(), 1);
    BeastClient http({.ca_file = files_.ca_file});
    const auto response = http.send({.url = "https://other.test/x"});
    ASSERT_FALSE(response);
    EXPECT_NE(response.error().message.find("certificate does not fit (hostname mismatch)"),
              std::string::npos)
        << response.error().message;
}

TEST_F(ProxyTest, AProxyThatRefusesIsNamedWithoutItsPassword) {
    const OddServer proxy([](int connection, int) {
        (void)read_head(connection);
        say(connection, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nauth");
    });
    ::setenv("https_proxy", ("http://me:sesame@" + proxy.address()).c_str(), 1);
    BeastClient http({.ca_file = files_.ca_file});
    const auto response = http.send({.url = "https://server.test/x"});
    ASSERT_FALSE(response);
    EXPECT_NE(response.error().message.find("the proxy " + proxy.address() + " answers with status 407"),
              std::string::npos)
        << response.error().message;
    EXPECT_EQ(response.error().message.find("sesame"), std::string::npos);
}

TEST_F(ProxyTest, AnotherAuthorityIsNotBelieved) {
    const CertificateFiles others = make_certificates("others");
    BeastClient http({.ca_file = others.ca_file});
    const auto response = http.send({.url = "https://localhost:" + std::to_string(port_) + "/x"});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
    EXPECT_NE(response.error().message.find("certificate does not fit"), std::string::npos)
        << response.error().message;
    EXPECT_NE(response.error().message.find(others.ca_file), std::string::npos) << response.error().message;
}

TEST_F(ProxyTest, WhoChecksNobodySendsNoCredentials) {
    const std::string url = "https://localhost:" + std::to_string(port_) + "/x";
    BeastClient http({.verify = false});
    EXPECT_EQ(http.send({.url = url}).value().body, "hello");
    const auto refused = http.send({.url = url, .headers = {{"authorization", "Bearer t"}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(server_->stats().requests, 1U);
}

TEST_F(ProxyTest, AServerWithoutTlsIsToldFromOneThatIsNotThere) {
    const OddServer server([](int connection, int) {
        std::array<char, 64> bytes{};
        (void)::recv(connection, bytes.data(), bytes.size(), 0);
        say(connection, "HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    BeastClient http({.ca_file = files_.ca_file});
    const auto response = http.send({.url = "https://" + server.address() + "/"});
    ASSERT_FALSE(response);
    EXPECT_NE(response.error().message.find("check that this port speaks HTTPS"), std::string::npos)
        << response.error().message;
}

TEST_F(OddServersTest, OneThatNeverAnswersIsLeftWhenWeAreToldToStop) {
    const Fd end(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    OddServer server([&](int connection, int) {
        (void)read_head(connection);
        (void)::eventfd_write(end.get(), 1);
        wait_until_gone(connection);
    });
    BeastClient client({.stop_fd = end.get()});
    const auto answer = client.send({.url = server.url(), .timeout_s = 0});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::DeadlineExceeded) << answer.error().message;
}

}  // namespace
}  // namespace lavant::adapters
