#pragma once
// A server made of canned answers, for tests of the commands.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "base/files.h"
#include "cli/context.h"
#include "cli/session.h"

namespace lavant::cli {

// Answers by "METHOD path" (without the query); everything else is 404. Remembers what it was asked.
class FakeServer {
 public:
    using Answer = std::function<Result<ports::HttpResponse>(const ports::ClientRequest&)>;

    void on(const std::string& what, int status, std::string body, std::vector<ports::Header> headers = {}) {
        on(what, [=](const ports::ClientRequest&) -> Result<ports::HttpResponse> {
            ports::HttpResponse response;
            response.status = status;
            response.body = body;
            response.headers = headers;
            return response;
        });
    }
    void on(const std::string& what, Answer answer) { answers_[what] = std::move(answer); }
    // Whatever starts with `what` and has no answer of its own.
    void on_start(const std::string& what, Answer answer) { starts_[what] = std::move(answer); }

    std::unique_ptr<ports::HttpClient> client() { return std::make_unique<Client>(*this); }
    Session session() { return Session(client(), {"https://server", "", "key"}); }

    std::vector<std::string> asked() const {
        std::vector<std::string> all;
        for (const auto& request : requests) all.push_back(name_of(request));
        return all;
    }
    std::vector<ports::ClientRequest> requests;

 private:
    class Client final : public ports::HttpClient {
     public:
        explicit Client(FakeServer& server) : server_(server) {}
        Result<ports::HttpResponse> send(const ports::ClientRequest& request) override {
            return server_.take(request);
        }

     private:
        FakeServer& server_;
    };

    static std::string name_of(const ports::ClientRequest& request) {
        const std::size_t host = request.url.find("://") + 3;
        const std::size_t path = request.url.find('/', host);
        return request.method + " " + request.url.substr(path, request.url.find('?') - path);
    }
    Result<ports::HttpResponse> take(const ports::ClientRequest& request) {
        requests.push_back(request);
        if (!request.body_file.empty()) requests.back().body = read_file(request.body_file, 1U << 20).value();
        const auto found = answers_.find(name_of(request));
        if (found != answers_.end()) return found->second(request);
        for (const auto& [start, answer] : starts_)
            if (name_of(request).starts_with(start)) return answer(request);
        ports::HttpResponse missing;
        missing.status = 404;
        missing.body = R"({"error":{"code":"NotFound","message":"there is nothing here"}})";
        return missing;
    }

    std::map<std::string, Answer> answers_;
    std::map<std::string, Answer> starts_;
};

// A terminal that remembers, a crypto that works, no environment.
struct FakeTerminal {
    std::ostringstream out;
    std::ostringstream err;
    std::map<std::string, std::string> variables;
    std::unique_ptr<adapters::OpensslCrypto> crypto = std::move(*adapters::OpensslCrypto::without_key_file());

    Console console() { return Console{out, err, 80, false}; }
    // With the configuration that the variables make; no file is read.
    Context context(FakeServer& server) {
        const auto variable = [this](const std::string& name) { return variables[name]; };
        Context made{console(), variable, [&server](const std::string&) { return server.client(); }, *crypto,
                     "/nonexistent"};
        made.config = load_config({.variable = variable, .folder = "", .user = 0, .system_file = ""}).value();
        return made;
    }
};

inline const std::string kWorkspacePath =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
    "Microsoft.MachineLearningServices/workspaces/default";

}  // namespace lavant::cli
