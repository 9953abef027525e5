#include "main/server.h"

#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "adapters/crypto_openssl/certificates.h"
#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/http_client/beast_client.h"
#include "adapters/http_server/http_server.h"
#include "adapters/nodes_local/local_nodes.h"
#include "adapters/sql/sqlite_reader.h"
#include "adapters/sql/sqlite_store.h"
#include "api/agents/agent_hub.h"
#include "api/api.h"
#include "api/datastores.h"
#include "api/first_run.h"
#include "api/output_registration.h"
#include "api/webhooks.h"
#include "app/control_loop.h"
#include "app/effect_runner.h"
#include "app/event_feed.h"
#include "app/staging.h"
#include "app/worker_pool.h"
#include "app/workspace_rows.h"
#include "base/log.h"
#include "base/spare_room.h"
#include "base/text.h"
#include "main/agent_program.h"
#include "main/data_folder.h"
#include "main/system_clock.h"
#include "main/version.h"

namespace lavant {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWebhookAnswerBytes = 64U << 10;
constexpr int kCpuOvercommit = 2;
constexpr std::uint64_t kSpareBytes = 16U << 20;
constexpr std::uint64_t kStartBytes = 1U << 20;  // what opening the database and the like may take
constexpr Duration kDrainGrace = 5s;
constexpr int kSlowThreads = 4;
constexpr Duration kReconcileEvery = 2s;
constexpr Duration kUpkeepEvery = 24h;
constexpr Duration kBlocksKept = 7 * 24h;  // uncommitted ones, as on Azure

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
    // Users of a directory service are in no file; their shells know the name.
    if (const passwd* entry = ::getpwuid(::getuid())) return entry->pw_name;
    for (const char* variable : {"USER", "LOGNAME"})
        if (const char* name = std::getenv(variable); name != nullptr && *name != '\0')
            return std::string(name).substr(0, 256);
    return "owner";
}

}  // namespace

class Server::Parts {
 public:
    explicit Parts(const ServeOptions& options)
        : options_(options), folder_{options.data}, spare_(folder_.spare(), kSpareBytes) {}
    ~Parts() { stop(); }

    Result<std::string> start();
    void run_until_stopped(int signal_fd);

 private:
    Result<void> open_folder();
    void make_control();
    plane::Settings plane_settings() const;
    api::MeterSettings metering() const;
    int last_port() const;
    Result<int> choose_port() const;
    Result<int> listen(int port);
    void reconcile();
    [[nodiscard]] Result<void> sweep_staging();
    [[nodiscard]] Result<void> notify(const NotifyOfJob& notice);
    void keep_up(Instant now);
    bool is_idle_too_long(Instant now);
    void stop();
    void release_idle_nodes();

    const ServeOptions& options_;
    DataFolder folder_;
    SpareRoom spare_;
    SystemClock clock_;
    std::string url_;
    adapters::CertificateFiles certificates_;
    std::unique_ptr<adapters::OpensslCrypto> crypto_;
    std::unique_ptr<adapters::SqliteStore> store_;
    std::unique_ptr<adapters::SqliteReader> reader_;
    std::unique_ptr<adapters::FsBlobStore> blobs_;
    std::unique_ptr<nodes_local::LocalNodes> nodes_;
    app::EventFeed feed_;
    std::unique_ptr<api::AgentHub> hub_;
    std::unique_ptr<app::PooledEffectRunner> effects_;
    std::unique_ptr<app::ControlLoop> loop_;
    std::unique_ptr<api::Api> api_;
    app::WorkerPool slow_{kSlowThreads};  // ends before what its work uses
    std::unique_ptr<Front> front_;
    std::unique_ptr<adapters::HttpServer> http_;
    std::thread loop_thread_;
    std::atomic<bool> stopping_ = false;
    Fd webhooks_end_{
        ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // can be read once nobody waits for receivers
    std::atomic<bool> loop_ends_ = false;           // after the last request was answered
    std::optional<Instant> idle_since_;
    std::uint64_t requests_seen_ = 0;
    std::vector<ports::NodeProvider::Held> last_held_;
    std::uint64_t reconciles_ = 0;
};

Result<void> Server::Parts::open_folder() {
    spare_.free_up(kStartBytes);
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
    spare_.refill();
    store_->use_spare(spare_);
    blobs_->use_spare(spare_);
    const api::FirstRunPorts first{*store_, *reader_, *blobs_, *crypto_, clock_};
    LAVANT_TRY_VOID(api::ensure_first_key(first, folder_.owner_key(), user_name()));
    LAVANT_TRY_VOID(api::ensure_workspace(first));
    LAVANT_TRY_VOID(api::map_folders(*reader_, *blobs_));
    blobs_->gather_puts();
    return {};
}

// The loop, its hub and its effects know each other; the loop is made last and reached through `this`.
void Server::Parts::make_control() {
    auto post = [this](plane::Event event) { (void)loop_->post(std::move(event)); };
    auto post_and_wait = [this](plane::Event event, app::Callback callback) {
        return loop_->post(std::move(event), std::move(callback));
    };
    hub_ = std::make_unique<api::AgentHub>(
        api::HubPorts{
            .reader = *reader_, .blobs = *blobs_, .crypto = *crypto_, .clock = clock_, .post = post_and_wait},
        api::HubSettings{.secret = crypto_->secret() + read_file(folder_.restored(), 64).value_or("")});
    effects_ = std::make_unique<app::PooledEffectRunner>(app::EffectPorts{
        .nodes = *nodes_,
        .blobs = *blobs_,
        .make_enrol_token = [this](NodeId node,
                                   std::int64_t outbox) { return hub_->make_enrol_token(node, outbox); },
        .post = post,
        .containers_of =
            [this](const std::string& workspace) { return app::list_containers(*reader_, workspace); },
        .notify = [this](const NotifyOfJob& notice) { return notify(notice); }});
    loop_ = std::make_unique<app::ControlLoop>(
        app::LoopPorts{
            .store = *store_,
            .links = *hub_,
            .effects = *effects_,
            .clock = clock_,
            .make_job_token = [this](const JobHead& job,
                                     int attempt) { return api_->make_job_token(job, attempt); },
            .published = [this](const std::vector<HistoryEvent>& events) { feed_.publish(events); },
            .register_outputs =
                [this](const JobHead& job, const std::string& launch, WriteBatch& writes) {
                    return api::register_outputs(*reader_, job, launch, writes);
                }},
        plane_settings(), app::Upkeep{.events_kept = options_.events_kept});
    api_ = std::make_unique<api::Api>(
        api::ApiPorts{.reader = *reader_,
                      .blobs = *blobs_,
                      .crypto = *crypto_,
                      .clock = clock_,
                      .feed = feed_,
                      .post = post_and_wait,
                      .loop_stats = [this] { return loop_->stats(); },
                      .logs = hub_.get(),
                      .run_slowly = [this](std::function<void()> work) { slow_.run(std::move(work)); }},
        api::ApiSettings{.base_url = url_,
                         .secret = crypto_->secret(),
                         .version = kVersion,
                         .data_folder = folder_.root,
                         .ca_file = options_.tls_certificate.empty() ? certificates_.ca_file : "",
                         .capacity = plane_settings().capacity,
                         .machine = nodes_->capacity(),
                         .retired_sizes = options_.retired_sizes,
                         .mirrors = options_.mirrors,
                         .notify_hosts = options_.notify_hosts,
                         .make_workspaces = options_.make_workspaces,
                         .metering = metering()});
    front_ = std::make_unique<Front>(*api_, *hub_);
}

api::MeterSettings Server::Parts::metering() const {
    // A third of a minute's failures at once: a script with an old key fails often and harms nobody.
    const double failures = options_.failed_logins_per_minute;
    return {.requests_per_s = options_.key_requests_per_s,
            .upload_mib_per_s = options_.key_upload_mib_per_s,
            .failed_logins = {.per_s = failures / 60, .burst = std::max(1.0, failures / 3)}};
}

// Memory is promised once, CPUs twice: most tasks wait now and then.
plane::Settings Server::Parts::plane_settings() const {
    plane::Settings settings;
    settings.capacity = nodes_->capacity();
    settings.capacity.cpu_millis *= kCpuOvercommit;
    settings.gpu_names = nodes_->gpu_names();
    return settings;
}

// The port of the last time, if it is free: agents and exported variables still point there.
int Server::Parts::last_port() const {
    const Result<std::string> text = read_file(folder_.endpoint_kept(), 64);
    const std::optional<std::int64_t> port = text ? parse_integer(trim(*text)) : std::nullopt;
    return port && *port > 0 && *port < 65'536 ? static_cast<int>(*port) : 0;
}

// Agents and the API are told the URL before the port is open, so a free one is looked for first.
Result<int> Server::Parts::choose_port() const {
    if (options_.port != 0) return options_.port;
    for (const int wanted : {last_port(), 0}) {
        const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const int yes = 1;
        ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_port = htons(static_cast<std::uint16_t>(wanted));
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof place;
        auto* address = reinterpret_cast<sockaddr*>(&place);
        if (::bind(probe.get(), address, size) == 0 && ::getsockname(probe.get(), address, &size) == 0)
            return ntohs(place.sin_port);
    }
    return fail(ErrorCode::Unavailable,
                "no free port on the loopback interface; free one, or name one with --port");
}

Result<int> Server::Parts::listen(int port) {
    http_ = std::make_unique<adapters::HttpServer>(
        adapters::ServerSettings{.address = options_.address,
                                 .port = port,
                                 .certificate_file = certificates_.certificate_file,
                                 .key_file = certificates_.key_file,
                                 .temporary_folder = blobs_->temporary_folder()},
        *front_);
    return http_->start();
}

Result<std::string> Server::Parts::start() {
    LAVANT_TRY_VOID(open_folder());
    // Agents are given the URL before the port is open; so the port is chosen first.
    LAVANT_TRY(const int port, choose_port());
    url_ = "https://" + options_.address + ":" + std::to_string(port);
    nodes_ = std::make_unique<nodes_local::LocalNodes>(
        nodes_local::LocalNodesSettings{.folder = folder_.nodes(),
                                        .agent_command = install_agent(folder_),
                                        .server_url = url_,
                                        .ca_file = certificates_.ca_file,
                                        .gpus = options_.gpus});
    make_control();
    LAVANT_TRY_VOID(loop_->start(clock_.now()));
    if (const auto swept = sweep_staging(); !swept)
        log(Level::Warning, "staging_not_swept", {{"message", swept.error().message}});
    LAVANT_TRY(const int opened, listen(port));
    (void)opened;
    loop_thread_ = std::thread([this] {
        while (!loop_ends_) {
            loop_->wait();
            while (loop_->step(clock_.now())) {
            }
        }
    });
    reconcile();
    LAVANT_TRY_VOID(write_file_atomically(folder_.endpoint_kept(), std::to_string(port)));
    LAVANT_TRY_VOID(write_endpoint(folder_, {.url = url_,
                                             .ca_file = certificates_.ca_file,
                                             .embedded = options_.embedded,
                                             .idle_exit_s = options_.idle_exit_s,
                                             .since = clock_.now()}));
    log(Level::Info, "serving", {{"url", url_}, {"data", folder_.root}, {"version", kVersion}});
    return url_;
}

// A client for each: they are few, and their receivers many.
Result<void> Server::Parts::notify(const NotifyOfJob& notice) {
    adapters::BeastClient client({.body_bytes_max = kWebhookAnswerBytes,
                                  .user_agent = "lavant-webhook",
                                  .stop_fd = webhooks_end_.get()});
    const api::Webhooks hooks(*crypto_, crypto_->secret());
    return api::Webhooks::judge(notice, client.send(hooks.request_for(notice, clock_.now())));
}

Result<void> Server::Parts::sweep_staging() {
    const std::vector<JobHead> live = loop_->plane().rows().jobs;
    LAVANT_TRY(const std::vector<std::string> workspaces, app::list_workspace_keys(*reader_));
    for (const std::string& workspace : workspaces) {
        LAVANT_TRY(const app::Containers containers, app::list_containers(*reader_, workspace));
        LAVANT_TRY_VOID(app::sweep_staging(*blobs_, containers, live));
    }
    return {};
}

void Server::Parts::reconcile() {
    const Instant listed_at = clock_.now();
    const Result<std::vector<ports::NodeProvider::Held>> held = nodes_->list_nodes();
    if (!held) {
        log(Level::Warning, "listing_nodes_failed", {{"message", held.error().message}});
        return;
    }
    if (*held == last_held_ && std::ranges::all_of(*held, &ports::NodeProvider::Held::agent_alive) &&
        reconciles_++ % 16 != 0)
        return;
    last_held_ = *held;
    plane::NodesHeld event{.nodes = {}, .listed_at = listed_at};
    for (const ports::NodeProvider::Held& one : *held) event.nodes.push_back({one.node, one.agent_alive});
    (void)loop_->post(std::move(event));
}

// What has to be looked at once a day.
void Server::Parts::keep_up(Instant now) {
    if (options_.tls_certificate.empty()) {
        const auto renewed = adapters::ensure_certificates(folder_.tls(), options_.names, now);
        if (renewed && renewed->renewed) (void)http_->reload_certificate();
    }
    const Result<std::size_t> dropped = blobs_->drop_old_blocks(now - kBlocksKept);
    if (!dropped) log(Level::Warning, "old_blocks_not_dropped", {{"message", dropped.error().message}});
    if (dropped && *dropped > 0)
        log(Level::Info, "old_blocks_dropped", {{"blobs", std::to_string(*dropped)}});
}

bool Server::Parts::is_idle_too_long(Instant now) {
    if (options_.idle_exit_s <= 0) return false;
    const app::LoopStats stats = loop_->stats();
    const bool busy = stats.census.jobs_live > 0 || !last_held_.empty() || http_->stats().connections > 0;
    const std::uint64_t requests = http_->stats().requests;
    if (busy || requests != requests_seen_) idle_since_ = now;
    requests_seen_ = requests;
    return idle_since_ && now - *idle_since_ > std::chrono::seconds(options_.idle_exit_s);
}

void Server::Parts::run_until_stopped(int signal_fd) {
    Instant reconcile_at = clock_.now();
    Instant upkeep_at = clock_.now();
    idle_since_ = clock_.now();
    while (true) {
        const Duration nap = std::min<Duration>(api_->tick(), kReconcileEvery);
        pollfd waiting{.fd = signal_fd, .events = POLLIN, .revents = 0};
        const int timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(nap).count());
        if (::poll(&waiting, 1, timeout) > 0) break;
        const Instant now = clock_.now();
        if (now >= reconcile_at) {
            spare_.refill();
            reconcile();
            reconcile_at = now + kReconcileEvery;
        }
        if (now >= upkeep_at) {
            upkeep_at = now + kUpkeepEvery;
            keep_up(now);
        }
        if (is_idle_too_long(now)) break;
    }
    log(Level::Info, "stopping");
    stop();
}

// In the order in which work flows: nothing new comes in, what is in is finished, then the rest ends.
void Server::Parts::stop() {
    if (stopping_.exchange(true)) return;
    if (api_) api_->close();
    if (http_) http_->stop(kDrainGrace);
    loop_ends_ = true;
    if (loop_) loop_->wake();
    if (loop_thread_.joinable()) loop_thread_.join();
    (void)::eventfd_write(webhooks_end_.get(), 1);  // the next server tells those whom this one could not
    if (effects_) effects_->stop();
    release_idle_nodes();
}

// Nodes with work outlive the server and are adopted by the next. An idle one would only wait out its lease.
void Server::Parts::release_idle_nodes() {
    if (!reader_ || !nodes_) return;
    const auto known = reader_->list_nodes();
    if (!known) return;
    for (const Node& node : *known) {
        if (node.state != NodeState::Idle) continue;
        const auto stopped = nodes_->stop_node(node.id);
        if (!stopped) log(Level::Warning, "node_left_behind", {{"message", stopped.error().message}});
    }
}

Server::Server(ServeOptions options)
    : options_(std::move(options)), parts_(std::make_unique<Parts>(options_)) {}
Server::~Server() = default;
Result<std::string> Server::start() { return parts_->start(); }
void Server::run_until_stopped(int signal_fd) { parts_->run_until_stopped(signal_fd); }

}  // namespace lavant
