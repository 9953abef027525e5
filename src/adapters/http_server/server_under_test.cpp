#include "adapters/http_server/server_under_test.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "base/log.h"
#include "base/text.h"

namespace lavant::adapters::http {

std::string Reply::header(std::string_view name) const {
    for (const std::string_view line : split(head, '\n')) {
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && equals_ignoring_case(line.substr(0, colon), name))
            return std::string(trim(line.substr(colon + 1)));
    }
    return {};
}

TestClient::TestClient(int port, Security security, const std::string& ca_file, SSL_SESSION* resume)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sigset_t pipe{};  // in this thread only: the server must do without
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    const timeval patience{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int yes = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    if (security == Security::Plain || !connected_) return;
    context_ = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_load_verify_file(context_, ca_file.c_str());
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    ssl_ = SSL_new(context_);
    SSL_set1_host(ssl_, "localhost");
    SSL_set_fd(ssl_, socket_.get());
    SSL_set_mode(ssl_, SSL_MODE_AUTO_RETRY);
    if (resume != nullptr) SSL_set_session(ssl_, resume);
    connected_ = SSL_connect(ssl_) == 1;
}

TestClient::~TestClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
}

bool TestClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ssl_ != nullptr
                                  ? SSL_write(ssl_, bytes.data(),
                                              static_cast<int>(std::min<std::size_t>(bytes.size(), 1U << 20)))
                                  : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

std::string TestClient::receive() {
    if (!in_.empty()) return std::exchange(in_, {});
    std::array<char, 65536> buffer{};
    const ssize_t count = ssl_ != nullptr ? SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()))
                                          : ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
}

std::string TestClient::receive_all() {
    std::string all;
    for (std::string some = receive(); !some.empty(); some = receive()) all += some;
    return all;
}

bool TestClient::fill(std::size_t bytes) {
    while (in_.size() < bytes) {
        std::string held = std::exchange(in_, {});
        const std::string some = receive();
        in_ = std::move(held) + some;
        if (some.empty()) return false;
    }
    return true;
}

std::string TestClient::receive_exactly(std::size_t bytes) {
    fill(bytes);
    std::string taken = in_.substr(0, bytes);
    in_.erase(0, taken.size());
    return taken;
}

bool TestClient::read_line(std::string* line) {
    std::size_t end = 0;
    while ((end = in_.find("\r\n")) == std::string::npos)
        if (!fill(in_.size() + 1)) return false;
    *line = in_.substr(0, end);
    in_.erase(0, end + 2);
    return true;
}

Reply TestClient::read_reply(bool to_head) {
    Reply reply;
    std::string line;
    if (!read_line(&line) || line.size() < 12) return reply;
    const int status = static_cast<int>(parse_integer(line.substr(9, 3)).value_or(0));
    while (read_line(&line) && !line.empty()) reply.head += line + "\n";
    if (reply.header("transfer-encoding") == "chunked") {
        while (read_line(&line)) {
            const std::size_t size = std::strtoul(line.c_str(), nullptr, 16);
            reply.body += receive_exactly(size);
            if (!read_line(&line)) return reply;  // cut: no status
            if (size == 0) {
                reply.status = status;
                return reply;
            }
        }
        return reply;
    }
    const auto length = static_cast<std::size_t>(parse_integer(reply.header("content-length")).value_or(0));
    if (!to_head && status != 304) reply.body = receive_exactly(length);
    if (to_head || reply.body.size() == length || status == 304) reply.status = status;
    return reply;
}

void TestClient::close() {
    SSL_free(std::exchange(ssl_, nullptr));
    socket_.reset();
}

void TestClient::reset() {
    const linger hard{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
}

bool TestClient::upgrade(const std::string& path, const std::string& more_headers) {
    send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + more_headers +
         "\r\n");
    std::string line;
    if (!read_line(&line) || line.find("101") == std::string::npos) return false;
    bool accepted = false;
    while (read_line(&line) && !line.empty())
        if (line.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos) accepted = true;
    return accepted;
}

std::string TestClient::make_frame(std::string_view payload, int opcode, bool final) {
    std::string frame;
    frame.push_back(static_cast<char>((final ? 0x80 : 0) | opcode));
    const std::size_t size = payload.size();
    const int length_bytes = size < 126 ? 0 : size <= 0xffff ? 2 : 8;
    frame.push_back(static_cast<char>(0x80U | (length_bytes == 0 ? size : length_bytes == 2 ? 126U : 127U)));
    for (int i = length_bytes - 1; i >= 0; --i) frame.push_back(static_cast<char>((size >> (8 * i)) & 0xffU));
    constexpr std::string_view kMask = "\x21\x43\x65\x87";
    frame += kMask;
    for (std::size_t i = 0; i < size; ++i) frame.push_back(static_cast<char>(payload[i] ^ kMask[i % 4]));
    return frame;
}

bool TestClient::send_frame(std::string_view payload, int opcode, bool final) {
    return send(make_frame(payload, opcode, final));
}

TestClient::Frame TestClient::read_frame() {
    const std::string head = receive_exactly(2);
    if (head.size() < 2) return {};
    Frame frame;
    std::size_t size = static_cast<unsigned char>(head[1]) & 0x7fU;
    const std::size_t length_bytes = size < 126 ? 0 : size == 126 ? 2 : 8;
    if (length_bytes > 0) {
        size = 0;
        for (const char c : receive_exactly(length_bytes)) size = size << 8U | static_cast<unsigned char>(c);
    }
    frame.payload = receive_exactly(size);
    if (frame.payload.size() == size) frame.opcode = head[0] & 0x0f;
    return frame;
}

ServerUnderTest::ServerUnderTest() {
    sigset_t pipe{};
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec at_once{};
    while (::sigtimedwait(&pipe, nullptr, &at_once) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
    configure_log({.least = Level::Error});
    std::string pattern = testing::TempDir() + "lavant-http-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    EXPECT_TRUE(make_directories(spool()));
    certificates =
        ensure_certificates(folder + "/tls", {}, from_micros(std::time(nullptr) * 1'000'000)).value();
    settings.certificate_file = certificates.certificate_file;
    settings.key_file = certificates.key_file;
    settings.temporary_folder = spool();
}

ServerUnderTest::~ServerUnderTest() {
    server.reset();
    EXPECT_TRUE(remove_tree(folder));
}

void ServerUnderTest::start() {
    server = std::make_unique<HttpServer>(settings, application);
    const auto started = server->start();
    ASSERT_TRUE(started) << started.error().message;
    port = *started;
}

}  // namespace lavant::adapters::http
