#pragma once
// The server's end of the agent links: who may connect as which node, what their frames mean to the control
// loop, where their logs and files go. protocol/agent.md tells the story. Everything a node sends is hostile
// until the task table says that it is about a task of that node.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "api/agents/log_writer.h"
#include "api/agents/task_table.h"
#include "api/log_source.h"
#include "app/job_files.h"
#include "core/plane/events.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/http.h"
#include "ports/nodes.h"
#include "ports/store.h"

namespace lavant::api {

struct HubPorts {
    ports::Reader& reader;
    ports::BlobStore& blobs;
    ports::Crypto& crypto;
    ports::Clock& clock;
    std::function<bool(plane::Event, std::function<void(Result<plane::Answer>)>)>
        post;  // app::ControlLoop::post
};

struct HubSettings {
    std::string secret;  // from which tokens and credentials are derived
    LogWriterSettings logs;
};

class AgentHub final : public ports::HttpApplication, public ports::AgentLinks, public LogSource {
 public:
    AgentHub(HubPorts ports, HubSettings settings);
    ~AgentHub() override;

    // For the provider that starts the node. Good for that node only, and only until its first Hello.
    std::string make_enrol_token(NodeId node, std::int64_t outbox) const;

    // How much is kept in memory for tasks; nothing, when none is live.
    struct Holdings {
        std::size_t tasks = 0;
        std::size_t logs = 0;
    };
    Holdings holdings() const;

    // --- ports::AgentLinks ---
    void send(NodeId node, ToAgent message) override;
    void drop_links() override;

    // --- ports::HttpApplication, for what lies below /lavant/v1/nodes/ ---
    ports::BodyPlan plan_body(const ports::HttpRequest& head) override;
    void handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) override;
    tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse> accept_socket(
        const ports::HttpRequest& head) override;

    // --- LogSource ---
    Watch watch(const std::string& workspace, const std::string& job, std::function<void()> grown) override;
    void unwatch(Watch watch) override;

 private:
    class ControlSocket;
    class BulkSocket;
    struct Route;
    struct LiveLink {
        std::uint64_t number = 0;
        std::shared_ptr<ports::SocketPeer> peer;  // the server's, shared with every sender
    };

    static std::optional<Route> parse_route(const ports::HttpRequest& request);
    std::string credential_of(NodeId node) const;
    bool has_credential(const ports::HttpRequest& request, NodeId node) const;
    bool has_enrol_token(const ports::HttpRequest& request, NodeId node) const;
    // Nothing: the caller is this node, and the node is wanted. Else what to answer.
    std::optional<ports::HttpResponse> refuse(const ports::HttpRequest& request, NodeId node);

    void enrol(const ports::HttpRequest& request, const Route& route,
               std::shared_ptr<ports::Responder> responder);
    void list_blobs(const ports::HttpRequest& request, const Route& route, ports::Responder& responder);
    void get_blob(const Route& route, ports::Responder& responder);
    void stage(ports::HttpRequest request, const Route& route, std::shared_ptr<ports::Responder> responder);
    std::optional<HeldTask> staging_task(const Route& route);

    bool post(plane::Event event);
    std::uint64_t link_up(NodeId node, std::shared_ptr<ports::SocketPeer> peer, Hello hello);
    void link_down(NodeId node, std::uint64_t link);

    HubPorts ports_;
    const HubSettings settings_;
    TaskTable tasks_;
    const app::JobFiles job_files_;
    LogWriter logs_;

    std::mutex mutex_;  // guards what follows
    std::map<NodeId, LiveLink> links_;
    std::uint64_t last_link_ = 0;
};

}  // namespace lavant::api
