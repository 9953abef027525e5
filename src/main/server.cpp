#include "main/server.h"

#include <poll.h>
#include <pwd.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "adapters/crypto_openssl/certificates.h"
#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/http_server/http_server.h"
#include "adapters/nodes_local/local_nodes.h"
#include "adapters/sql/sqlite_reader.h"
#include "adapters/sql/sqlite_store.h"
#include "api/agents/agent_hub.h"
#include "api/api.h"
#include "api/first_run.h"
#include "app/control_loop.h"
#include "app/effect_runner.h"
#include "app/event_feed.h"
#include "base/log.h"
#include "main/data_folder.h"
#include "main/system_clock.h"
#include "main/version.h"

namespace lavant {
namespace {

using namespace std::chrono_literals;

constexpr int kCpuOvercommit = 2;
constexpr Duration kDrainGrace = 5s;
constexpr Duration kReconcileEvery = 2s;
constexpr Duration kCertificateEvery = 24h;

// Node-facing requests go to the hub, all others to the API.
class Front final : public ports::HttpApplication {
 public:
    Front(api::Api& users, api::AgentHub& agents) : users_(users), agents_(agents) {}
    ports::BodyPlan plan_body(const ports::HttpRequest& head) override { return side(head).plan_body(head); }
    void handle(ports::HttpRequest request, std::shared_ptr<ports::Responder> responder) override {
        ports::HttpApplication& chosen = side(request);
        chosen.handle(std::move(request), std::move(responder));
    }
    tl::expected<std::unique_ptr<ports::SocketHandler>, ports::HttpResponse> accept_socket(
        const ports::HttpRequest& head) override {
        return side(head).accept_socket(head);
    }

 private:
    ports::HttpApplication& side(const ports::HttpRequest& head) {
        if (head.path.starts_with("/lavant/v1/nodes/")) return agents_;
        return users_;
    }
    api::Api& users_;
    api::AgentHub& agents_;
};

std::string user_name() {
    const passwd* entry = ::getpwuid(::getuid());
    return entry == nullptr ? "owner" : entry->pw_name;
}

}  // namespace

class Server::Parts {
 public:
    explicit Parts(const ServeOptions& options) : options_(options), folder_{options.data} {}
    ~Parts() { stop(); }

    Result<std::string> start();
    void run_until_stopped(int signal_fd);

 private:
    Result<void> open_folder();
    void make_control();
    Result<int> listen();
    void reconcile();
    bool is_idle(Instant now);
    void stop();

    const ServeOptions& options_;
    DataFolder folder_;
    SystemClock clock_;
    std::string workspace_id_;
    adapters::CertificateFiles certificates_;
    std::unique_ptr<adapters::OpensslCrypto> crypto_;
    std::unique_ptr<adapters::SqliteStore> store_;
    std::unique_ptr<adapters::SqliteReader> reader_;
    std::unique_ptr<adapters::FsBlobStore> blobs_;
    std::unique_ptr<adapters::LocalNodes> nodes_;
    app::EventFeed feed_;
    std::unique_ptr<api::AgentHub> hub_;
    std::unique_ptr<app::PooledEffectRunner> effects_;
    std::unique_ptr<app::ControlLoop> loop_;
    std::unique_ptr<api::Api> api_;
    std::unique_ptr<Front> front_;
    std::unique_ptr<adapters::HttpServer> http_;
    std::thread loop_thread_;
    std::atomic<bool> stopping_ = false;
    std::optional<Instant> idle_since_;
};

Result<void> Server::Parts::open_folder() {
    LAVANT_TRY_VOID(make_directories(folder_.tls()));
    LAVANT_TRY_VOID(make_directories(folder_.nodes()));
    LAVANT_TRY(crypto_, adapters::OpensslCrypto::load(folder_.secret()));
    LAVANT_TRY(certificates_, adapters::ensure_certificates(folder_.tls(), options_.names, clock_.now()));
    if (!options_.tls_certificate.empty()) {
        certificates_.certificate_file = options_.tls_certificate;
        certificates_.key_file = options_.tls_key;
    }
    LAVANT_TRY(store_, adapters::SqliteStore::open(folder_.database()));
    LAVANT_TRY(reader_, adapters::SqliteReader::open(folder_.database()));
    LAVANT_TRY(blobs_, adapters::FsBlobStore::open(folder_.blobs()));
    const api::FirstRunPorts first{*store_, *reader_, *blobs_, *crypto_, clock_};
    LAVANT_TRY_VOID(api::ensure_first_key(first, folder_.owner_key(), user_name()));
    LAVANT_TRY(workspace_id_, api::ensure_workspace(first));
    return {};
}

Result<std::string> Server::Parts::start() {
    LAVANT_TRY_VOID(open_folder());
    return fail(ErrorCode::Internal, "not wired yet");
}

}  // namespace lavant
