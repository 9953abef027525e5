#pragma once
// The HttpClient port over OpenSSL and Beast's parser, without threads. Keeps its connection between
// requests, so that a command that sends several pays for one TLS handshake. Follows no redirects.

#include <memory>
#include <string>

#include "base/result.h"
#include "ports/http.h"

namespace lavant::adapters {

struct ClientSettings {
    std::string ca_file;                     // trusted beside nothing else; empty: what the system trusts
    std::size_t body_bytes_max = 64U << 20;  // of a response kept in memory
    int connect_timeout_s = 10;
    std::string user_agent = "lavant";
    int stop_fd = -1;    // when it can be read, requests end as if their time was over; -1: they do not
    bool verify = true;  // false: talks to anybody, and so sends no Authorization
};

// Programs that use it ignore SIGPIPE.
class BeastClient final : public ports::HttpClient {
 public:
    explicit BeastClient(ClientSettings settings);
    ~BeastClient() override;
    BeastClient(const BeastClient&) = delete;
    BeastClient& operator=(const BeastClient&) = delete;

    [[nodiscard]] Result<ports::HttpResponse> send(const ports::ClientRequest& request) override;

 private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace lavant::adapters
