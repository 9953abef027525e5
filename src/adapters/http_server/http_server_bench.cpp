// Measures the server's CPU per keep-alive PUT with a 1 KiB body over TLS, one I/O thread, for answers given
// at once and for answers that come from another thread. Client and server are processes of their own.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "adapters/http_server/server_under_test.h"
#include "base/text.h"

namespace lavant::adapters::http {
namespace {

using ports::HttpRequest;
using ports::Responder;

std::int64_t cpu_micros() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000 + used.ru_utime.tv_usec +
           used.ru_stime.tv_usec;
}

// Stands for the control loop: answers in batches, from a thread of its own.
class Answerer {
 public:
    void add(std::shared_ptr<Responder> responder) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(responder));
        arrived_.notify_one();
    }
    [[noreturn]] void run() {
        while (true) {
            std::vector<std::shared_ptr<Responder>> batch;
            {
                std::unique_lock lock(mutex_);
                arrived_.wait(lock, [this] { return !waiting_.empty(); });
                batch.swap(waiting_);
            }
            for (const auto& responder : batch)
                responder->respond(
                    {.headers = {{"Content-Type", "application/json"}}, .body = std::string(900, 'j')});
        }
    }

 private:
    std::mutex mutex_;  // guards waiting_
    std::condition_variable arrived_;
    std::vector<std::shared_ptr<Responder>> waiting_;
};

[[noreturn]] void serve(ServerUnderTest& here, int tell) {
    Answerer answerer;
    std::thread([&answerer] { answerer.run(); }).detach();
    here.application.on_request = [&](const HttpRequest& request, std::shared_ptr<Responder> responder) {
        if (request.path == "/cpu") return responder->respond({.body = std::to_string(cpu_micros())});
        if (request.path == "/later") return answerer.add(std::move(responder));
        responder->respond(
            {.headers = {{"Content-Type", "application/json"}}, .body = std::string(900, 'j')});
    };
    here.start();
    if (::write(tell, &here.port, sizeof here.port) != sizeof here.port) std::abort();
    while (true) ::pause();
}

std::int64_t server_cpu(TestClient& client) {
    client.send("GET /cpu HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return parse_integer(client.read_reply().body).value_or(0);
}

void measure(const ServerUnderTest& here, const std::string& path, std::size_t connections, int rounds) {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (std::size_t i = 0; i < connections; ++i)
        clients.push_back(
            std::make_unique<TestClient>(here.port, TestClient::Security::Tls, here.certificates.ca_file));
    const std::string request =
        "PUT " + path +
        " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\nAuthorization: "
        "Bearer " +
        std::string(40, 't') + "\r\nContent-Type: application/json\r\n" + "Content-Length: 1024\r\n\r\n" +
        std::string(1024, 'b');
    const std::int64_t before = server_cpu(*clients[0]);
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) {
        for (const auto& client : clients) client->send(request);
        for (const auto& client : clients)
            if (client->read_reply().status != 200) std::abort();
    }
    const std::chrono::duration<double, std::micro> wall = std::chrono::steady_clock::now() - start;
    const double requests = static_cast<double>(connections) * rounds;
    std::printf("%-7s %2zu connections: %6.1f us of server CPU and %6.1f us of wall time per request\n",
                path.c_str(), connections, static_cast<double>(server_cpu(*clients[0]) - before) / requests,
                wall.count() / requests);
}

}  // namespace
}  // namespace lavant::adapters::http

int main() {
    using namespace lavant::adapters::http;
    ServerUnderTest here;
    int pipe[2] = {};
    if (::pipe(pipe) != 0) return 1;
    const pid_t child = ::fork();
    if (child == 0) serve(here, pipe[1]);
    if (::read(pipe[0], &here.port, sizeof here.port) != sizeof here.port) return 1;
    for (const std::string path : {"/now", "/later"})
        for (const std::size_t connections : {1U, 8U, 32U})
            measure(here, path, connections, connections == 1 ? 10'000 : 2'000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return 0;
}
