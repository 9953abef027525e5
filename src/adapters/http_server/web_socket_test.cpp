#include "adapters/http_server/web_socket.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "adapters/http_server/server_under_test.h"

namespace lavant::adapters::http {
namespace {

using ports::HttpRequest;
using ports::HttpResponse;
using ports::SocketHandler;
using ports::SocketPeer;
using Frame = TestClient::Frame;

// What the application's side saw, for the test's thread.
struct Seen {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    std::shared_ptr<SocketPeer> peer;
    std::size_t frames = 0;
    std::size_t largest = 0;
    int closed = 0;

    template <class Condition>
    void wait(Condition condition) {
        std::unique_lock lock(mutex);
        ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds{30}, condition));
    }
};

class Handler final : public SocketHandler {
 public:
    Handler(Seen& seen, bool echo) : seen_(seen), echo_(echo) {}
    void opened(std::shared_ptr<SocketPeer> peer) override {
        peer_ = peer;
        const std::lock_guard lock(seen_.mutex);
        seen_.peer = std::move(peer);
        seen_.changed.notify_all();
    }
    void received(std::string frame) override {
        {
            const std::lock_guard lock(seen_.mutex);
            ++seen_.frames;
            seen_.largest = std::max(seen_.largest, frame.size());
            seen_.changed.notify_all();
        }
        if (echo_) peer_->send(std::move(frame));
    }
    void closed() override {
        const std::lock_guard lock(seen_.mutex);
        ++seen_.closed;
        seen_.changed.notify_all();
    }

 private:
    Seen& seen_;
    bool echo_;
    std::shared_ptr<SocketPeer> peer_;
};

class WebSocketTest : public testing::Test {
 protected:
    WebSocketTest() {
        here.application.on_request = [](const HttpRequest&,
                                         const std::shared_ptr<ports::Responder>& responder) {
            responder->respond({.status = 404});
        };
        here.application.on_socket =
            [this](const HttpRequest& head) -> tl::expected<std::unique_ptr<SocketHandler>, HttpResponse> {
            if (head.header("Authorization") == "Bearer no")
                return tl::make_unexpected(HttpResponse{.status = 401, .body = "who are you"});
            return std::make_unique<Handler>(seen, head.path == "/echo");
        };
    }
    Seen seen;
    ServerUnderTest here;
};

TEST_F(WebSocketTest, EchoesTenThousandFramesBothWays) {
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/echo"));
    constexpr int kFrames = 10'000;
    constexpr int kAtOnce = 200;  // out, then in: the blocking client has one thread
    const auto text_of = [](int i) {
        return std::to_string(i) + std::string(static_cast<std::size_t>(i % 300), '.');
    };
    for (int first = 0; first < kFrames; first += kAtOnce) {
        std::string batch;
        for (int i = first; i < first + kAtOnce; ++i) batch += TestClient::make_frame(text_of(i));
        ASSERT_TRUE(client.send(batch));
        for (int i = first; i < first + kAtOnce; ++i) {
            const Frame frame = client.read_frame();
            ASSERT_EQ(frame.opcode, 2);
            ASSERT_EQ(frame.payload, text_of(i));
        }
    }
    EXPECT_EQ(here.server->stats().frames_in, 10'000U);
    EXPECT_EQ(here.server->stats().frames_out, 10'000U);
    EXPECT_EQ(here.server->stats().sockets, 1);
}

TEST_F(WebSocketTest, FramesSentFromAnotherThreadArriveInOrder) {
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/push"));
    seen.wait([&] { return seen.peer != nullptr; });
    for (int i = 0; i < 10'000; ++i) seen.peer->send("frame " + std::to_string(i));
    for (int i = 0; i < 10'000; ++i) ASSERT_EQ(client.read_frame().payload, "frame " + std::to_string(i));
    seen.peer->send(std::string(3U << 20, 'x'));
    EXPECT_EQ(client.read_frame().payload.size(), 3U << 20);
    seen.peer->send("last");
    seen.peer->close();
    seen.peer->send("too late");
    EXPECT_EQ(client.read_frame().payload, "last");
    EXPECT_EQ(client.read_frame().opcode, 8);
    client.send_frame("\x03\xe8", 8);
    EXPECT_EQ(client.receive_all(), "");
    seen.wait([&] { return seen.closed == 1; });
}

TEST_F(WebSocketTest, AFrameMayBeAsLargeAsTheLimitAndNotLarger) {
    here.settings.limits.frame_bytes = 100'000;
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/x"));
    client.send_frame(std::string(60'000, 'a'), 2, false);
    client.send_frame(std::string(40'000, 'b'), 0, true);
    seen.wait([&] { return seen.largest == 100'000; });
    client.send_frame(std::string(100'001, 'a'));
    EXPECT_EQ(client.read_frame().opcode, 8);
    client.close();
    seen.wait([&] { return seen.closed == 1; });
    EXPECT_EQ(seen.frames, 1U);
}

TEST_F(WebSocketTest, AnswersPingsAndThePeersGoodBye) {
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/x", "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
    client.send_frame("are you there", 9);
    const Frame pong = client.read_frame();
    EXPECT_EQ(pong.opcode, 10);
    EXPECT_EQ(pong.payload, "are you there");
    client.send_frame("\x03\xe8", 8);
    EXPECT_EQ(client.read_frame().opcode, 8);
    EXPECT_EQ(client.receive_all(), "");
    seen.wait([&] { return seen.closed == 1; });
}

TEST_F(WebSocketTest, PingsASilentPeerAndCutsADeadOne) {
    here.settings.limits.ping = std::chrono::milliseconds{50};
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/x"));
    EXPECT_EQ(client.read_frame().opcode, 9);
    seen.wait([&] { return seen.closed == 1; });
    while (here.server->stats().sockets > 0) std::this_thread::yield();
}

TEST_F(WebSocketTest, TakesFramesThatCameTogetherWithTheUpgrade) {
    here.start();
    TestClient client = here.connect();
    client.send(
        "GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
        TestClient::make_frame("early") + TestClient::make_frame("bird"));
    EXPECT_EQ(client.read_reply(true).status, 101);
    EXPECT_EQ(client.read_frame().payload, "early");
    EXPECT_EQ(client.read_frame().payload, "bird");
}

TEST_F(WebSocketTest, TheApplicationMayRefuseAndTheConnectionGoesOn) {
    here.start();
    TestClient client = here.connect();
    EXPECT_FALSE(client.upgrade("/x", "Authorization: Bearer no\r\n"));
    std::string rest;
    while (rest.find("who are you") == std::string::npos) rest += client.receive();
    EXPECT_TRUE(client.upgrade("/x"));
    TestClient broken = here.connect();
    broken.send("GET /x HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    EXPECT_EQ(broken.read_reply().status, 400);
    EXPECT_EQ(broken.receive_all(), "");
    const std::lock_guard lock(seen.mutex);
    EXPECT_EQ(seen.closed, 0);
}

TEST_F(WebSocketTest, UnmaskedAndBrokenFramesEndTheSocketOnly) {
    here.start();
    const std::vector<std::string> bad = {std::string("\x82\x03"
                                                      "abc"),
                                          std::string(10, '\xff'),
                                          TestClient::make_frame("x", 3),
                                          TestClient::make_frame("x", 0),
                                          TestClient::make_frame(std::string(130, 'p'), 9),
                                          std::string("\x82\xfe")};
    for (const std::string& bytes : bad) {
        TestClient client = here.connect();
        ASSERT_TRUE(client.upgrade("/x"));
        client.send(bytes);
        if (bytes.size() == 2) client.reset();
    }
    seen.wait([&] { return seen.closed == 6; });
    EXPECT_EQ(seen.frames, 0U);
    EXPECT_TRUE(here.connect().upgrade("/x"));
}

TEST_F(WebSocketTest, APeerThatTakesNothingIsCut) {
    here.settings.limits.socket_bytes = 8U << 20;
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/x"));
    seen.wait([&] { return seen.peer != nullptr; });
    for (int i = 0; i < 100; ++i) seen.peer->send(std::string(1U << 20, 'x'));
    seen.wait([&] { return seen.closed == 1; });
    while (here.server->stats().sockets > 0) std::this_thread::yield();
}

TEST_F(WebSocketTest, AGracefulStopSaysGoodByeToAllSockets) {
    here.settings.io_threads = 2;
    here.start();
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(
            std::make_unique<TestClient>(here.port, TestClient::Security::Tls, here.certificates.ca_file));
        ASSERT_TRUE(clients.back()->upgrade("/x"));
    }
    std::thread stopping([&] { here.server->stop(std::chrono::seconds{20}); });
    for (const auto& client : clients) {
        const Frame bye = client->read_frame();
        EXPECT_EQ(bye.opcode, 8);
        EXPECT_EQ(bye.payload, "\x03\xe9");  // going away
        client->send_frame(bye.payload, 8);
        EXPECT_EQ(client->receive_all(), "");
    }
    stopping.join();
    EXPECT_EQ(seen.closed, 4);
    seen.peer->send("nobody is there");
    seen.peer->close();
}

TEST_F(WebSocketTest, AStopWithoutGraceEndsSocketsThatDoNotAnswer) {
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.upgrade("/x"));
    seen.wait([&] { return seen.peer != nullptr; });
    here.server->stop(std::chrono::milliseconds{0});
    EXPECT_EQ(seen.closed, 1);
}

}  // namespace
}  // namespace lavant::adapters::http
