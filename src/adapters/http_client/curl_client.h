#pragma once
// The HttpClient port over libcurl. Keeps its connection between requests, so that a command that sends
// several pays for one TLS handshake.

#include <memory>
#include <string>

#include "base/result.h"
#include "ports/http.h"

namespace lavant::adapters {

struct ClientSettings {
    std::string ca_file;                      // trusted beside nothing else; empty: what the system trusts
    std::size_t body_bytes_max = 256U << 20;  // of a response kept in memory
    int connect_timeout_s = 10;
    std::string user_agent = "lavant";
    bool verify = true;  // false: any certificate will do, and no credentials are sent
};

class CurlClient final : public ports::HttpClient {
 public:
    explicit CurlClient(ClientSettings settings);
    ~CurlClient() override;
    CurlClient(const CurlClient&) = delete;
    CurlClient& operator=(const CurlClient&) = delete;

    [[nodiscard]] Result<ports::HttpResponse> send(const ports::ClientRequest& request) override;

 private:
    struct Handle;
    ClientSettings settings_;
    std::unique_ptr<Handle> handle_;
};

}  // namespace lavant::adapters
