#include "adapters/http_server/http_server.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "adapters/http_server/server_under_test.h"
#include "base/text.h"

namespace lavant::adapters::http {
namespace {

using ports::HttpRequest;
using ports::HttpResponse;
using ports::Responder;
using Security = TestClient::Security;

class HttpServerTest : public testing::Test {
 protected:
    HttpServerTest() {
        here.application.on_request = [](HttpRequest request, const std::shared_ptr<Responder>& responder) {
            HttpResponse response;
            response.headers = {{"X-Path", request.path}, {"X-Query", request.query}};
            response.body = request.method + " " + request.body;
            responder->respond(std::move(response));
        };
    }
    static std::string put(const std::string& body, const std::string& more = "") {
        return "PUT /things/1?a=b HTTP/1.1\r\nHost: localhost\r\n" + more +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    static std::string get(const std::string& path, const std::string& method = "GET") {
        return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    }
    ServerUnderTest here;
};

TEST_F(HttpServerTest, AnswersOverTlsAgainAndAgainOnOneConnection) {
    here.start();
    TestClient client = here.connect();
    ASSERT_TRUE(client.is_connected());
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(client.send(put("body " + std::to_string(i))));
        const Reply reply = client.read_reply();
        EXPECT_EQ(reply.status, 200);
        EXPECT_EQ(reply.body, "PUT body " + std::to_string(i));
        EXPECT_EQ(reply.header("X-Path"), "/things/1");
        EXPECT_EQ(reply.header("X-Query"), "a=b");
        EXPECT_FALSE(reply.header("Date").empty());
    }
    const ServerStats stats = here.server->stats();
    EXPECT_EQ(stats.requests, 20U);
    EXPECT_EQ(stats.connections, 1);
    EXPECT_EQ(stats.accepted, 1U);
    EXPECT_GT(stats.bytes_in, 20U * 50U);
}

TEST_F(HttpServerTest, ServesPlainHttpWhereTlsIsOff) {
    here.settings.tls = false;
    here.start();
    TestClient client = here.connect(Security::Plain);
    client.send(put("x"));
    EXPECT_EQ(client.read_reply().body, "PUT x");
}

TEST_F(HttpServerTest, AnswersAPipelineInOrderHoweverTheBytesAreCut) {
    here.start();
    std::string all;
    for (int i = 0; i < 300; ++i) all += put(std::to_string(i));
    for (const std::size_t cut : {all.size(), std::size_t{1000}, std::size_t{37}}) {
        TestClient client = here.connect();
        for (std::size_t at = 0; at < all.size(); at += cut) ASSERT_TRUE(client.send(all.substr(at, cut)));
        for (int i = 0; i < 300; ++i) ASSERT_EQ(client.read_reply().body, "PUT " + std::to_string(i));
    }
}

TEST_F(HttpServerTest, TakesChunkedBodiesByteByByte) {
    here.start();
    TestClient client = here.connect(Security::Tls);
    const std::string text =
        "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n "
        "world\r\n0\r\nX: y\r\n\r\n";
    for (const char c : text) ASSERT_TRUE(client.send(std::string(1, c)));
    EXPECT_EQ(client.read_reply().body, "POST hello world");
    for (const char c :
         std::string("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
        ASSERT_TRUE(client.send(std::string(1, c)));
    EXPECT_EQ(client.read_reply().body, "POST ");
}

TEST_F(HttpServerTest, AnswersMayComeFromAnyThreadAndInAnyOrder) {
    std::mutex mutex;
    std::deque<std::pair<std::string, std::shared_ptr<Responder>>> waiting;
    std::condition_variable arrived;
    here.application.on_request = [&](HttpRequest request, std::shared_ptr<Responder> responder) {
        const std::lock_guard lock(mutex);
        waiting.emplace_front(request.path, std::move(responder));
        arrived.notify_all();
    };
    here.settings.io_threads = 2;
    here.start();
    constexpr int kClients = 8;
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.push_back(std::make_unique<TestClient>(here.port, Security::Tls, here.certificates.ca_file));
        clients.back()->send(get("/" + std::to_string(i)));
    }
    {
        std::unique_lock lock(mutex);
        arrived.wait(lock, [&] { return waiting.size() == kClients; });
        for (auto& [path, responder] : waiting) responder->respond({.body = path});
        waiting.clear();
    }
    for (int i = 0; i < kClients; ++i)
        EXPECT_EQ(clients[static_cast<std::size_t>(i)]->read_reply().body, "/" + std::to_string(i));
}

TEST_F(HttpServerTest, ADroppedResponderAnswers500AndASecondAnswerIsIgnored) {
    here.application.on_request = [](const HttpRequest& request,
                                     const std::shared_ptr<Responder>& responder) {
        if (request.path == "/drop") return;
        responder->respond({.body = "first"});
        responder->respond({.body = "second"});
        EXPECT_TRUE(responder->stream({})->client_is_gone());
    };
    here.start();
    TestClient client = here.connect();
    client.send(get("/drop") + get("/twice") + get("/twice"));
    EXPECT_EQ(client.read_reply().status, 500);
    EXPECT_EQ(client.read_reply().body, "first");
    EXPECT_EQ(client.read_reply().body, "first");
}

TEST_F(HttpServerTest, ResumesTlsSessionsByTicket) {
    here.start();
    TestClient first = here.connect();
    first.send(get("/"));
    EXPECT_EQ(first.read_reply().status, 200);
    EXPECT_FALSE(first.was_resumed());
    SSL_SESSION* const session = first.session();
    TestClient second(here.port, Security::Tls, here.certificates.ca_file, session);
    ASSERT_TRUE(second.is_connected());
    EXPECT_TRUE(second.was_resumed());
    SSL_SESSION_free(session);
}

TEST_F(HttpServerTest, HeadSaysTheLengthAndSendsNothingElse) {
    here.application.on_request = [](const HttpRequest& request,
                                     const std::shared_ptr<Responder>& responder) {
        if (request.path == "/known") return responder->respond({.content_length = 12345});
        if (request.path == "/empty") return responder->respond({.status = 204});
        responder->respond({.body = "four"});
    };
    here.start();
    TestClient client = here.connect();
    client.send(get("/known", "HEAD") + get("/body", "HEAD") + get("/empty") + get("/body"));
    EXPECT_EQ(client.read_reply(true).header("Content-Length"), "12345");
    EXPECT_EQ(client.read_reply(true).header("Content-Length"), "4");
    const Reply empty = client.read_reply();
    EXPECT_EQ(empty.status, 204);
    EXPECT_EQ(empty.header("Content-Length"), "");
    EXPECT_EQ(client.read_reply().body, "four");
}

TEST_F(HttpServerTest, SendsRangesOfFilesAndLargeBodiesWhole) {
    std::string content;
    for (int i = 0; content.size() < (3U << 20); ++i) content += std::to_string(i) + ",";
    const std::string path = here.folder + "/file";
    ASSERT_TRUE(write_file_atomically(path, content));
    here.application.on_request = [&](const HttpRequest& request,
                                      const std::shared_ptr<Responder>& responder) {
        if (request.path == "/body") return responder->respond({.body = content});
        const auto from = static_cast<std::uint64_t>(*parse_integer(*request.query_value("from")));
        const auto bytes = static_cast<std::uint64_t>(*parse_integer(*request.query_value("bytes")));
        responder->respond({.status = 206, .file = ports::FileBody{path, from, bytes}});
    };
    here.start();
    TestClient client = here.connect();
    const std::string size = std::to_string(content.size());
    client.send(get("/file?from=0&bytes=" + size) + get("/file?from=100&bytes=0") +
                get("/file?from=1000&bytes=70000") + get("/body") + get("/file?from=1&bytes=" + size) +
                get("/file?from=0&bytes=10", "HEAD"));
    EXPECT_EQ(client.read_reply().body, content);
    EXPECT_EQ(client.read_reply().body, "");
    EXPECT_EQ(client.read_reply().body, content.substr(1000, 70000));
    EXPECT_EQ(client.read_reply().body, content);
    EXPECT_EQ(client.read_reply().status, 500);  // one byte more than there is
    EXPECT_EQ(client.read_reply(true).header("Content-Length"), "10");
}

TEST_F(HttpServerTest, SpoolsLargeBodiesToAFileThatTheHandlerMayMove) {
    here.application.on_plan = [](const HttpRequest&) { return ports::BodyPlan{64U << 20, true}; };
    here.application.on_request = [&](const HttpRequest& request,
                                      const std::shared_ptr<Responder>& responder) {
        EXPECT_EQ(request.body, "");
        const std::string text = read_file(request.body_file, 64U << 20).value();
        EXPECT_EQ(text.size(), request.body_bytes);
        if (request.path == "/move") {
            EXPECT_EQ(::rename(request.body_file.c_str(), (here.folder + "/moved").c_str()), 0);
        }
        responder->respond({.body = std::to_string(text.size())});
    };
    here.start();
    TestClient client = here.connect();
    const std::string body(5U << 20, 'x');
    client.send("PUT /move HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    EXPECT_EQ(client.read_reply().body, std::to_string(body.size()));
    EXPECT_EQ(read_file(here.folder + "/moved", 64U << 20).value(), body);
    client.send(put(body) + put(""));
    EXPECT_EQ(client.read_reply().body, std::to_string(body.size()));
    EXPECT_EQ(client.read_reply().body, "0");
    here.server->stop(std::chrono::seconds{10});
    EXPECT_TRUE(list_directory(here.spool()).value().empty());
}

TEST_F(HttpServerTest, SaysContinueBeforeTheBodyButNotBeforeARefusal) {
    here.start();
    TestClient client = here.connect();
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(client.receive_exactly(25), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("12345");
    EXPECT_EQ(client.read_reply().body, "PUT 12345");
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
    const Reply refused = client.read_reply();
    EXPECT_EQ(refused.status, 413);
    EXPECT_EQ(refused.header("Connection"), "close");
    EXPECT_EQ(client.receive(), "");
}

TEST_F(HttpServerTest, StreamsWhatAnotherThreadWritesAndSeesTheClientLeave) {
    std::promise<std::shared_ptr<ports::ResponseStream>> promised;
    here.application.on_request = [&](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
        promised.set_value(responder->stream({.headers = {{"Content-Type", "text/event-stream"}}}));
    };
    here.start();
    TestClient client = here.connect();
    client.send(get("/events"));
    const auto stream = promised.get_future().get();
    stream->write("one,");
    stream->write("two,");
    stream->write("");
    stream->write("three");
    stream->finish();
    stream->write("late");
    const Reply reply = client.read_reply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "one,two,three");
    while (stream->bytes_waiting() > 0) std::this_thread::yield();

    promised = {};
    client.send(get("/events"));
    const auto second = promised.get_future().get();
    second->write("x");
    client.close();
    while (!second->client_is_gone()) std::this_thread::yield();
    second->write("nobody hears this");
    EXPECT_EQ(second->bytes_waiting() <= 1, true);
}

TEST_F(HttpServerTest, CutsAStreamWhoseClientDoesNotReadAndSaysHowMuchWaits) {
    std::promise<std::shared_ptr<ports::ResponseStream>> promised;
    here.application.on_request = [&](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
        promised.set_value(responder->stream({}));
    };
    here.settings.limits.stream_bytes = 8U << 20;
    here.start();
    TestClient client = here.connect();
    client.send(get("/events"));
    const auto stream = promised.get_future().get();
    std::size_t most = 0;
    while (!stream->client_is_gone()) {
        stream->write(std::string(1U << 20, 'x'));
        most = std::max(most, stream->bytes_waiting());
    }
    EXPECT_GT(most, 1U << 20);
    EXPECT_LE(most, 8U << 20);
}

TEST_F(HttpServerTest, AStreamToAnOldClientEndsWithTheConnection) {
    here.application.on_request = [&](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
        const auto stream = responder->stream({});
        stream->write("all");
        stream->finish();
    };
    here.start();
    TestClient client = here.connect();
    client.send("GET / HTTP/1.0\r\n\r\n");
    const std::string all = client.receive_all();
    EXPECT_TRUE(all.ends_with("\r\n\r\nall")) << all;
    EXPECT_EQ(all.find("chunked"), std::string::npos);
}

TEST_F(HttpServerTest, HeadersCannotSmuggleHeaders) {
    here.application.on_request = [](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
        responder->respond({.headers = {{"X-A", "b\r\nX-Evil: 1"}, {"Content-Length", "999"}}, .body = "ok"});
    };
    here.start();
    TestClient client = here.connect();
    client.send(get("/"));
    const Reply reply = client.read_reply();
    EXPECT_EQ(reply.body, "ok");
    EXPECT_EQ(reply.header("X-Evil"), "");
    EXPECT_EQ(reply.header("X-A"), "b  X-Evil: 1");
}

TEST_F(HttpServerTest, APortInUseIsSaidWithTheRemedy) {
    here.start();
    ServerSettings settings = here.settings;
    settings.port = here.port;
    HttpServer second(settings, here.application);
    const auto started = second.start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::Unavailable);
    EXPECT_NE(started.error().message.find(std::to_string(here.port)), std::string::npos);
    EXPECT_NE(started.error().message.find("choose another"), std::string::npos);
}

TEST_F(HttpServerTest, ABadAddressOrCertificateIsASentence) {
    ServerSettings settings = here.settings;
    settings.address = "203.0.113.7";
    EXPECT_EQ(HttpServer(settings, here.application).start().error().code, ErrorCode::InvalidArgument);
    settings = here.settings;
    settings.certificate_file = here.folder + "/absent.pem";
    EXPECT_EQ(HttpServer(settings, here.application).start().error().code, ErrorCode::NotFound);
    settings.certificate_file = here.certificates.key_file;
    EXPECT_EQ(HttpServer(settings, here.application).start().error().code, ErrorCode::InvalidArgument);
    settings = here.settings;
    settings.key_file = here.folder + "/tls/ca.key";
    EXPECT_EQ(HttpServer(settings, here.application).start().error().code, ErrorCode::InvalidArgument);
}

TEST_F(HttpServerTest, AGracefulStopLetsRequestsFinishAndClosesIdleConnections) {
    std::promise<std::shared_ptr<Responder>> promised;
    here.application.on_request = [&](const HttpRequest& request, std::shared_ptr<Responder> responder) {
        if (request.path == "/slow") return promised.set_value(std::move(responder));
        responder->respond({});
    };
    here.start();
    TestClient idle = here.connect();
    idle.send(get("/"));
    EXPECT_EQ(idle.read_reply().status, 200);
    TestClient busy = here.connect();
    busy.send(get("/slow"));
    auto responder = promised.get_future().get();
    std::thread stopping([&] { here.server->stop(std::chrono::seconds{20}); });
    EXPECT_EQ(idle.receive_all(), "");  // closed by the drain, which therefore has begun
    responder->respond({.body = "done"});
    const Reply reply = busy.read_reply();
    EXPECT_EQ(reply.body, "done");
    EXPECT_EQ(reply.header("Connection"), "close");
    EXPECT_EQ(busy.receive_all(), "");
    stopping.join();
    EXPECT_EQ(here.server->stats().connections, 0);
    EXPECT_FALSE(here.connect().is_connected());
    responder->respond({});
}

TEST_F(HttpServerTest, AStopCutsStreamsAndWhatOutlivesTheGrace) {
    std::promise<std::shared_ptr<ports::ResponseStream>> streamed;
    std::promise<std::shared_ptr<Responder>> promised;
    here.application.on_request = [&](const HttpRequest& request, std::shared_ptr<Responder> responder) {
        if (request.path == "/slow") return promised.set_value(std::move(responder));
        streamed.set_value(responder->stream({}));
    };
    here.start();
    TestClient follower = here.connect();
    follower.send(get("/stream"));
    const auto stream = streamed.get_future().get();
    TestClient busy = here.connect();
    busy.send(get("/slow"));
    const auto responder = promised.get_future().get();
    here.server->stop(std::chrono::milliseconds{20});
    EXPECT_TRUE(stream->client_is_gone());
    EXPECT_EQ(follower.read_reply().status, 0);
    EXPECT_EQ(busy.read_reply().status, 0);
    stream->write("late");
    responder->respond({});  // must not touch what is gone
}

TEST_F(HttpServerTest, ACertificateIsReloadedForNewConnections) {
    here.start();
    TestClient before = here.connect();
    ASSERT_TRUE(before.is_connected());
    here.certificates =
        ensure_certificates(here.folder + "/other", {}, from_micros(std::time(nullptr) * 1'000'000)).value();
    EXPECT_FALSE(here.connect().is_connected());
    ASSERT_TRUE(
        write_file_atomically(here.settings.key_file, read_file(here.certificates.key_file, 65536).value()));
    ASSERT_TRUE(write_file_atomically(here.settings.certificate_file,
                                      read_file(here.certificates.certificate_file, 65536).value()));
    ASSERT_TRUE(here.server->reload_certificate());
    EXPECT_TRUE(here.connect().is_connected());
    before.send(get("/"));
    EXPECT_EQ(before.read_reply().status, 200);
}

}  // namespace
}  // namespace lavant::adapters::http
