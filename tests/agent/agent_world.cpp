#include "tests/agent/agent_world.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <chrono>

#include "app/job_files.h"
#include "base/files.h"
#include "core/model/workspace.h"
#include "wire/messages.h"

namespace lavant::test {
namespace {

constexpr const char* kDefaultWorkspace = "default";

}  // namespace

Instant WallClock::now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return Instant{std::chrono::duration_cast<Duration>(since)};
}

// --- agents ---

AgentThread::AgentThread(agent::LoopSettings settings, const adapters::AgentLinkSettings& link,
                         PlainSandbox& sandbox)
    : link_(adapters::AgentLink::make(link).value()),
      loop_(std::make_unique<agent::Loop>(std::move(settings),
                                          agent::LoopPorts{*link_, *link_, sandbox, clock_})),
      death_(::eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::thread([this] {
        link_->when_readable(death_.get(), [this] { link_->stop(); });
        const Result<void> started = loop_->start();
        EXPECT_TRUE(started) << started.error().message;
        link_->run();
        link_->forget(death_.get());
        ended_ = true;
    });
}

AgentThread::~AgentThread() {
    // A reactor has one thread: it is told through a descriptor.
    EXPECT_EQ(::eventfd_write(death_.get(), 1), 0);
    thread_.join();
    loop_.reset();
}

// --- the server ---

AgentWorld::AgentWorld() {
    crypto_ = adapters::OpensslCrypto::load(folder_ / "secret").value();
    certificates_ = adapters::ensure_certificates(folder_ / "tls", {}, clock_.now()).value();
    blobs_ = adapters::FsBlobStore::open(folder_ / "blobs").value();
    for (const char* container : {kArtifactContainer, kBlobContainer, "code-1"})
        EXPECT_TRUE(blobs_->make_container(container));
    start_server();
}

AgentWorld::~AgentWorld() {
    {
        const std::scoped_lock lock(mutex_);
        for (auto& [id, node] : nodes_) node.agent.reset();
    }
    end_server();
}

void AgentWorld::start_server() {
    ending_ = false;
    const auto post = [this](plane::Event event, app::Callback callback) {
        return loop_->post(std::move(event), std::move(callback));
    };
    hub_ = std::make_unique<api::AgentHub>(api::HubPorts{store_, *blobs_, *crypto_, clock_, post},
                                           api::HubSettings{.secret = crypto_->secret()});
    effects_ = std::make_unique<app::PooledEffectRunner>(app::EffectPorts{
        *this, *blobs_,
        [this](NodeId node, std::int64_t outbox) { return hub_->make_enrol_token(node, outbox); },
        [this](plane::Event event) { (void)loop_->post(std::move(event)); }});
    loop_ = std::make_unique<app::ControlLoop>(
        app::LoopPorts{.store = store_,
                       .links = *hub_,
                       .effects = *effects_,
                       .clock = clock_,
                       .make_job_token = [](const JobHead&, int) { return std::string("token"); },
                       .published =
                           [this](const std::vector<HistoryEvent>&) {
                               const std::scoped_lock lock(mutex_);
                               ++changes_;
                               changed_.notify_all();
                           }},
        plane::Settings{.capacity = capacity(), .stop_grace = std::chrono::milliseconds(300)});
    adapters::ServerSettings settings{.port = port_,
                                      .certificate_file = certificates_.certificate_file,
                                      .key_file = certificates_.key_file,
                                      .temporary_folder = blobs_->temporary_folder()};
    http_ = std::make_unique<adapters::HttpServer>(settings, *hub_);
    const Result<int> port = http_->start();
    ASSERT_TRUE(port) << port.error().message;
    port_ = *port;
    ASSERT_TRUE(loop_->start(clock_.now()));
    loop_thread_ = std::thread([this] {
        while (!ending_) {
            if (!loop_->step(clock_.now())) loop_->wait();
        }
    });
}

void AgentWorld::end_server() {
    if (!http_) return;
    http_->stop(Duration::zero());
    ending_ = true;
    loop_->wake();
    loop_thread_.join();
    effects_->stop();
    http_.reset();
    hub_.reset();
    loop_.reset();
    effects_.reset();
}

void AgentWorld::reconcile() {
    plane::NodesHeld event{.listed_at = clock_.now()};
    const auto held = list_nodes();
    for (const Held& one : *held) event.nodes.push_back({one.node, one.agent_alive});
    (void)loop_->post(std::move(event));
}

// --- nodes ---

Result<void> AgentWorld::start_node(const ports::NodeOrder& order) {
    const std::scoped_lock lock(mutex_);
    NodeParts& node = nodes_[order.what.node];
    if (node.agent && !node.agent->has_ended()) return {};
    const std::string folder = folder_ / ("server/nodes/" + std::to_string(order.what.node.value));
    LAVANT_TRY_VOID(make_directories(folder));
    static std::atomic<int> boots = 0;
    agent::LoopSettings settings{.node = order.what.node,
                                 .folder = folder,
                                 .server_url = url(),
                                 .ca_file = certificates_.ca_file,
                                 .enrol_token = order.enrol_token,
                                 .boot = "boot-" + std::to_string(++boots),
                                 .host = "localhost",
                                 .log_poll = std::chrono::milliseconds(5)};
    node.agent = std::make_unique<AgentThread>(
        std::move(settings),
        adapters::AgentLinkSettings{.server_url = url(), .ca_file = certificates_.ca_file}, *node.sandbox);
    return {};
}

Result<void> AgentWorld::stop_node(NodeId node) {
    std::map<NodeId, NodeParts>::node_type gone;
    {
        const std::scoped_lock lock(mutex_);
        gone = nodes_.extract(node);
    }
    if (gone) gone.mapped().agent.reset();
    return {};
}

Result<std::vector<AgentWorld::Held>> AgentWorld::list_nodes() {
    const std::scoped_lock lock(mutex_);
    std::vector<Held> held;
    for (const auto& [id, node] : nodes_) held.push_back({id, node.agent && !node.agent->has_ended()});
    return held;
}

void AgentWorld::end_agents() {
    const std::scoped_lock lock(mutex_);
    for (auto& [id, node] : nodes_) node.agent.reset();
}

int AgentWorld::starts() {
    const std::scoped_lock lock(mutex_);
    int all = 0;
    for (const auto& [id, node] : nodes_) all += node.sandbox->starts();
    return all;
}

// --- jobs ---

Launch AgentWorld::a_launch(const std::string& job, const std::string& command) const {
    Launch launch;
    launch.workspace = kDefaultWorkspace;
    launch.workspace_name = "default";
    launch.job_name = job;
    launch.experiment_name = "exp";
    launch.command = command;
    return launch;
}

void AgentWorld::submit(const Launch& launch, JobHead head) {
    Job job;
    job.head = std::move(head);
    job.head.workspace = kDefaultWorkspace;
    job.head.name = launch.job_name;
    job.body.experiment = launch.experiment_name;
    job.body.launch = wire::encode_launch(launch);
    const Pool pool{.workspace = kDefaultWorkspace,
                    .key = "serverless/test",
                    .size = "Standard_DS3_v2",
                    .node_resources = {.cpu_millis = 4000, .memory_bytes = 1LL << 30},
                    .nodes_max = 2,
                    .idle_before_release = std::chrono::minutes(5)};
    EXPECT_TRUE(loop_->post(plane::SubmitJob{.job = std::move(job), .pool = pool}));
}

void AgentWorld::cancel(const std::string& job) {
    EXPECT_TRUE(loop_->post(plane::CancelJob{.workspace = kDefaultWorkspace, .name = job, .who = "me"}));
}

void AgentWorld::evict() {
    EXPECT_TRUE(loop_->post(
        plane::EvictNode{.workspace = kDefaultWorkspace, .compute = "serverless", .node = {}, .who = "me"}));
}

JobHead AgentWorld::wait_for(const std::string& job, const std::function<bool(const JobHead&)>& condition) {
    while (true) {
        std::uint64_t seen = 0;
        {
            const std::scoped_lock lock(mutex_);
            seen = changes_;
        }
        const auto found = store_.find_job(kDefaultWorkspace, job);
        if (found && *found && condition((*found)->head)) return (*found)->head;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return changes_ != seen; });
    }
}

JobHead AgentWorld::wait_for_end(const std::string& job) {
    return wait_for(job, [](const JobHead& head) { return is_terminal(head.status); });
}

std::string AgentWorld::read_blob(const std::string& container, const std::string& name) {
    app::JobFiles(store_, *blobs_).refresh(container, name);
    const auto found = blobs_->find(container, name);
    if (!found || !*found) return "(none)";
    return read_file(blobs_->path_of(container, name), 64U << 20).value_or("(unreadable)");
}

std::string AgentWorld::log_of(const std::string& job, const std::string& file) {
    return read_blob(kArtifactContainer, artifact_prefix(job) + "user_logs/" + file);
}

}  // namespace lavant::test
