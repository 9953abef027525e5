#include "adapters/nodes_local/local_nodes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "tests/support/wait_until.h"

namespace lavant::nodes_local {
namespace {

using test::wait_until;

std::string text_of(const std::string& path) {
    const auto text = read_file(path, 64U << 20);
    return text ? *text : "(no file " + path + ")";
}

struct Mode {
    const char* name = "";
    bool cgroups = true;
};

// A stand-in for `lavant agent`: a script that writes down its arguments and starts processes that try to get
// away.
class Nodes : public ::testing::TestWithParam<Mode> {
 protected:
    void SetUp() override {
        std::string name = "/tmp/lavant-nodes-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        base_ = name;
        seconds_ = std::to_string(300'000 + ::getpid()) + "." + std::to_string(++tests_);
        make_agent(supervisor() + "while :; do sleep 0.02; done\n");
        nodes_ = make_nodes();
    }
    void TearDown() override {
        const auto all = nodes_->list_nodes();
        ASSERT_TRUE(all);
        for (const auto& held : *all) EXPECT_TRUE(nodes_->stop_node(held.node));
        EXPECT_TRUE(host::processes_with_argument(seconds_).empty());
        EXPECT_TRUE(remove_tree(base_));
    }
    // A fork of the agent that has not executed anything, as a task's supervisor is; it dies of nothing but a
    // kill.
    std::string supervisor() const {
        return "(trap '' TERM; sleep " + seconds_ + "; sleep " + seconds_ + ") &\n";
    }
    void make_agent(const std::string& body) {
        ASSERT_TRUE(write_file_atomically(base_ + "/agent",
                                          "#!/bin/bash\necho \"$@\"\necho run >> runs\n" + body, 0755));
    }
    std::unique_ptr<LocalNodes> make_nodes() const {
        LocalNodesSettings settings{.folder = base_ + "/nodes",
                                    .agent_command = {base_ + "/agent", "agent"},
                                    .server_url = "https://127.0.0.1:1",
                                    .ca_file = "/ca.pem",
                                    .agent_arguments = {"--quiet"}};
        settings.log_bytes_max = 1000;
        settings.stop_grace = std::chrono::milliseconds(200);
        settings.allow_cgroups = GetParam().cgroups;
        return std::make_unique<LocalNodes>(settings);
    }
    static ports::NodeOrder order(std::int64_t number) {
        return {.what = {.node = NodeId{number},
                         .pool = PoolId{1},
                         .size = "Standard_DS1_v2",
                         .resources = {.cpu_millis = 500, .memory_bytes = 256LL << 20},
                         .gpus = "0,GPU-\"7\""},
                .enrol_token = "token-" + std::to_string(number)};
    }
    std::string folder(int number) const { return base_ + "/nodes/" + std::to_string(number); }
    pid_t agent(int number) const { return NodeFolder(base_ + "/nodes", NodeId{number}).agent()->pid; }
    bool ran(int number, const std::string& runs) const { return text_of(folder(number) + "/runs") == runs; }

    std::string base_, seconds_;
    std::unique_ptr<LocalNodes> nodes_;
    static inline int tests_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, Nodes,
                         ::testing::Values(Mode{.name = "AsTheMachineAllows"},
                                           Mode{.name = "WithoutCgroups", .cgroups = false}),
                         [](const auto& one) { return one.param.name; });

TEST(LocalNodes, HasTheGpusThatItIsToldOf) {
    const std::vector<std::string> names{"fake0", "fake1"};
    LocalNodes named({.folder = "/nonexistent", .allow_cgroups = false, .gpus = names});
    EXPECT_EQ(named.gpu_names(), names);
    EXPECT_EQ(named.capacity().gpus, 2);
    LocalNodes without(
        {.folder = "/nonexistent", .allow_cgroups = false, .gpus = std::vector<std::string>()});
    EXPECT_EQ(without.capacity().gpus, 0);
    LocalNodes found({.folder = "/nonexistent", .allow_cgroups = false});
    EXPECT_EQ(found.capacity().gpus, static_cast<int>(found.gpu_names().size()));
}

TEST_P(Nodes, ANodeIsADetachedAgentWithItsTokenAndOrder) {
    ASSERT_TRUE(nodes_->start_node(order(7)));
    EXPECT_TRUE(wait_until([&] { return ran(7, "run\n"); }));
    EXPECT_EQ(text_of(folder(7) + "/agent.log"), "agent --node 7 --folder " + folder(7) +
                                                     " --server https://127.0.0.1:1 --ca /ca.pem --quiet\n");
    EXPECT_EQ(text_of(folder(7) + "/token"), "token-7");
    EXPECT_NE(text_of(folder(7) + "/order").find("\"size\": \"Standard_DS1_v2\""), std::string::npos);
    EXPECT_NE(text_of(folder(7) + "/order").find(R"("gpu_names": "0,GPU-\"7\"")"), std::string::npos);
    struct stat found {};
    ASSERT_EQ(::stat((folder(7) + "/token").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    ASSERT_EQ(::stat(folder(7).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    EXPECT_NE(::getsid(agent(7)), ::getsid(0));
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // Not our child.
}

TEST_P(Nodes, TheServersSecretsStayOutOfTheAgentsEnvironment) {
    ::setenv("LAVANT_TOKEN", "secret", 1);
    ::setenv("OTHER_TEST_VARIABLE", "kept", 1);
    make_agent("env > environment.new; mv environment.new environment; sleep " + seconds_ + "\n");
    ASSERT_TRUE(nodes_->start_node(order(1)));
    EXPECT_TRUE(wait_until([&] { return exists(folder(1) + "/environment"); }));
    ASSERT_TRUE(wait_until([&] { return !host::processes_with_argument(seconds_).empty(); }));
    EXPECT_EQ(text_of(folder(1) + "/environment").find("secret"), std::string::npos);
    EXPECT_NE(text_of(folder(1) + "/environment").find("kept"), std::string::npos);
    ::unsetenv("LAVANT_TOKEN");
    ::unsetenv("OTHER_TEST_VARIABLE");
}

TEST_P(Nodes, StartingANodeThatRunsChangesNothing) {
    ASSERT_TRUE(nodes_->start_node(order(1)));
    const pid_t first = agent(1);
    ASSERT_TRUE(nodes_->start_node(order(1)));
    ASSERT_TRUE(make_nodes()->start_node(order(1)));  // A server started anew.
    EXPECT_EQ(agent(1), first);
    EXPECT_TRUE(wait_until([&] { return ran(1, "run\n"); }));
}

TEST_P(Nodes, ADeadAgentIsStartedAgainOnItsFolder) {
    ASSERT_TRUE(nodes_->start_node(order(1)));
    ASSERT_TRUE(wait_until([&] { return ran(1, "run\n"); }));
    ASSERT_TRUE(wait_until([&] { return host::processes_with_argument(seconds_).size() == 1; }));
    ASSERT_EQ(::kill(agent(1), SIGKILL), 0);
    ASSERT_TRUE(wait_until([&] { return !nodes_->list_nodes()->front().agent_alive; }));
    // What it started runs on, to be adopted.
    EXPECT_EQ(host::processes_with_argument(seconds_).size(), 1U);
    ASSERT_TRUE(nodes_->start_node(order(1)));
    EXPECT_TRUE(nodes_->list_nodes()->front().agent_alive);
    EXPECT_TRUE(wait_until([&] { return ran(1, "run\nrun\n"); }));
}

TEST_P(Nodes, StoppingKillsTheAgentAndEverythingItStartedAndRemovesTheFolder) {
    // Only a cgroup also holds what has left the agent behind by a double fork.
    const std::string escape = GetParam().cgroups ? "(setsid sleep " + seconds_ + " &)\n" : supervisor();
    make_agent(
        "trap '' TERM\n" + supervisor() + escape +
        "mkdir -p tasks/a; touch tasks/a/b; chmod 0 tasks/a; touch ready; while :; do sleep 0.02; done\n");
    ASSERT_TRUE(nodes_->start_node(order(1)));
    ASSERT_TRUE(wait_until(
        [&] { return host::processes_with_argument(seconds_).size() == 2 && exists(folder(1) + "/ready"); }));
    const auto mark = host::mark_of(agent(1));
    const auto stopped = nodes_->stop_node(NodeId{1});
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_FALSE(host::open_process(*mark));
    EXPECT_FALSE(exists(folder(1)));
    EXPECT_TRUE(host::processes_with_argument(seconds_).empty());
    EXPECT_TRUE(nodes_->stop_node(NodeId{1}));
    EXPECT_TRUE(nodes_->stop_node(NodeId{99}));
    EXPECT_TRUE(nodes_->list_nodes()->empty());
}

TEST_P(Nodes, AnAgentThatEndsOnTermIsNotKilled) {
    make_agent("trap 'echo bye > " + base_ +
               "/bye; exit 0' TERM\ntouch ready\nwhile :; do sleep 0.01; done\n");
    ASSERT_TRUE(nodes_->start_node(order(1)));
    ASSERT_TRUE(wait_until([&] { return exists(folder(1) + "/ready"); }));
    ASSERT_TRUE(nodes_->stop_node(NodeId{1}));
    EXPECT_EQ(text_of(base_ + "/bye"), "bye\n");
}

TEST_P(Nodes, ListsWhatItHoldsAndWhatIsAlive) {
    EXPECT_TRUE(nodes_->list_nodes()->empty());
    ASSERT_TRUE(nodes_->start_node(order(10)));
    ASSERT_TRUE(nodes_->start_node(order(9)));
    ASSERT_TRUE(make_directories(base_ + "/nodes/11"));
    ASSERT_TRUE(make_directories(base_ + "/nodes/not-a-node"));
    const std::vector<ports::NodeProvider::Held> expected{{.node = NodeId{9}, .agent_alive = true},
                                                          {.node = NodeId{10}, .agent_alive = true},
                                                          {.node = NodeId{11}, .agent_alive = false}};
    EXPECT_EQ(*nodes_->list_nodes(), expected);
}

TEST_P(Nodes, AReusedPidIsNotAnAgent) {
    ASSERT_TRUE(make_directories(folder(1)));
    const NodeFolder one(base_ + "/nodes", NodeId{1});
    ASSERT_TRUE(
        one.write_agent({.pid = ::getpid(), .start_ticks = host::mark_of(::getpid())->start_ticks + 1}));
    EXPECT_FALSE(nodes_->list_nodes()->front().agent_alive);
    EXPECT_TRUE(nodes_->stop_node(NodeId{1}));  // We are still here.
    ASSERT_TRUE(write_file_atomically(base_ + "/garbage", ""));
}

TEST_P(Nodes, TheLogOfAnAgentIsLimited) {
    make_agent("for i in $(seq 400); do echo line $i of many; done; touch ready; sleep " + seconds_ + "\n");
    ASSERT_TRUE(nodes_->start_node(order(1)));
    ASSERT_TRUE(wait_until([&] { return exists(folder(1) + "/ready"); }));
    // A child that is being forked when its parent is killed escapes where there is no cgroup.
    ASSERT_TRUE(wait_until([&] { return !host::processes_with_argument(seconds_).empty(); }));
    ASSERT_TRUE(nodes_->list_nodes());
    EXPECT_EQ(text_of(folder(1) + "/agent.log"), "");
    EXPECT_EQ(text_of(folder(1) + "/agent.log.1").size(), 1000U);
    EXPECT_NE(text_of(folder(1) + "/agent.log.1").find("line 400 of many"), std::string::npos);
}

TEST_P(Nodes, AProgramThatCannotBeExecutedIsAnErrorThatNamesIt) {
    ASSERT_EQ(::unlink((base_ + "/agent").c_str()), 0);
    const auto started = nodes_->start_node(order(1));
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message.find(base_ + "/agent"), std::string::npos) << started.error().message;
    EXPECT_FALSE(nodes_->list_nodes()->front().agent_alive);
}

TEST_P(Nodes, ManyThreadsMayStartAndStopNodes) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int round = 0; round < 3; ++round) {
                EXPECT_TRUE(nodes_->start_node(order(1 + i % 2)));
                EXPECT_TRUE(nodes_->stop_node(NodeId{1 + i % 2}));
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(nodes_->list_nodes()->empty());
}

TEST_P(Nodes, ANodeHasTheLimitsOfItsSize) {
    if (!GetParam().cgroups || ::geteuid() != 0) GTEST_SKIP() << "needs root and cgroups";
    ASSERT_TRUE(nodes_->start_node(order(1)));
    if (!nodes_->missing_limits().empty()) GTEST_SKIP() << "no limits here: " << nodes_->missing_limits();
    const auto place = NodeFolder(base_ + "/nodes", NodeId{1}).cgroup();
    ASSERT_TRUE(place);
    const bool v2 = place->memory.empty();
    EXPECT_EQ(trim(text_of(v2 ? place->unified + "/memory.max" : place->memory + "/memory.limit_in_bytes")),
              "268435456");
    EXPECT_EQ(trim(text_of(v2 ? place->unified + "/cpu.max" : place->cpu + "/cpu.cfs_quota_us")),
              v2 ? "50000 100000" : "50000");
    EXPECT_EQ(trim(text_of((v2 ? place->unified : place->pids) + "/pids.max")), "8192");
    for (const std::string* one : {&place->unified, &place->memory, &place->cpu, &place->pids})
        if (!one->empty()) {
            EXPECT_NE(text_of(*one + "/cgroup.procs").find(std::to_string(agent(1))), std::string::npos);
        }
    ASSERT_TRUE(nodes_->stop_node(NodeId{1}));
    EXPECT_FALSE(exists(place->unified));
}

TEST_P(Nodes, CapacityIsTheMachines) {
    const Resources capacity = nodes_->capacity();
    EXPECT_GE(capacity.cpu_millis, 100);
    EXPECT_LE(capacity.cpu_millis, static_cast<std::int64_t>(std::thread::hardware_concurrency()) * 1000);
    EXPECT_GT(capacity.memory_bytes, 64LL << 20);
    EXPECT_LE(capacity.memory_bytes, host::parse_memory_total(text_of("/proc/meminfo")));
}

}  // namespace
}  // namespace lavant::nodes_local
