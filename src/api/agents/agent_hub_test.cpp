#include "api/agents/agent_hub.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <future>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/memory/memory_store.h"
#include "base/files.h"
#include "base/text.h"
#include "core/model/workspace.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

constexpr NodeId kNode{17};
constexpr NodeId kOther{18};
constexpr TaskRef kTask{{5}, 1, 0};

class FixedClock final : public ports::Clock {
 public:
    Instant now() override { return from_micros(1); }
};

class KeptAnswer final : public ports::Responder {
 public:
    void respond(ports::HttpResponse response) override { promise_.set_value(std::move(response)); }
    std::shared_ptr<ports::ResponseStream> stream(ports::HttpResponse) override { return nullptr; }
    ports::HttpResponse get() { return promise_.get_future().get(); }

 private:
    std::promise<ports::HttpResponse> promise_;
};

class Peer final : public ports::SocketPeer {
 public:
    void send(std::string frame) override {
        const std::scoped_lock lock(mutex_);
        frames_.push_back(std::move(frame));
        arrived_.notify_all();
    }
    void close() override { closed_ = true; }
    ToAgent next() {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return !frames_.empty(); });
        const std::string frame = std::move(frames_.front());
        frames_.pop_front();
        return wire::decode_to_agent(frame).value();
    }
    std::uint64_t durable() { return std::get<LogDurable>(next()).bytes; }
    bool is_closed() const { return closed_; }
    bool is_silent() {
        const std::scoped_lock lock(mutex_);
        return frames_.empty();
    }

 private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> frames_;
    std::atomic<bool> closed_ = false;
};

Launch a_launch(const std::string& job) {
    Launch launch;
    launch.workspace = "default";
    launch.job_name = job;
    launch.code_uri = "code-1/src";
    launch.inputs = {
        {"d", "uri_folder", "ro_mount", "azureml://datastores/workspaceblobstore/paths/data/set/"}};
    launch.outputs = {
        {"o", "uri_folder", "rw_mount", "azureml://datastores/workspaceblobstore/paths/azureml/j/o/"}};
    return launch;
}

StartTask start_of(TaskRef task, const std::string& job = "pear") {
    return {.task = task, .launch = wire::encode_launch(a_launch(job))};
}

class AgentHubTest : public ::testing::Test {
 protected:
    void SetUp() override {
        crypto_ = adapters::OpensslCrypto::load(folder_ / "secret").value();
        blobs_ = adapters::FsBlobStore::open(folder_ / "blobs").value();
        for (const char* container : {kArtifactContainer, kBlobContainer, "code-1"})
            ASSERT_TRUE(blobs_->make_container(container));
        WriteBatch batch;
        batch.pools.push_back(test::a_pool(1));
        for (const NodeId id : {kNode, kOther}) {
            batch.nodes.push_back(test::a_node(id.value));
            batch.nodes.back().version = 1;
            batch.nodes.back().state = NodeState::Idle;
            batch.nodes.back().enrolled = true;
        }
        ASSERT_TRUE(store_.commit(batch));
        make_hub();
    }
    void make_hub() {
        hub_.reset();
        hub_ = std::make_unique<AgentHub>(
            HubPorts{store_, *blobs_, *crypto_, clock_,
                     [this](plane::Event event, std::function<void(Result<plane::Answer>)> done) {
                         events_.push_back(std::move(event));
                         if (done) done(enrolment_);
                         return !inbox_full_;
                     }},
            HubSettings{.secret = crypto_->secret(), .logs = {.job_log_bytes = log_limit_, .threads = 2}});
    }
    std::string credential(NodeId node) {
        return base64url(crypto_->hmac_sha256(crypto_->secret(), "node:" + std::to_string(node.value)));
    }
    static std::string base64url(const std::string& bytes) { return lavant::base64url_encode(bytes); }
    static ports::HttpRequest request(const std::string& method, const std::string& path,
                                      const std::string& bearer) {
        ports::HttpRequest made{.method = method, .path = "/lavant/v1/nodes/" + path};
        if (const std::size_t query = made.path.find('?'); query != std::string::npos) {
            made.query = made.path.substr(query + 1);
            made.path.resize(query);
        }
        if (!bearer.empty()) made.headers.emplace_back("Authorization", "Bearer " + bearer);
        return made;
    }
    ports::HttpResponse ask(const std::string& method, const std::string& path, const std::string& bearer,
                            const std::string& body = "") {
        const auto kept = std::make_shared<KeptAnswer>();
        ports::HttpRequest made = request(method, path, bearer);
        made.body = body;
        hub_->handle(std::move(made), kept);
        return kept->get();
    }
    struct Socket {
        std::unique_ptr<ports::SocketHandler> handler;
        std::shared_ptr<Peer> peer = std::make_shared<Peer>();
        void say(const FromAgent& message) { handler->received(wire::encode_frame(message)); }
    };
    Socket dial(const std::string& path, const std::string& bearer) {
        auto accepted = hub_->accept_socket(request("GET", path, bearer));
        EXPECT_TRUE(accepted);
        Socket socket{.handler = std::move(*accepted)};
        socket.handler->opened(socket.peer);
        return socket;
    }
    int refused(const std::string& path, const std::string& bearer) {
        const auto accepted = hub_->accept_socket(request("GET", path, bearer));
        return accepted ? 0 : accepted.error().status;
    }
    std::string log_of(const std::string& file = "user_logs/std_log.txt") {
        return read(kArtifactContainer, artifact_prefix("pear") + file);
    }
    std::string read(const std::string& container, const std::string& name) {
        const auto found = blobs_->find(container, name);
        if (!found || !*found) return "(none)";
        return read_file(blobs_->path_of(container, name), 1U << 20).value();
    }
    static LogBytes bytes(TaskRef task, std::uint64_t offset, const std::string& text) {
        return {task, "user_logs/std_log.txt", offset, text};
    }

    test::TemporaryFolder folder_;
    FixedClock clock_;
    adapters::MemoryStore store_;
    std::unique_ptr<adapters::OpensslCrypto> crypto_;
    std::unique_ptr<adapters::FsBlobStore> blobs_;
    std::deque<plane::Event> events_;
    Result<plane::Answer> enrolment_ = plane::Answer{};
    bool inbox_full_ = false;
    std::uint64_t log_limit_ = 1U << 20;
    std::unique_ptr<AgentHub> hub_;
};

// --- who may come in ---

TEST_F(AgentHubTest, EnrolsANodeWithItsToken) {
    const ports::HttpResponse answer = ask("POST", "17/enrol", hub_->make_enrol_token(kNode, 4));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(wire::parse_json(answer.body).value()["credential"].string(), credential(kNode));
    EXPECT_EQ(std::get<plane::EnrolNode>(events_.at(0)).node, kNode);
}

TEST_F(AgentHubTest, RefusesATokenStolenFromAnotherNode) {
    const std::string stolen = hub_->make_enrol_token(kOther, 4);
    EXPECT_EQ(ask("POST", "17/enrol", stolen).status, 403);
    EXPECT_EQ(ask("POST", "17/enrol", "5" + stolen.substr(1)).status, 403);
    EXPECT_EQ(ask("POST", "17/enrol", "").status, 403);
    EXPECT_EQ(ask("POST", "17/enrol", "4.").status, 403);
    EXPECT_EQ(ask("POST", "17/enrol", credential(kNode)).status, 403);
    EXPECT_TRUE(events_.empty()) << "a bad token reached the control loop";
}

TEST_F(AgentHubTest, RefusesAReplayedToken) {
    enrolment_ = fail(ErrorCode::PermissionDenied, "used before");
    const ports::HttpResponse answer = ask("POST", "17/enrol", hub_->make_enrol_token(kNode, 4));
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.body.find(credential(kNode)), std::string::npos);
}

TEST_F(AgentHubTest, RefusesTheCredentialOfAnotherNode) {
    EXPECT_EQ(refused("17/control", credential(kOther)), 403);
    EXPECT_EQ(refused("17/bulk", credential(kOther)), 403);
    EXPECT_EQ(refused("17/control", ""), 401);
    EXPECT_EQ(refused("17/control", hub_->make_enrol_token(kNode, 4)), 403);
    EXPECT_EQ(ask("GET", "17/blobs/code-1?prefix=src/", credential(kOther)).status, 403);
    EXPECT_EQ(refused("17/control", credential(kNode)), 0);
}

TEST_F(AgentHubTest, RefusesANodeThatIsGone) {
    EXPECT_EQ(refused("99/control", credential({99})), 403);
    EXPECT_EQ(refused("17/other", credential(kNode)), 404);
    EXPECT_EQ(refused("x/control", credential(kNode)), 404);
}

// --- control links ---

TEST_F(AgentHubTest, PassesFramesOnToTheControlLoop) {
    Socket socket = dial("17/control", credential(kNode));
    socket.say(Hello{.node = kNode, .boot = "b"});
    socket.say(Heartbeat{3});
    socket.say(TaskReport{.task = kTask, .phase = TaskPhase::Running});
    ASSERT_EQ(events_.size(), 3U);
    const std::uint64_t link = std::get<plane::NodeLinked>(events_[0]).link;
    EXPECT_EQ(std::get<plane::NodeHeard>(events_[1]).number, 3);
    EXPECT_EQ(std::get<plane::TaskReported>(events_[2]).link, link);
    hub_->send(kNode, Welcome{.lease_micros = 7});
    EXPECT_EQ(std::get<Welcome>(socket.peer->next()).lease_micros, 7);
    socket.handler->closed();
    EXPECT_EQ(std::get<plane::NodeUnlinked>(events_.at(3)).link, link);
    hub_->send(kNode, Welcome{});
    EXPECT_TRUE(socket.peer->is_silent());
}

TEST_F(AgentHubTest, LetsTheNewestControlLinkWin) {
    Socket older = dial("17/control", credential(kNode));
    older.say(Hello{.node = kNode});
    Socket newer = dial("17/control", credential(kNode));
    newer.say(Hello{.node = kNode});
    EXPECT_TRUE(older.peer->is_closed());
    EXPECT_LT(std::get<plane::NodeLinked>(events_[0]).link, std::get<plane::NodeLinked>(events_[1]).link);
    older.handler->closed();
    EXPECT_EQ(events_.size(), 2U) << "the end of an older link is no news";
    hub_->send(kNode, Welcome{});
    EXPECT_TRUE(older.peer->is_silent());
    EXPECT_FALSE(newer.peer->is_silent());
}

TEST_F(AgentHubTest, ClosesALinkThatSaysWhatItMayNot) {
    const std::vector<std::vector<FromAgent>> stories{
        {Heartbeat{}},
        {TaskReport{.task = kTask}},
        {Hello{.node = kOther}},
        {Hello{.protocol = 99, .node = kNode}},
        {Hello{.node = kNode}, Hello{.node = kNode}},
        {Hello{.node = kNode}, bytes(kTask, 0, "x")},
        {Hello{.node = kNode}, TaskReport{.task = kTask, .phase = static_cast<TaskPhase>(9)}},
        {Hello{.node = kNode}, TaskReport{.task = kTask, .end = {.reason = static_cast<EndReason>(20)}}},
        {Hello{.node = kNode}, TaskReport{.task = {{5}, 0, 0}}},
    };
    for (const auto& story : stories) {
        Socket socket = dial("17/control", credential(kNode));
        for (const FromAgent& message : story) socket.say(message);
        EXPECT_TRUE(socket.peer->is_closed());
        socket.handler->closed();
    }
    Socket socket = dial("17/control", credential(kNode));
    socket.handler->received("rubbish");
    EXPECT_TRUE(socket.peer->is_closed());
}

TEST_F(AgentHubTest, ClosesALinkWhoseFramesTheLoopCannotTake) {
    inbox_full_ = true;
    Socket socket = dial("17/control", credential(kNode));
    socket.say(Hello{.node = kNode});
    EXPECT_TRUE(socket.peer->is_closed()) << "an unanswered Hello would be lost for ever";
}

TEST_F(AgentHubTest, DropsAllLinksWhenAsked) {
    Socket socket = dial("17/control", credential(kNode));
    socket.say(Hello{.node = kNode});
    hub_->drop_links();
    EXPECT_TRUE(socket.peer->is_closed());
}

// --- logs ---

TEST_F(AgentHubTest, WritesLogsAndTellsHowMuchIsDurable) {
    hub_->send(kNode, start_of(kTask));
    Socket bulk = dial("17/bulk", credential(kNode));
    std::promise<void> grown;
    const auto watch = hub_->watch("default", "pear", [&] { grown.set_value(); });
    bulk.say(bytes(kTask, 0, "one\n"));
    EXPECT_EQ(bulk.peer->durable(), 4U);
    grown.get_future().wait();
    hub_->unwatch(watch);
    bulk.say(bytes(kTask, 4, "two\n"));
    EXPECT_EQ(bulk.peer->durable(), 8U);
    bulk.say(bytes(kTask, 0, "one\ntwo\nthree\n"));
    EXPECT_EQ(bulk.peer->durable(), 14U);
    bulk.say(bytes(kTask, 100, "gap"));
    EXPECT_EQ(bulk.peer->durable(), 14U);
    EXPECT_EQ(log_of(), "one\ntwo\nthree\n");
}

TEST_F(AgentHubTest, DropsButAcknowledgesBytesOfATaskThatIsNotCurrent) {
    hub_->send(kNode, start_of(kTask));
    Socket thief = dial("18/bulk", credential(kOther));
    thief.say(bytes(kTask, 0, "forged"));
    EXPECT_EQ(thief.peer->durable(), 6U);
    Socket bulk = dial("17/bulk", credential(kNode));
    bulk.say(bytes({{5}, 2, 0}, 0, "future"));
    EXPECT_EQ(bulk.peer->durable(), 6U);
    bulk.say({LogBytes{kTask, "user_logs/../../../x", 0, "escape"}});
    EXPECT_EQ(bulk.peer->durable(), 6U);
    EXPECT_EQ(log_of(), "(none)");
}

TEST_F(AgentHubTest, SetsTheLogOfAnOlderAttemptAside) {
    hub_->send(kNode, start_of(kTask));
    Socket bulk = dial("17/bulk", credential(kNode));
    bulk.say(bytes(kTask, 0, "first\n"));
    EXPECT_EQ(bulk.peer->durable(), 6U);
    for (int attempt = 2; attempt <= 3; ++attempt) {
        const TaskRef task{kTask.job, attempt, 0};
        hub_->send(kNode, start_of(task));
        bulk.say(bytes(task, 0, "attempt " + std::to_string(attempt) + "\n"));
        EXPECT_EQ(bulk.peer->durable(), 10U);
        bulk.say(bytes(kTask, 6, "late\n"));
        EXPECT_EQ(bulk.peer->durable(), 11U);
    }
    EXPECT_EQ(log_of(), "attempt 3\n");
    EXPECT_EQ(log_of("user_logs/attempt_1/std_log.txt"), "first\n");
    EXPECT_EQ(log_of("user_logs/attempt_2/std_log.txt"), "attempt 2\n");
}

TEST_F(AgentHubTest, GoesOnWithALogAfterARestartOfTheServer) {
    const TaskRef task{kTask.job, 2, 0};
    hub_->send(kNode, start_of(task));
    Socket bulk = dial("17/bulk", credential(kNode));
    bulk.say(bytes(task, 0, "before\n"));
    EXPECT_EQ(bulk.peer->durable(), 7U);
    WriteBatch batch;
    Job job = test::a_job(5, "pear");
    job.head.version = 1;
    job.head.status = JobStatus::Running;
    job.head.attempt = 2;
    job.body.launch = wire::encode_launch(a_launch("pear"));
    batch.jobs_added.push_back(job);
    Task row = test::a_task(5, 2);
    row.version = 1;
    row.node = kNode;
    row.phase = TaskPhase::Running;
    batch.tasks.push_back(row);
    ASSERT_TRUE(store_.commit(batch));
    make_hub();
    Socket again = dial("17/bulk", credential(kNode));
    again.say(bytes(task, 0, "before\nafter\n"));
    EXPECT_EQ(again.peer->durable(), 13U);
    EXPECT_EQ(log_of(), "before\nafter\n");
    EXPECT_EQ(
        ask("PUT", "17/staging/5/2/azureml/ExperimentRun/dcid.pear/outputs/a", credential(kNode), "x").status,
        201);
}

TEST_F(AgentHubTest, GoesOnWithTheLogsOfAJobWhoseOtherTaskIsForgotten) {
    const TaskRef second{kTask.job, 1, 1};
    hub_->send(kNode, start_of(kTask));
    hub_->send(kOther, start_of(second));
    Socket bulk = dial("18/bulk", credential(kOther));
    const std::string file = "user_logs/std_log_process_1.txt";
    bulk.say(LogBytes{second, file, 0, "one\n"});
    EXPECT_EQ(bulk.peer->durable(), 4U);
    hub_->send(kNode, ForgetTask{kTask});
    bulk.say(LogBytes{second, file, 4, "two\n"});
    EXPECT_EQ(bulk.peer->durable(), 8U);
    EXPECT_EQ(log_of(file), "one\ntwo\n");
}

TEST_F(AgentHubTest, CutsALogThatIsTooLong) {
    log_limit_ = 10;
    make_hub();
    hub_->send(kNode, start_of(kTask));
    Socket bulk = dial("17/bulk", credential(kNode));
    bulk.say(bytes(kTask, 0, "12345678"));
    EXPECT_EQ(bulk.peer->durable(), 8U);
    bulk.say(bytes(kTask, 8, "90abc"));
    EXPECT_EQ(bulk.peer->durable(), 13U);
    bulk.say(bytes(kTask, 13, "more"));
    EXPECT_EQ(bulk.peer->durable(), 17U);
    EXPECT_TRUE(log_of().starts_with("1234567890\nlavant: the log was cut here"));
    EXPECT_EQ(log_of().find("more"), std::string::npos);
}

TEST_F(AgentHubTest, KeepsNothingOfTasksThatAreOver) {
    hub_->send(kNode, start_of(kTask));
    Socket bulk = dial("17/bulk", credential(kNode));
    bulk.say(bytes(kTask, 0, "one\n"));
    EXPECT_EQ(bulk.peer->durable(), 4U);
    hub_->send(kNode, ReleaseNode{});
    EXPECT_TRUE(test::wait_until([&] { return hub_->holdings().logs == 0; }));
    EXPECT_EQ(hub_->holdings().tasks, 0U);
    for (int job = 100; job < 110; ++job) {  // of jobs that this node never had
        bulk.say(bytes({{job}, 1, 0}, 0, "forged"));
        EXPECT_EQ(bulk.peer->durable(), 6U);
    }
    EXPECT_TRUE(test::wait_until([&] { return hub_->holdings().logs == 0; }));
}

TEST_F(AgentHubTest, ForgetsWhatEndedUnheardWhenTheLoopHasLostItsMemory) {
    hub_->send(kNode, start_of(kTask));
    Socket bulk = dial("17/bulk", credential(kNode));
    bulk.say(bytes(kTask, 0, "one\n"));
    EXPECT_EQ(bulk.peer->durable(), 4U);
    hub_->drop_links();  // The store knows of no task.
    EXPECT_EQ(hub_->holdings().tasks, 0U);
    EXPECT_TRUE(test::wait_until([&] { return hub_->holdings().logs == 0; }));
}

// --- files ---

TEST_F(AgentHubTest, ShowsANodeOnlyWhatItsTasksNeed) {
    ASSERT_TRUE(blobs_->put_bytes("code-1", "src/train.py", "print()"));
    ASSERT_TRUE(blobs_->put_bytes("code-1", "other/x", "1"));
    ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, "data/set/a.csv", "1"));
    ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, "data/settings", "1"));
    EXPECT_EQ(ask("GET", "17/blobs/code-1?prefix=src/", credential(kNode)).status, 403);
    hub_->send(kNode, start_of(kTask));
    const ports::HttpResponse list = ask("GET", "17/blobs/code-1?prefix=src/", credential(kNode));
    ASSERT_EQ(list.status, 200);
    EXPECT_EQ(wire::parse_json(list.body).value()["blobs"].items().at(0)["name"].string(), "src/train.py");
    EXPECT_EQ(ask("GET", "17/blobs/code-1/src/train.py", credential(kNode)).status, 200);
    EXPECT_EQ(ask("GET", "17/blobs/code-1/src%2Ftrain.py", credential(kNode)).status, 200);
    EXPECT_EQ(ask("GET", "17/blobs/azureml-blobstore/data/set/a.csv", credential(kNode)).status, 200);
    EXPECT_EQ(ask("GET", "17/blobs/azureml-blobstore/data/set/none", credential(kNode)).status, 404);
    for (const char* path : {"17/blobs/code-1?prefix=", "17/blobs/code-1?prefix=other/",
                             "17/blobs/code-1/other/x", "17/blobs/azureml-blobstore/data/settings",
                             "17/blobs/azureml?prefix=", "17/blobs/code-1/src/../other/x"})
        EXPECT_GE(ask("GET", path, credential(kNode)).status, 400) << path;
    EXPECT_EQ(ask("GET", "18/blobs/code-1/src/train.py", credential(kOther)).status, 403);
    hub_->send(kNode, ForgetTask{kTask});
    EXPECT_EQ(ask("GET", "17/blobs/code-1/src/train.py", credential(kNode)).status, 403);
}

TEST_F(AgentHubTest, ShowsALaterAttemptWhatTheOnesBeforeItLeft) {
    for (const char* name : {"dcid.pear/outputs/a", "dcid.pear/logs/l", "dcid.pear/user_logs/std_log.txt",
                             "dcid.plum/outputs/a", "dcid.pears/outputs/a"})
        ASSERT_TRUE(blobs_->put_bytes(kArtifactContainer, "ExperimentRun/" + std::string(name), "1"));
    for (const char* name : {"azureml/j/o/model", "azureml/j/o2/model", "azureml/k/o/model",
                             ".lavant-staging/5-1/azureml/j/o/model"})
        ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, name, "1"));
    const std::vector<std::string> own{"17/blobs/azureml?prefix=ExperimentRun/dcid.pear/outputs/",
                                       "17/blobs/azureml/ExperimentRun/dcid.pear/outputs/a",
                                       "17/blobs/azureml-blobstore?prefix=azureml/j/o/",
                                       "17/blobs/azureml-blobstore/azureml/j/o/model"};
    const std::vector<std::string> others{
        "17/blobs/azureml?prefix=ExperimentRun/",
        "17/blobs/azureml?prefix=ExperimentRun/dcid.pear/",
        "17/blobs/azureml?prefix=ExperimentRun/dcid.plum/outputs/",
        "17/blobs/azureml/ExperimentRun/dcid.plum/outputs/a",
        "17/blobs/azureml/ExperimentRun/dcid.pears/outputs/a",
        "17/blobs/azureml/ExperimentRun/dcid.pear/outputs/../../dcid.plum/outputs/a",
        "17/blobs/azureml/ExperimentRun/dcid.pear/logs/l",
        "17/blobs/azureml/ExperimentRun/dcid.pear/user_logs/std_log.txt",
        "17/blobs/azureml-blobstore?prefix=azureml/j/",
        "17/blobs/azureml-blobstore/azureml/j/o2/model",
        "17/blobs/azureml-blobstore/azureml/k/o/model",
        "17/blobs/azureml-blobstore/.lavant-staging/5-1/azureml/j/o/model"};
    hub_->send(kNode, start_of(kTask));
    for (const std::string& path : own) EXPECT_EQ(ask("GET", path, credential(kNode)).status, 403) << path;
    hub_->send(kNode, start_of({kTask.job, 2, 1}));
    for (const std::string& path : own) EXPECT_EQ(ask("GET", path, credential(kNode)).status, 200) << path;
    for (const std::string& path : others) EXPECT_GE(ask("GET", path, credential(kNode)).status, 400) << path;
    for (std::string path : own) {
        path.replace(0, 2, "18");
        EXPECT_EQ(ask("GET", path, credential(kOther)).status, 403) << path;
    }
    hub_->send(kNode, ForgetTask{{kTask.job, 2, 1}});
    for (const std::string& path : own) EXPECT_EQ(ask("GET", path, credential(kNode)).status, 403) << path;
}

TEST_F(AgentHubTest, ShowsNobodyWhatIsStaged) {
    Launch launch = a_launch("pear");
    launch.inputs = {{"all", "uri_folder", "ro_mount", "azureml://datastores/workspaceblobstore/paths/"}};
    ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, ".lavant-staging/6-1/x", "1"));
    ASSERT_TRUE(blobs_->put_bytes(kBlobContainer, "x", "1"));
    hub_->send(kNode, StartTask{.task = kTask, .launch = wire::encode_launch(launch)});
    EXPECT_EQ(ask("GET", "17/blobs/azureml-blobstore/x", credential(kNode)).status, 200);
    EXPECT_EQ(ask("GET", "17/blobs/azureml-blobstore/.lavant-staging/6-1/x", credential(kNode)).status, 403);
    EXPECT_EQ(ask("GET", "17/blobs/azureml-blobstore?prefix=.lavant-staging/", credential(kNode)).status,
              403);
}

TEST_F(AgentHubTest, StagesATasksOwnFiles) {
    hub_->send(kNode, start_of(kTask));
    EXPECT_EQ(
        ask("PUT", "17/staging/5/1/azureml/ExperimentRun/dcid.pear/outputs/a/b%20c", credential(kNode), "m")
            .status,
        201);
    EXPECT_EQ(ask("PUT", "17/staging/5/1/azureml-blobstore/azureml/j/o/x", credential(kNode), "").status,
              201);
    EXPECT_EQ(read(kArtifactContainer, ".lavant-staging/5-1/ExperimentRun/dcid.pear/outputs/a/b c"), "m");
    EXPECT_TRUE(
        hub_->plan_body(request("PUT", "17/staging/5/1/azureml-blobstore/azureml/j/o/x", credential(kNode)))
            .to_file);
}

TEST_F(AgentHubTest, RefusesToStageForAnotherJob) {
    hub_->send(kNode, start_of(kTask));
    hub_->send(kOther, start_of({{6}, 1, 0}, "plum"));
    const std::vector<std::string> refused{
        "17/staging/6/1/azureml/ExperimentRun/dcid.plum/outputs/x",    // a task of another node
        "17/staging/5/2/azureml/ExperimentRun/dcid.pear/outputs/x",    // another attempt
        "17/staging/5/1/azureml/ExperimentRun/dcid.plum/outputs/x",    // another job's place
        "17/staging/5/1/azureml/ExperimentRun/dcid.pear/user_logs/x",  // its own log
        "17/staging/5/1/azureml-blobstore/azureml/k/o/x",              // no output of it
        "17/staging/5/1/azureml-blobstore/azureml/j/o2",
        "17/staging/5/1/code-1/src/train.py",
    };
    for (const std::string& path : refused) {
        EXPECT_EQ(ask("PUT", path, credential(kNode), "x").status, 403) << path;
        EXPECT_FALSE(hub_->plan_body(request("PUT", path, credential(kNode))).to_file) << path;
    }
    EXPECT_EQ(ask("PUT", "17/staging/5/1/azureml/ExperimentRun/dcid.pear/outputs/../../dcid.plum/x",
                  credential(kNode), "x")
                  .status,
              400);
    EXPECT_EQ(ask("PUT", "17/staging/5/1/azureml/ExperimentRun/dcid.pear/outputs/x", credential(kOther), "x")
                  .status,
              403);
    EXPECT_EQ(ask("PUT", "18/staging/5/1/azureml/ExperimentRun/dcid.pear/outputs/x", credential(kOther), "x")
                  .status,
              403);
    hub_->send(kNode, start_of({{5}, 2, 0}));
    EXPECT_EQ(
        ask("PUT", "17/staging/5/1/azureml/ExperimentRun/dcid.pear/outputs/x", credential(kNode), "x").status,
        403)
        << "an attempt that is over";
}

}  // namespace
}  // namespace lavant::api
