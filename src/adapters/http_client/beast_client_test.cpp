#include "adapters/http_client/beast_client.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <vector>

#include "adapters/crypto_openssl/certificates.h"
#include "adapters/http_server/http_server.h"
#include "base/files.h"
#include "base/log.h"

namespace lavant::adapters {
namespace {

using ports::ClientRequest;
using ports::HttpRequest;
using ports::HttpResponse;

// Answers with what it was asked.
class Mirror final : public ports::HttpApplication {
 public:
    ports::BodyPlan plan_body(const HttpRequest&) override { return {64U << 20, false}; }
    void handle(HttpRequest request, std::shared_ptr<ports::Responder> responder) override {
        HttpResponse response;
        response.headers = {{"X-Method", request.method},
                            {"X-Query", request.query},
                            {"X-Auth", std::string(request.header("Authorization"))},
                            {"X-Type", std::string(request.header("Content-Type"))}};
        if (request.path == "/fail") response.status = 409;
        if (request.path == "/hang") {
            const std::lock_guard lock(mutex);
            kept.push_back(std::move(responder));
            return;
        }
        if (request.path == "/stream") {
            const auto stream = responder->stream({});
            for (int i = 0; i < 5; ++i) stream->write("line " + std::to_string(i) + "\n");
            const std::lock_guard lock(mutex);
            streams.push_back(stream);
            return;
        }
        response.body = request.path == "/big" ? std::string(1U << 20, 'b') : std::move(request.body);
        responder->respond(std::move(response));
    }
    tl::expected<std::unique_ptr<ports::SocketHandler>, HttpResponse> accept_socket(
        const HttpRequest&) override {
        return tl::make_unexpected(HttpResponse{.status = 404});
    }
    std::mutex mutex;  // guards what follows
    std::vector<std::shared_ptr<ports::Responder>> kept;
    std::vector<std::shared_ptr<ports::ResponseStream>> streams;
};

std::string header_of(const HttpResponse& response, const std::string& name) {
    for (const auto& [key, value] : response.headers)
        if (key == name) return value;
    return {};
}

class BeastClientTest : public testing::Test {
 protected:
    void SetUp() override {
        configure_log({.least = Level::Error});
        ::signal(SIGPIPE, SIG_IGN);
        std::string pattern = testing::TempDir() + "lavant-http-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        files_ =
            ensure_certificates(folder_ + "/tls", {}, from_micros(std::time(nullptr) * 1'000'000)).value();
        ServerSettings settings;
        settings.certificate_file = files_.certificate_file;
        settings.key_file = files_.key_file;
        server_ = std::make_unique<HttpServer>(settings, mirror_);
        url_ = "https://localhost:" + std::to_string(server_->start().value());
        ::setenv("https_proxy", "http://127.0.0.1:1", 1);  // nobody: loopback must not use it
    }
    void TearDown() override {
        ::unsetenv("https_proxy");
        server_.reset();
        EXPECT_TRUE(remove_tree(folder_));
    }
    BeastClient client() { return BeastClient({.ca_file = files_.ca_file}); }

    std::string folder_;
    CertificateFiles files_;
    Mirror mirror_;
    std::unique_ptr<HttpServer> server_;
    std::string url_;
};

TEST_F(BeastClientTest, SendsEveryMethodOverOneConnection) {
    BeastClient http = client();
    for (const std::string& method : {std::string("GET"), std::string("PUT"), std::string("POST"),
                                      std::string("PATCH"), std::string("DELETE"), std::string("HEAD")}) {
        const bool with_body = method != "GET" && method != "HEAD" && method != "DELETE";
        const auto response =
            http.send({.method = method,
                       .url = url_ + "/x?a=b",
                       .headers = {{"Authorization", "Bearer t"}, {"Content-Type", "text/plain"}},
                       .body = with_body ? "hello" : ""});
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->status, 200);
        EXPECT_EQ(header_of(*response, "X-Method"), method);
        EXPECT_EQ(header_of(*response, "X-Query"), "a=b");
        EXPECT_EQ(header_of(*response, "X-Auth"), "Bearer t");
        EXPECT_EQ(header_of(*response, "X-Type"), "text/plain");
        EXPECT_EQ(response->body, with_body ? "hello" : "");
    }
    const auto empty = http.send({.method = "PUT", .url = url_ + "/x"});
    ASSERT_TRUE(empty);
    EXPECT_EQ(header_of(*empty, "X-Type"), "");
    EXPECT_EQ(server_->stats().accepted, 1U);
}

TEST_F(BeastClientTest, ErrorsOfTheServerAreResponses) {
    const auto response = client().send({.method = "PUT", .url = url_ + "/fail", .body = "why"});
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 409);
    EXPECT_EQ(response->body, "why");
}

TEST_F(BeastClientTest, UploadsAndDownloadsFiles) {
    const std::string up = folder_ + "/up";
    const std::string down = folder_ + "/down";
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{5} << 20}) {
        std::string content(size, '\0');
        for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 2'654'435'761U >> 16);
        ASSERT_TRUE(write_file_atomically(up, content));
        const auto response =
            client().send({.method = "PUT", .url = url_ + "/x", .body_file = up, .response_file = down});
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->body, "");
        EXPECT_TRUE(read_file(down, 64U << 20).value() == content) << size;
    }
    const auto failed =
        client().send({.method = "PUT", .url = url_ + "/fail", .body_file = up, .response_file = up + "2"});
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->body.size(), std::size_t{5} << 20);  // an error is kept in memory
    EXPECT_FALSE(exists(up + "2"));
    EXPECT_EQ(client().send({.method = "PUT", .url = url_ + "/x", .body_file = folder_ + "/no"}).error().code,
              ErrorCode::NotFound);
    EXPECT_FALSE(client().send({.url = url_ + "/big", .response_file = folder_ + "/no/folder"}));
}

TEST_F(BeastClientTest, HandsOverAStreamAsItComesAndStopsWhenTold) {
    std::string seen;
    const auto response =
        client().send({.url = url_ + "/stream", .timeout_s = 0, .on_bytes = [&](std::string_view part) {
                           seen += part;
                           return seen.find("line 4") == std::string::npos;
                       }});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(seen, "line 0\nline 1\nline 2\nline 3\nline 4\n");
}

TEST_F(BeastClientTest, EveryFailureSaysWhatToDo) {
    const auto fails = [&](BeastClient& http, ClientRequest request, ErrorCode code,
                           const std::string& words) {
        const auto response = http.send(request);
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, code) << response.error().message;
        EXPECT_NE(response.error().message.find(words), std::string::npos) << response.error().message;
    };
    BeastClient http = client();
    fails(http, {.url = "https://localhost:1/x"}, ErrorCode::Unavailable, "check that the server runs");
    fails(http, {.url = "ftp://localhost/x"}, ErrorCode::InvalidArgument, "not an http");
    fails(http, {.url = url_ + "/hang", .timeout_s = 1}, ErrorCode::DeadlineExceeded, "no answer");
    BeastClient system({});
    fails(system, {.url = url_ + "/x"}, ErrorCode::Unavailable, "give its CA file");
    BeastClient other({.ca_file = folder_ + "/absent.pem"});
    fails(other, {.url = url_ + "/x"}, ErrorCode::Unavailable, "absent.pem");
    BeastClient small({.ca_file = files_.ca_file, .body_bytes_max = 1000});
    fails(small, {.url = url_ + "/big"}, ErrorCode::ResourceExhausted, "is it a Lavant server?");
}

TEST_F(BeastClientTest, SurvivesAServerThatRestarted) {
    BeastClient http = client();
    ASSERT_TRUE(http.send({.url = url_ + "/x"}));
    const auto port = url_.substr(url_.rfind(':') + 1);
    server_->stop(std::chrono::seconds{1});
    ServerSettings settings;
    settings.port = std::atoi(port.c_str());
    settings.certificate_file = files_.certificate_file;
    settings.key_file = files_.key_file;
    server_ = std::make_unique<HttpServer>(settings, mirror_);
    ASSERT_TRUE(server_->start());
    const auto again = http.send({.method = "PUT", .url = url_ + "/x", .body = "again"});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->body, "again");
}

}  // namespace
}  // namespace lavant::adapters
