// What a hostile or broken client may do, over real sockets.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "adapters/http_server/server_under_test.h"

namespace lavant::adapters::http {
namespace {

using ports::HttpRequest;
using ports::Responder;
using Security = TestClient::Security;

class BadInputTest : public testing::Test {
 protected:
    BadInputTest() {
        here.application.on_request = [](const HttpRequest& request,
                                         const std::shared_ptr<Responder>& responder) {
            responder->respond({.body = std::to_string(request.body_bytes)});
        };
    }
    // The server still serves, and nobody's connection stays behind.
    void expect_well() {
        TestClient client = here.connect();
        client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        EXPECT_EQ(client.read_reply().status, 200);
        client.close();
        while (here.server->stats().connections > 0) std::this_thread::yield();
    }
    Reply refused(const std::string& text) {
        TestClient client = here.connect();
        EXPECT_TRUE(client.send(text));
        Reply reply = client.read_reply();
        EXPECT_EQ(reply.header("Connection"), "close");
        EXPECT_EQ(reply.header("Content-Type"), "application/json");
        EXPECT_TRUE(reply.body.starts_with("{\"error\":{\"code\":\"")) << reply.body;
        EXPECT_EQ(client.receive(), "");
        return reply;
    }
    ServerUnderTest here;
};

TEST_F(BadInputTest, MalformedRequestsGetJsonErrors) {
    here.start();
    EXPECT_EQ(refused("not http at all\r\n\r\n").status, 400);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nbroken\r\n\r\n").status, 400);
    EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n").status,
              400);
    EXPECT_EQ(refused("GET /" + std::string(100'000, 'a')).status, 431);
    EXPECT_EQ(refused("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n").status, 413);
    EXPECT_EQ(here.server->stats().requests_malformed, 4U);
    expect_well();
}

TEST_F(BadInputTest, ARefusalAfterAHeadRequestHasItsBody) {
    here.start();
    TestClient client = here.connect();
    client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(client.read_reply(true).status, 200);
    client.send("GET / HTTP/1.1\r\nHost: h\r\na b: c\r\n\r\n");
    const Reply reply = client.read_reply();
    EXPECT_EQ(reply.status, 400);
    EXPECT_TRUE(reply.body.starts_with("{\"error\":")) << reply.body;
}

TEST_F(BadInputTest, ARefusalArrivesEvenWhileTheClientStillSends) {
    here.start();
    TestClient client = here.connect(Security::Tls);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 30000000\r\n\r\n");
    client.send(std::string(4U << 20, 'x'));
    EXPECT_EQ(client.read_reply().status, 413);
}

TEST_F(BadInputTest, PlainHttpOnTheTlsPortIsAnsweredPolitely) {
    here.start();
    TestClient client = here.connect(Security::Plain);
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    const Reply reply = client.read_reply();
    EXPECT_EQ(reply.status, 400);
    EXPECT_NE(reply.body.find("this port speaks HTTPS"), std::string::npos);
    EXPECT_EQ(client.receive(), "");
    client.close();
    expect_well();
}

TEST_F(BadInputTest, RandomBytesBeforeAndInsideTlsHarmNobody) {
    here.start();
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        std::string noise(random() % 3000, '\0');
        for (char& c : noise) c = static_cast<char>(random());
        TestClient client = here.connect(round % 2 == 0 ? Security::Plain : Security::Tls);
        if (round % 4 == 0) noise.insert(0, "\x16\x03\x01");
        client.send(noise);
        if (round % 3 == 0) client.reset();
    }
    expect_well();
}

TEST_F(BadInputTest, ClientsThatLeaveHalfWayLeaveNothingBehind) {
    here.application.on_plan = [](const HttpRequest&) { return ports::BodyPlan{1U << 30, true}; };
    here.start();
    const std::string text =
        "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'x');
    for (const std::size_t sent :
         {std::size_t{0}, std::size_t{3}, std::size_t{30}, std::size_t{60}, std::size_t{5000}}) {
        TestClient client = here.connect();
        client.send(text.substr(0, sent));
        if (sent % 2 == 0) client.reset();
    }
    expect_well();
    EXPECT_TRUE(list_directory(here.spool()).value().empty());
}

TEST_F(BadInputTest, AClientThatLeavesBeforeItsAnswerIsForgotten) {
    std::vector<std::shared_ptr<Responder>> kept;
    std::atomic<int> arrived{0};
    here.application.on_request = [&](const HttpRequest& request, std::shared_ptr<Responder> responder) {
        if (request.path == "/") return responder->respond({});
        kept.push_back(std::move(responder));
        ++arrived;
    };
    here.start();
    for (int i = 0; i < 3; ++i) {
        TestClient client = here.connect();
        client.send("GET /keep HTTP/1.1\r\nHost: h\r\n\r\n");
        while (arrived <= i) std::this_thread::yield();
        if (i == 1) client.reset();
    }
    expect_well();
    for (const auto& responder : kept) responder->respond({.body = "late"});
    kept.clear();
    expect_well();
}

TEST_F(BadInputTest, SlowHeadsBodiesAndIdleConnectionsAreEnded) {
    here.settings.tls = false;
    here.settings.limits.head = std::chrono::milliseconds{100};
    here.settings.limits.body = std::chrono::milliseconds{60};
    here.settings.limits.idle = std::chrono::milliseconds{60};
    here.start();
    TestClient nothing = here.connect(Security::Plain);
    EXPECT_EQ(nothing.receive_all(), "");
    // On a very busy machine a client may be cut before its first byte: then it comes again.
    const auto insist = [&](const std::string& text) {
        Reply reply;
        while (reply.status == 0) {
            TestClient client = here.connect(Security::Plain);
            client.send(text);
            reply = client.read_reply();
        }
        return reply.status;
    };
    EXPECT_EQ(insist("GET / HT"), 408);
    EXPECT_EQ(insist("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\nabc"), 408);
    TestClient idle = here.connect(Security::Plain);
    idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    idle.receive_all();  // returns: after its answer it was closed
}

TEST_F(BadInputTest, AClientThatTakesNothingIsCut) {
    here.settings.limits.write = std::chrono::milliseconds{60};
    here.application.on_request = [](const HttpRequest& request,
                                     const std::shared_ptr<Responder>& responder) {
        responder->respond({.body = std::string(request.path == "/" ? 0 : 64U << 20, 'x')});
    };
    here.start();
    TestClient client = here.connect();
    client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    while (here.server->stats().connections > 0) std::this_thread::yield();
    expect_well();
}

TEST_F(BadInputTest, AboveTheLimitConnectionsAreRefusedAndOthersLive) {
    here.settings.limits.connections = 4;
    here.start();
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(std::make_unique<TestClient>(here.port, Security::Tls, here.certificates.ca_file));
        ASSERT_TRUE(clients.back()->is_connected());
    }
    EXPECT_FALSE(here.connect().is_connected());
    EXPECT_EQ(here.server->stats().refused, 1U);
    clients[0]->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(clients[0]->read_reply().status, 200);
    clients.clear();
    while (here.server->stats().connections > 0) std::this_thread::yield();
    expect_well();
}

TEST_F(BadInputTest, BodiesInMemoryAreLimitedOverAllConnections) {
    here.settings.limits.body_bytes = 200'000;
    here.start();
    const std::string start = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 150000\r\n\r\n";
    TestClient first = here.connect();
    first.send(start + std::string(149'999, 'x'));
    while (here.server->stats().bytes_in < 149'999) std::this_thread::yield();
    TestClient second = here.connect();
    second.send(start + std::string(150'000, 'x'));
    EXPECT_EQ(second.read_reply().status, 503);
    second.close();
    first.send("x");
    EXPECT_EQ(first.read_reply().status, 200);
    first.send(start + std::string(150'000, 'x'));
    EXPECT_EQ(first.read_reply().status, 200);
}

}  // namespace
}  // namespace lavant::adapters::http
