#pragma once
// A server and its nodes in one process: real TLS, real frames, real processes; rows in memory, blobs in a
// folder. Server and agents can be ended and started again at any moment.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "adapters/agent_link/agent_link.h"
#include "adapters/blobs_fs/fs_blob_store.h"
#include "adapters/crypto_openssl/certificates.h"
#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/http_server/http_server.h"
#include "adapters/memory/memory_store.h"
#include "agent/loop.h"
#include "api/agents/agent_hub.h"
#include "app/control_loop.h"
#include "app/effect_runner.h"
#include "base/files.h"
#include "tests/support/plain_sandbox.h"
#include "tests/support/temporary_folder.h"

namespace lavant::test {

class WallClock final : public ports::Clock {
 public:
    Instant now() override;
};

// One agent in a thread of its own; what it started outlives it.
class AgentThread {
 public:
    AgentThread(agent::LoopSettings settings, const adapters::AgentLinkSettings& link, PlainSandbox& sandbox);
    ~AgentThread();  // as by kill -9: nothing is said to anybody
    bool has_ended() const { return ended_; }

 private:
    WallClock clock_;
    std::unique_ptr<adapters::AgentLink> link_;
    std::unique_ptr<agent::Loop> loop_;
    Fd death_;  // readable: end at once
    std::atomic<bool> ended_ = false;
    std::thread thread_;
};

class AgentWorld : public ports::NodeProvider {
 public:
    AgentWorld();
    ~AgentWorld() override;

    void start_server();
    void end_server();  // as by kill -9, as far as one process can
    void end_agents();  // likewise; the reconciler starts them again
    void reconcile();

    Launch a_launch(const std::string& job, const std::string& command) const;
    void submit(const Launch& launch, JobHead head = {});  // what of it is not in the launch
    void cancel(const std::string& job);
    void evict();  // a node, a busy one if there is one
    JobHead wait_for(const std::string& job, const std::function<bool(const JobHead&)>& condition);
    JobHead wait_for_end(const std::string& job);
    std::string log_of(const std::string& job, const std::string& file = "std_log.txt");
    std::string read_blob(const std::string& container, const std::string& name);
    adapters::FsBlobStore& blobs() { return *blobs_; }
    int starts();
    std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }

    // --- ports::NodeProvider ---
    [[nodiscard]] Result<void> start_node(const ports::NodeOrder& order) override;
    [[nodiscard]] Result<void> stop_node(NodeId node) override;
    [[nodiscard]] Result<std::vector<Held>> list_nodes() override;
    Resources capacity() override { return {.cpu_millis = 64'000, .memory_bytes = 1LL << 40}; }

 private:
    struct NodeParts {
        std::unique_ptr<PlainSandbox> sandbox = std::make_unique<PlainSandbox>();
        std::unique_ptr<AgentThread> agent;
    };
    TemporaryFolder folder_;
    WallClock clock_;
    adapters::MemoryStore store_;
    std::unique_ptr<adapters::OpensslCrypto> crypto_;
    std::unique_ptr<adapters::FsBlobStore> blobs_;
    adapters::CertificateFiles certificates_;
    int port_ = 0;

    std::unique_ptr<api::AgentHub> hub_;
    std::unique_ptr<app::PooledEffectRunner> effects_;
    std::unique_ptr<app::ControlLoop> loop_;
    std::unique_ptr<adapters::HttpServer> http_;
    std::thread loop_thread_;
    std::atomic<bool> ending_ = false;

    std::mutex mutex_;  // guards nodes_ and changes_
    std::condition_variable changed_;
    std::uint64_t changes_ = 0;
    std::map<NodeId, NodeParts> nodes_;
};

}  // namespace lavant::test
