// Submits N no-op command jobs through the REST API, or sends N requests of any kind, and prints a JSON line.
//
//   load submit N CONNECTIONS [SIZE] [PREFIX]   as fast as they are acknowledged
//   load latency N [SIZE]                       one after the other: submit, wait for the end; percentiles
//   load send METHOD N CONNECTIONS TARGET [BODY_FILE]   "%" in the target becomes the request's number
//
// LAVANT_ENDPOINT, LAVANT_CA and LAVANT_TOKEN as `lavant env` prints them. LAVANT_BENCH_SANDBOX=off runs them
// unconfined.

#include <signal.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "adapters/http_client/beast_client.h"

namespace {

using lavant::Result;
using lavant::adapters::BeastClient;
using lavant::ports::ClientRequest;
using lavant::ports::HttpResponse;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

double now_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class Bench {
 public:
    explicit Bench(std::string size) : endpoint_(variable("LAVANT_ENDPOINT")), size_(std::move(size)) {}

    BeastClient client() const { return BeastClient({.ca_file = variable("LAVANT_CA")}); }

    bool send_numbered(BeastClient& http, const std::string& method, std::string target, int number,
                       const std::string& body) const {
        target.replace(target.find('%'), 1, std::to_string(number));
        return send(http, method, endpoint_ + target, body);
    }

    bool submit(BeastClient& http, const std::string& name) const {
        std::string body =
            R"({"properties":{"jobType":"Command","command":"/bin/true","environmentId":"azureml:base:1",)";
        if (variable("LAVANT_BENCH_SANDBOX") == "off") body += R"("properties":{"lavant.sandbox":"off"},)";
        body += R"("resources":{"instanceCount":1,"instanceType":")" + size_ + R"("}}})";
        return send(http, "PUT", workspace() + "/jobs/" + name + "?api-version=2025-01-01-preview", body);
    }
    bool wait(BeastClient& http, const std::string& name) const {
        return send(http, "GET", endpoint_ + "/lavant/v1/jobs/" + name + "/wait?timeout_s=60", "");
    }

 private:
    std::string workspace() const {
        return endpoint_ + "/subscriptions/" + variable("LAVANT_SUB") + "/resourceGroups/" +
               variable("LAVANT_RG") + "/providers/Microsoft.MachineLearningServices/workspaces/" +
               variable("LAVANT_WS");
    }
    static bool send(BeastClient& http, const std::string& method, const std::string& url,
                     const std::string& body) {
        ClientRequest request;
        request.method = method;
        request.url = url;
        request.body = body;
        request.headers = {{"Content-Type", "application/json"}, {"x-ms-blob-type", "BlockBlob"}};
        static const std::string kToken = variable("LAVANT_TOKEN");
        if (!kToken.empty()) request.headers.emplace_back("Authorization", "Bearer " + kToken);
        const Result<HttpResponse> answer = http.send(request);
        if (answer && answer->status / 100 == 2) return true;
        std::fprintf(stderr, "%s %s: %s\n", method.c_str(), url.c_str(),
                     answer ? answer->body.c_str() : answer.error().message.c_str());
        return false;
    }
    std::string endpoint_;
    std::string size_;
};

// Calls `work(http, number)` for every number below `count`, on so many connections.
template <class Work>
int run_all(const Bench& bench, int count, int connections, const Work& work) {
    std::atomic<int> next = 0;
    std::atomic<int> failed = 0;
    const double before = now_seconds();
    std::vector<std::thread> threads;
    for (int i = 0; i < connections; ++i) {
        threads.emplace_back([&] {
            BeastClient http = bench.client();
            for (int number = next++; number < count; number = next++)
                if (!work(http, number)) ++failed;
        });
    }
    for (std::thread& thread : threads) thread.join();
    const double wall = now_seconds() - before;
    std::printf("{\"count\": %d, \"failed\": %d, \"wall_s\": %.3f, \"per_s\": %.1f}\n", count, failed.load(),
                wall, count / wall);
    return failed == 0 ? 0 : 1;
}

int run_submit(int count, int connections, const std::string& size, const std::string& prefix) {
    const Bench bench(size);
    return run_all(bench, count, connections, [&](BeastClient& http, int job) {
        return bench.submit(http, prefix + std::to_string(job));
    });
}

int run_send(const std::string& method, int count, int connections, const std::string& target,
             const std::string& file) {
    std::string body;
    if (!file.empty()) {
        std::ifstream in(file, std::ios::binary);
        body.assign(std::istreambuf_iterator<char>(in), {});
    }
    const Bench bench("");
    return run_all(bench, count, connections, [&](BeastClient& http, int number) {
        return bench.send_numbered(http, method, target, number, body);
    });
}

int run_latency(int count, const std::string& size) {
    const Bench bench(size);
    BeastClient http = bench.client();
    std::vector<double> millis;
    for (int i = 0; i < count; ++i) {
        const std::string name =
            "latency" + std::to_string(static_cast<long long>(now_seconds() * 1e6)) + std::to_string(i);
        const double before = now_seconds();
        if (!bench.submit(http, name) || !bench.wait(http, name)) return 1;
        millis.push_back((now_seconds() - before) * 1000);
    }
    const double first = millis.front();
    std::sort(millis.begin(), millis.end());
    std::printf("{\"count\": %d, \"first_ms\": %.2f, \"p50_ms\": %.2f, \"p90_ms\": %.2f, \"p99_ms\": %.2f}\n",
                count, first, millis[millis.size() / 2], millis[millis.size() * 9 / 10],
                millis[millis.size() * 99 / 100]);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    const std::string verb = argc > 1 ? argv[1] : "";
    const std::string fallback = "Standard_DS1_v2";
    if (verb == "submit" && argc > 3)
        return run_submit(std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? argv[4] : fallback,
                          argc > 5 ? argv[5] : "bench");
    if (verb == "latency" && argc > 2) return run_latency(std::atoi(argv[2]), argc > 3 ? argv[3] : fallback);
    if (verb == "send" && argc > 5 && std::string(argv[5]).find('%') != std::string::npos)
        return run_send(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), argv[5], argc > 6 ? argv[6] : "");
    std::fprintf(stderr,
                 "usage: load submit N CONNECTIONS [SIZE] [PREFIX] | load latency N [SIZE] | "
                 "load send METHOD N CONNECTIONS TARGET [BODY_FILE]\n");
    return 2;
}
