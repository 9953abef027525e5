#include "adapters/http_server/request_reader.h"

#include <gtest/gtest.h>

#include <random>

namespace lavant::adapters::http {
namespace {

using Progress = RequestReader::Progress;

// Feeds `text` in pieces and returns how it ended.
Progress feed(RequestReader& reader, const std::string& text, std::size_t piece,
              std::uint64_t body_max = 1000) {
    std::string waiting;
    for (std::size_t at = 0; at < text.size() || !waiting.empty();) {
        const std::string more = text.substr(std::min(at, text.size()), piece);
        at += more.size();
        waiting += more;
        const auto outcome = reader.take(waiting);
        waiting.erase(0, outcome.consumed);
        if (outcome.progress == Progress::Done || outcome.progress == Progress::Refused)
            return outcome.progress;
        if (outcome.progress == Progress::HeadDone) {
            reader.limit_body(body_max);
            const auto again = reader.take(waiting);
            waiting.erase(0, again.consumed);
            if (again.progress == Progress::Done || again.progress == Progress::Refused)
                return again.progress;
        }
        if (more.empty()) break;
    }
    return Progress::NeedsMore;
}

int status_of(const std::string& text, std::size_t piece = 1U << 20) {
    RequestReader reader(64U << 10);
    return feed(reader, text, piece) == Progress::Refused ? reader.refusal().status : 0;
}

TEST(RequestReader, ReadsTheSameRequestHoweverItIsCut) {
    const std::string text =
        "\r\nPOST http://example.org/a%20b?x=1&y HTTP/1.1\r\nHost: h\r\nX-Long:  v w \r\nTransfer-Encoding: "
        "chunked\r\n\r\nA\r\n0123456789\r\n3\r\nabc\r\n0\r\nHost: evil\r\n\r\n";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        RequestReader reader(64U << 10);
        ASSERT_EQ(feed(reader, text, piece), Progress::Done) << piece;
        const ports::HttpRequest& request = reader.request();
        EXPECT_EQ(request.method, "POST");
        EXPECT_EQ(request.path, "/a%20b");
        EXPECT_EQ(request.query, "x=1&y");
        EXPECT_EQ(request.header("x-long"), "v w");
        EXPECT_EQ(request.header("host"), "h");
        EXPECT_EQ(request.headers.size(), 3U);
        EXPECT_EQ(request.body, "0123456789abc");
        EXPECT_TRUE(reader.keep_alive());
    }
}

TEST(RequestReader, RefusesWhatCouldBeReadTwoWays) {
    const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
    EXPECT_EQ(status_of(post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Content-Length: -3\r\n\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Content-Length: 99999999999999999999\r\n\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: gzip\r\n\r\nabc"), 501);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: gzip, chunked\r\n\r\nabc"), 501);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc"), 400);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"), 400);
    EXPECT_EQ(status_of(post + "Host: i\r\n\r\n"), 400);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost : h\r\n\r\n"), 400);
    EXPECT_EQ(status_of("GET / HTTP/3.1\r\nHost: h\r\n\r\n"), 400);
    EXPECT_EQ(status_of("GET  HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
    EXPECT_EQ(status_of("hello\n\nworld\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesLinesThatGoOnInTheNextHoweverTheyAreCut) {
    for (const char* fold : {"\r\n b", "\r\n\tb", "\r\n "}) {
        const std::string text = "GET / HTTP/1.1\r\nHost: h\r\nX: a" + std::string(fold) + "\r\nY: z\r\n\r\n";
        for (std::size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(status_of(text, piece), 400);
    }
    // A body is nobody's head.
    EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\r\n a"), 0);
}

TEST(RequestReader, LimitsHeadsAndBodies) {
    const std::string start = "GET / HTTP/1.1\r\nHost: h\r\n";
    const std::string line = "X-Line: " + std::string(500, 'x') + "\r\n";
    std::string head = start;
    for (int i = 0; i < 140; ++i) head += line;
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{512}, line.size()})
        EXPECT_EQ(status_of(head + "\r\n", piece), 431) << piece;
    EXPECT_EQ(status_of(start + std::string(70'000, 'y'), 1000), 431);
    EXPECT_EQ(status_of("GET /" + std::string(70'000, 'y'), 1000), 431);
    std::string many = start;
    for (int i = 0; i < 250; ++i) many += "A:b\r\n";
    EXPECT_EQ(status_of(many + "\r\n"), 431);

    const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
    EXPECT_EQ(status_of(post + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'b')), 0);
    EXPECT_EQ(status_of(post + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'b')), 413);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\n\r\n3E8\r\n" + std::string(1000, 'b') +
                        "\r\n0\r\n\r\n"),
              0);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\n\r\n3E8\r\n" + std::string(1000, 'b') +
                        "\r\n1\r\nc\r\n0\r\n\r\n"),
              413);
    EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\n\r\n3;" + std::string(70'000, 'e'), 1000), 400);
}

TEST(RequestReader, AnyBytesEndInAnAnswerOrInWaiting) {
    const std::string good =
        "POST /a?b HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, upgrade\r\nUpgrade: x\r\nExpect: "
        "100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5;q=\"z\"\r\nhello\r\n0\r\nT: t\r\n\r\n";
    std::mt19937 random(7);
    for (int round = 0; round < 20'000; ++round) {
        std::string text = good;
        const unsigned changes = 1 + random() % 4;
        for (unsigned i = 0; i < changes; ++i) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 5);
                    break;
                case 2:
                    text.insert(at, 1 + random() % 3, static_cast<char>(random()));
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 9));
                    break;
            }
        }
        RequestReader reader(1024);
        feed(reader, text, 1 + random() % text.size());
    }
}

}  // namespace
}  // namespace lavant::adapters::http
