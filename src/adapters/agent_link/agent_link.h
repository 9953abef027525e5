#pragma once
// The agent's thread and wires over Asio, Beast and OpenSSL: WebSockets that dial again by themselves and a
// small HTTP client, both trusting only the server's own certificate authority.

#include <memory>
#include <string>

#include "base/result.h"
#include "ports/agent_link.h"

namespace lavant::adapters {

struct AgentLinkSettings {
    std::string server_url;  // https://host:port
    std::string ca_file;     // PEM; nothing else is trusted for the server
    Duration first_pause = std::chrono::milliseconds(50);
    Duration longest_pause = std::chrono::seconds(5);
};

class AgentLink final : public ports::Reactor, public ports::ServerWire {
 public:
    [[nodiscard]] static Result<std::unique_ptr<AgentLink>> make(const AgentLinkSettings& settings);
    ~AgentLink() override;

    void run() override;
    void stop() override;
    void post(std::function<void()> task) override;
    Timer after(Duration delay, std::function<void()> task) override;
    void cancel(Timer timer) override;
    void when_readable(int fd, std::function<void()> task) override;
    void forget(int fd) override;

    [[nodiscard]] std::unique_ptr<ports::KeptLink> keep_link(const std::string& path,
                                                             const std::string& bearer,
                                                             ports::LinkHandler& handler) override;
    void send(ports::ClientRequest request, Done done) override;

 private:
    class Parts;
    explicit AgentLink(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace lavant::adapters
