#include "api/compute_routes.h"

#include <gtest/gtest.h>

#include "api/test_world.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;
using Headers = std::map<std::string, std::string>;

const std::string kSubnet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/x";

const std::string kBox =
    R"({"location":"local","properties":{"computeType":"ComputeInstance","properties":{"vmSize":"Standard_DS3_v2"}}})";

class ComputeRoutes : public testing::Test {
 protected:
    void SetUp() override { world_.capacity = TestWorld::kCapacity; }
    ports::HttpResponse ask(const std::string& method, const std::string& name, const std::string& body = "",
                            const Headers& headers = {}) {
        return world_.call({method, kWs + "/computes/" + name, body, headers});
    }
    ports::HttpResponse put(const std::string& name, const std::string& inner = "",
                            const Headers& headers = {}) {
        return ask(
            "PUT", name,
            R"({"location":"local","properties":{"computeType":"AmlCompute","properties":{)" + inner + "}}}",
            headers);
    }
    ports::HttpResponse patch(const std::string& name, const std::string& inner) {
        return ask("PATCH", name, R"({"properties":{"properties":{)" + inner + "}}}");
    }
    static Json parsed(const ports::HttpResponse& response) {
        const auto json = wire::parse_json(response.body);
        EXPECT_TRUE(json) << response.body;
        return json ? *json : Json();
    }
    static std::string header_of(const ports::HttpResponse& response, const std::string& name) {
        for (const auto& [key, value] : response.headers)
            if (key == name) return value;
        return "";
    }
    static std::string message_of(const ports::HttpResponse& response) {
        return parsed(response).get("error.message").string();
    }
    // A refused request: its status, what it says, and that nothing is different after it.
    void refused(const ports::HttpResponse& response, int status, const std::string& said,
                 const std::string& before) {
        EXPECT_EQ(response.status, status) << response.body;
        EXPECT_NE(message_of(response).find(said), std::string::npos) << response.body;
        EXPECT_EQ(all(), before);
    }
    std::string all() { return world_.call({"GET", kWs + "/computes", "", {}}).body; }

    TestWorld world_;
};

TEST_F(ComputeRoutes, MakesAClusterWithItsDefaults) {
    const auto made = put("cpu-cluster");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(header_of(made, "Azure-AsyncOperation").ends_with("/computes/cpu-cluster/operations/power"));
    EXPECT_EQ(header_of(made, "Warning"), "");
    const Json shown = parsed(ask("GET", "cpu-cluster"));
    EXPECT_EQ(shown["id"].text(), kWs + "/computes/cpu-cluster");
    EXPECT_EQ(shown["location"].text(), "local");
    EXPECT_EQ(shown.get("systemData.createdBy").text(), "ann");
    EXPECT_EQ(shown.get("properties.provisioningState").text(), "Succeeded");
    EXPECT_EQ(shown.get("properties.properties.vmSize").text(), "Standard_DS3_v2");
    EXPECT_EQ(shown.get("properties.properties.currentNodeCount").integer(-1), 0);
    EXPECT_EQ(shown.get("properties.properties.allocationState").text(), "Steady");
    const auto pools = world_.store.list_pools().value();
    ASSERT_EQ(pools.size(), 1U);
    const Pool& pool = pools[0];
    EXPECT_EQ(pool.key, "compute/cpu-cluster");
    EXPECT_EQ(pool.size, "Standard_DS3_v2");
    EXPECT_EQ(pool.nodes_max, 4);
    EXPECT_EQ(pool.idle_before_release, std::chrono::seconds(120));
    EXPECT_EQ(pool.terms.arm_id, to_lower(kWs + "/computes/cpu-cluster"));
    EXPECT_EQ(pool.terms.location, "local");
    EXPECT_EQ(pool.terms.family, "standardDSv2Family");
    EXPECT_EQ(pool.terms.vcpus, 4);
    EXPECT_EQ(pool.node_resources.cpu_millis, 4000);
}

TEST_F(ComputeRoutes, AClusterWithAMinimumHasNodesOnTheirWay) {
    ASSERT_EQ(put("cpu-cluster", R"("scaleSettings":{"minNodeCount":2,"maxNodeCount":2})").status, 201);
    const Json inner = parsed(ask("GET", "cpu-cluster")).get("properties.properties");
    EXPECT_EQ(inner.get("nodeStateCounts.preparingNodeCount").integer(), 2);
    EXPECT_EQ(inner["targetNodeCount"].integer(), 2);
    EXPECT_EQ(inner["allocationState"].text(), "Resizing");
    const Json nodes =
        parsed(world_.call({"POST", kWs + "/computes/cpu-cluster/listNodes", "", {}}))["nodes"];
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes.items()[0]["nodeId"].text(), "node-1");
    EXPECT_EQ(nodes.items()[0]["nodeState"].text(), "preparing");
    EXPECT_EQ(nodes.items()[0]["privateIpAddress"].text(), "127.0.0.1");
    EXPECT_TRUE(nodes.items()[0]["runId"].is_null());
}

TEST_F(ComputeRoutes, NodesTellTheirJob) {
    ASSERT_EQ(put("cpu-cluster", R"("scaleSettings":{"minNodeCount":1,"maxNodeCount":1})").status, 201);
    Job job = world_.add_job("train", JobStatus::Queued);
    job.head.version += 1;
    job.head.status = JobStatus::Running;
    job.head.pool = world_.store.list_pools().value()[0].id;
    job.head.attempt = 1;
    WriteBatch batch;
    batch.jobs_changed.push_back(job.head);
    batch.tasks.push_back(
        {.ref = {job.head.id, 1, 0}, .version = 1, .node = world_.store.list_nodes().value()[0].id});
    ASSERT_TRUE(world_.store.commit(batch));
    const Json nodes =
        parsed(world_.call({"POST", kWs + "/computes/cpu-cluster/listNodes", "", {}}))["nodes"];
    ASSERT_EQ(nodes.size(), 1U);
    EXPECT_EQ(nodes.items()[0]["runId"].text(), "train");
}

TEST_F(ComputeRoutes, AnotherRegionIsAWarning) {
    const auto made =
        ask("PUT", "far-cluster", R"({"location":"westus","properties":{"computeType":"AmlCompute"}})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_NE(header_of(made, "Warning").find("latency"), std::string::npos);
    const Json shown = parsed(ask("GET", "far-cluster"));
    EXPECT_EQ(shown["location"].text(), "westus");
    EXPECT_NE(shown.get("properties.lavant.warnings").dump().find("cost"), std::string::npos);
    EXPECT_EQ(world_.store.list_pools().value()[0].terms.location, "westus");
}

TEST_F(ComputeRoutes, SaysWhatTheMachineLacks) {
    const auto made = put("gpu-cluster", R"("vmSize":"Standard_NC4as_T4_v3")");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_NE(header_of(made, "Warning").find("GPUs for 2 of 4 nodes"), std::string::npos);
    EXPECT_NE(ask("GET", "gpu-cluster").body.find("GPUs for 2 of 4 nodes"), std::string::npos);
}

TEST_F(ComputeRoutes, NeverKeepsAPassword) {
    const auto made = put(
        "ssh-cluster",
        R"("userAccountCredentials":{"adminUserName":"u","adminUserPassword":"s3cret","adminUserSshPublicKey":"k"})");
    ASSERT_EQ(made.status, 201);
    EXPECT_EQ(made.body.find("s3cret"), std::string::npos);
    EXPECT_EQ(world_.store.find_asset({kDefaultWorkspace, "computes", "ssh-cluster", ""})
                  .value()
                  ->body.find("s3cret"),
              std::string::npos);
    EXPECT_EQ(parsed(made).get("properties.properties.userAccountCredentials").dump(),
              R"({"adminUserName":"u","adminUserSshPublicKey":"k"})");
}

TEST_F(ComputeRoutes, ANameIsTakenWhateverItsCaseAndTheAlertSaysByWhom) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    const std::string before = all();
    for (const char* name : {"cpu-cluster", "CPU-Cluster"}) {
        const auto again = put(name, "", {{"If-None-Match", "*"}});
        refused(again, 409,
                "the name 'cpu-cluster' is taken in this region by amlcompute 'cpu-cluster' of ann, made "
                "2026-09-2",
                before);
    }
    const auto other = ask("PUT", "cpu-cluster", R"({"properties":{"computeType":"ComputeInstance"}})");
    refused(other, 409, "is taken in this region by amlcompute", before);
    EXPECT_EQ(put("CPU-CLUSTER", R"("scaleSettings":{"maxNodeCount":5})").status, 200);
    EXPECT_EQ(parsed(ask("GET", "Cpu-cluster"))["name"].text(), "cpu-cluster");
    EXPECT_EQ(world_.store.list_pools().value().size(), 1U);
}

TEST_F(ComputeRoutes, ChangesWhatMayChange) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    ASSERT_EQ(
        patch("cpu-cluster",
              R"("scaleSettings":{"maxNodeCount":6,"minNodeCount":1,"nodeIdleTimeBeforeScaleDown":"PT5M"})")
            .status,
        200);
    const Pool pool = world_.store.list_pools().value()[0];
    EXPECT_EQ(pool.nodes_min, 1);
    EXPECT_EQ(pool.nodes_max, 6);
    EXPECT_EQ(pool.idle_before_release, std::chrono::minutes(5));
    const auto changed =
        ask("PATCH", "cpu-cluster", R"({"tags":{"a":"b"},"identity":{"type":"SystemAssigned"}})");
    ASSERT_EQ(changed.status, 200) << changed.body;
    const Json shown = parsed(ask("GET", "cpu-cluster"));
    EXPECT_EQ(shown["tags"].dump(), R"({"a":"b"})");
    EXPECT_EQ(shown.get("identity.type").text(), "SystemAssigned");
    EXPECT_EQ(shown.get("properties.properties.scaleSettings.maxNodeCount").integer(), 6);
}

TEST_F(ComputeRoutes, AChangeSaysWhoMakesItAndWhatItWasMadeFrom) {
    const auto last = [&] { return std::get<plane::PutCompute>(world_.posted.back()); };
    const auto version = [&] { return world_.store.list_pools().value()[0].version; };
    ASSERT_EQ(put("cpu-cluster").status, 201);
    EXPECT_EQ(last().who, "ann");
    EXPECT_EQ(last().pool->version, 0);
    const auto bob = world_.as("bob", Role::Contributor);
    for (const char* name : {"cpu-cluster", "CPU-Cluster"}) {
        const std::int64_t before = version();
        EXPECT_GT(before, 0);
        ASSERT_EQ(ask("PATCH", name, R"({"tags":{"a":"b"}})", bob).status, 200);
        EXPECT_EQ(last().who, "bob");
        EXPECT_EQ(last().pool->version, before);
        EXPECT_GT(version(), before) << "the next change is made from another one";
    }
}

TEST_F(ComputeRoutes, SomebodyElsesChangeInBetweenIsPassedOnAsAConflict) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    world_.refuse = [](const plane::Event&) { return Error{ErrorCode::Conflict, "changed meanwhile", {}}; };
    const auto late = patch("cpu-cluster", R"("scaleSettings":{"maxNodeCount":6})");
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(world_.store.list_pools().value()[0].nodes_max, 4);
}

TEST_F(ComputeRoutes, ReadersChangeNothing) {
    ASSERT_EQ(ask("PUT", "my-box", kBox).status, 201);
    const auto reader = world_.as("bob", Role::Reader);
    const std::size_t posted = world_.posted.size();
    for (const char* verb : {"start", "stop", "restart"})
        EXPECT_EQ(ask("POST", std::string("my-box/") + verb, "", reader).status, 403) << verb;
    for (const char* verb : {"validate", "evict"})
        EXPECT_EQ(
            world_.call({"POST", std::string("/lavant/v1/computes/my-box/") + verb, kBox, reader}).status,
            403)
            << verb;
    for (const char* method : {"PUT", "PATCH", "DELETE"})
        EXPECT_EQ(ask(method, "my-box", kBox, reader).status, 403) << method;
    EXPECT_EQ(ask("GET", "my-box", "", reader).status, 200);
    EXPECT_EQ(world_.posted.size(), posted);
}

TEST_F(ComputeRoutes, RefusesWhatIsFixedAndWhatIsWrongAndChangesNothing) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    const std::string before = all();
    refused(patch("cpu-cluster", R"("vmSize":"Standard_NC6s_v3")"), 400, "the size is fixed", before);
    refused(patch("cpu-cluster", R"("vmPriority":"LowPriority")"), 400, "the tier is fixed", before);
    refused(patch("cpu-cluster", R"("remoteLoginPortPublicAccess":"Enabled")"), 400, "SSH access is fixed",
            before);
    refused(patch("cpu-cluster", R"("subnet":{"id":")" + kSubnet + R"("})"), 400, "the network is fixed",
            before);
    refused(ask("PATCH", "cpu-cluster", R"({"location":"westus"})"), 400, "the region is fixed", before);
    refused(patch("cpu-cluster", R"("scaleSettings":{"minNodeCount":9})"), 400,
            "is 9, above the maximum of 4", before);
    refused(patch("cpu-cluster", R"("scaleSettings":{"maxNodeCount":0})"), 400, "must be at least 1", before);
    refused(put("new-one", R"("vmSize":"huge")"), 400, "there is no size 'huge'", before);
    refused(put("new-one", R"("scaleSettings":{"maxNodeCount":1000},"vmSize":"Standard_DS5_v2")"), 400,
            "quota", before);
    refused(ask("PUT", "new-one", R"({"location":"atlantis","properties":{"computeType":"AmlCompute"}})"),
            400, "there is no region 'atlantis'", before);
    refused(put("ab"), 400, "too short", before);
    refused(put("a_b"), 400, "has '_'", before);
    refused(put("serverless"), 400, "cannot be 'serverless'", before);
    refused(patch("nobody", ""), 404, "there is no compute 'nobody'", before);
    refused(put("nobody", "", {{"If-Match", "*"}}), 404, "there is no compute 'nobody'", before);
    for (const char* body : {"", "{", "[]", "{}", R"({"properties":{}})"})
        EXPECT_EQ(ask("PUT", "new-one", body).status, 400) << body;
    EXPECT_EQ(all(), before);
}

TEST_F(ComputeRoutes, ValidatesWithoutMakingAnything) {
    const auto check = [&](const std::string& name, const std::string& properties) {
        return world_.call({"POST",
                            "/lavant/v1/computes/" + name + "/validate",
                            R"({"location":"westus","properties":{)" + properties + "}}",
                            {}});
    };
    const Json good = parsed(check("cpu-cluster", R"("computeType":"AmlCompute")"));
    EXPECT_TRUE(good["valid"].boolean());
    EXPECT_FALSE(good["exists"].boolean(true));
    EXPECT_EQ(good["warnings"].size(), 1U);
    EXPECT_EQ(check("a_b", R"("computeType":"AmlCompute")").status, 400);
    EXPECT_EQ(check("cpu-cluster", "").status, 400);
    EXPECT_EQ(ask("GET", "cpu-cluster").status, 404);
}

TEST_F(ComputeRoutes, DeletesAndSaysWhatThereIs) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    EXPECT_EQ(ask("DELETE", "Cpu-Cluster?underlyingResourceAction=Delete").status, 200);
    EXPECT_EQ(ask("GET", "cpu-cluster").status, 404);
    EXPECT_EQ(ask("DELETE", "cpu-cluster").status, 404);
    EXPECT_TRUE(world_.store.list_pools().value().empty());
    ASSERT_EQ(put("big-cluster").status, 201);
    EXPECT_NE(message_of(ask("GET", "bg-cluster")).find("did you mean 'big-cluster'? There are big-cluster"),
              std::string::npos);
}

TEST_F(ComputeRoutes, AnswersForNoComputeAtAll) {
    for (const char* name : {"local", "serverless", "Serverless"}) {
        EXPECT_EQ(ask("GET", name).status, 200);
        EXPECT_EQ(ask("DELETE", name).status, 404);
    }
    EXPECT_EQ(parsed(world_.call({"GET", kWs + "/computes", "", {}}))["value"].size(), 0U);
}

TEST_F(ComputeRoutes, ListsInPagesAndByType) {
    const std::string id = R"("resourceId":"/subscriptions/x")";
    for (int i = 0; i < 120; ++i)
        ASSERT_EQ(ask("PUT", "k" + std::to_string(1000 + i),
                      R"({"properties":{"computeType":"Kubernetes",)" + id + "}}")
                      .status,
                  201);
    ASSERT_EQ(put("cpu-cluster").status, 201);
    const Json first = parsed(world_.call({"GET", kWs + "/computes", "", {}}));
    EXPECT_EQ(first["value"].size(), static_cast<std::size_t>(limits::kListPage));
    EXPECT_EQ(first["value"].items()[0]["name"].text(), "cpu-cluster");
    const std::string next = first["nextLink"].string();
    const Json second = parsed(world_.call({"GET", next.substr(next.find("/subscriptions")), "", {}}));
    EXPECT_EQ(second["value"].size(), 21U);
    EXPECT_FALSE(second.has("nextLink"));
    const Json clusters = parsed(world_.call({"GET", kWs + "/computes?computeType=amlcompute", "", {}}));
    EXPECT_EQ(clusters["value"].size(), 1U);
}

TEST_F(ComputeRoutes, StartsAndStopsAnInstance) {
    const auto made = ask("PUT", "my-box", kBox);
    ASSERT_EQ(made.status, 201) << made.body;
    const auto state = [&] {
        return parsed(ask("GET", "my-box")).get("properties.properties.state").string();
    };
    const auto act = [&](const std::string& verb) {
        return world_.call({"POST", kWs + "/computes/my-box/" + verb, "", {}});
    };
    EXPECT_EQ(state(), "Running");
    EXPECT_EQ(world_.store.list_pools().value()[0].nodes_min, 1);
    const auto stopped = act("stop");
    ASSERT_EQ(stopped.status, 202) << stopped.body;
    EXPECT_EQ(header_of(stopped, "Retry-After"), "1");
    const std::string operation(header_of(stopped, "Azure-AsyncOperation"));
    EXPECT_EQ(
        parsed(world_.call({"GET", operation.substr(operation.find("/subscriptions")), "", {}}))["status"]
            .text(),
        "Succeeded");
    EXPECT_EQ(state(), "Stopped");
    EXPECT_EQ(world_.store.list_pools().value()[0].nodes_max, 0);
    EXPECT_EQ(act("start").status, 202);
    EXPECT_EQ(state(), "Running");
    EXPECT_EQ(act("restart").status, 202);
    EXPECT_EQ(state(), "Running");
    ASSERT_EQ(put("cpu-cluster").status, 201);
    const auto cluster = world_.call({"POST", kWs + "/computes/cpu-cluster/stop", "", {}});
    EXPECT_EQ(cluster.status, 400);
    EXPECT_NE(message_of(cluster).find("only a computeinstance"), std::string::npos);
}

TEST_F(ComputeRoutes, StartsAndStopsAreMadeFromWhatIsThere) {
    ASSERT_EQ(ask("PUT", "my-box", kBox).status, 201);
    const std::int64_t before = world_.store.list_pools().value()[0].version;
    const auto bob = world_.as("bob", Role::Contributor);
    ASSERT_EQ(ask("POST", "My-Box/stop", "", bob).status, 202);
    const auto sent = std::get<plane::PutCompute>(world_.posted.back());
    EXPECT_EQ(sent.pool->version, before);
    EXPECT_EQ(sent.who, "bob");
}

TEST_F(ComputeRoutes, AHalfDoneRestartSaysThatTheInstanceIsStopped) {
    ASSERT_EQ(ask("PUT", "my-box", kBox).status, 201);
    world_.refuse = [](const plane::Event& event) -> std::optional<Error> {
        const auto* put = std::get_if<plane::PutCompute>(&event);
        if (put == nullptr || put->pool->nodes_max == 0) return std::nullopt;
        return Error{ErrorCode::Conflict, "there is no quota", {}};
    };
    const auto half = ask("POST", "my-box/restart");
    EXPECT_EQ(half.status, 409);
    EXPECT_EQ(message_of(half),
              "'my-box' is stopped now, and could not be started again: there is no quota; start it with: "
              "lavant compute start my-box");
    EXPECT_EQ(parsed(ask("GET", "my-box")).get("properties.properties.state").text(), "Stopped");
    world_.refuse = [this](const plane::Event&) -> std::optional<Error> {
        world_.inbox_full = true;
        return std::nullopt;
    };
    const auto full = ask("POST", "my-box/restart");
    EXPECT_EQ(full.status, 429);
    EXPECT_NE(message_of(full).find("is stopped now"), std::string::npos) << full.body;
}

TEST_F(ComputeRoutes, SaysWhichSettingsOfAnInstanceNothingActsOn) {
    const auto made = ask(
        "PUT", "my-box",
        R"({"properties":{"computeType":"ComputeInstance","properties":{"idleTimeBeforeShutdown":"PT30M"}}})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_NE(header_of(made, "Warning").find("idleTimeBeforeShutdown is kept and shown; nothing acts on it"),
              std::string::npos);
}

TEST_F(ComputeRoutes, DetachesOnlyWhatIsAttached) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    const std::string before = all();
    for (const char* action : {"Detach", "detach"})
        refused(ask("DELETE", std::string("cpu-cluster?underlyingResourceAction=") + action), 400,
                "it is not attached: delete it instead", before);
}

TEST_F(ComputeRoutes, KeepsRecordsOfAttachedMachines) {
    const auto made = ask(
        "PUT", "vm-example",
        R"({"properties":{"computeType":"VirtualMachine","resourceId":"/subscriptions/x","properties":{"sshPort":22}}})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(parsed(ask("GET", "vm-example")).get("properties.isAttachedCompute").boolean());
    EXPECT_EQ(world_.call({"POST", kWs + "/computes/vm-example/listNodes", "", {}}).status, 400);
    EXPECT_EQ(ask("DELETE", "vm-example?underlyingResourceAction=Detach").status, 200);
    EXPECT_EQ(ask("PUT", "%3CNAME%3E",
                  R"({"properties":{"computeType":"SynapseSpark","resourceId":"/subscriptions/<S>"}})")
                  .status,
              201);
    EXPECT_EQ(parsed(ask("GET", "%3CNAME%3E"))["name"].text(), "<NAME>");
}

TEST_F(ComputeRoutes, EvictsANodeOnlyWhereThereIsOne) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    const auto evict = [&](const std::string& name, const std::string& body) {
        return world_.call({"POST", "/lavant/v1/computes/" + name + "/evict", body, {}});
    };
    EXPECT_EQ(evict("cpu-cluster", "").status, 404);
    EXPECT_EQ(evict("cpu-cluster", R"({"node":"node-7"})").status, 404);
    EXPECT_EQ(evict("cpu-cluster", R"({"node":"first"})").status, 400);
    EXPECT_EQ(evict("cpu-cluster", R"({"node":-3})").status, 400);
    for (const char* body : {R"({"nodeId":"node-7"})", "[]", "5", R"("node-7")", "{", R"({"node":[]})"})
        EXPECT_EQ(evict("cpu-cluster", body).status, 400) << body;
    EXPECT_EQ(evict("nobody", "").status, 404);
    EXPECT_EQ(evict("serverless", "{}").status, 404);
}

TEST_F(ComputeRoutes, SaysWhyAClusterDoesNotGrow) {
    ASSERT_EQ(put("cpu-cluster").status, 201);
    Job job = world_.add_job("train", JobStatus::Queued);
    job.head.version += 1;
    job.head.pool = world_.store.list_pools().value()[0].id;
    WriteBatch batch;
    batch.jobs_changed.push_back(job.head);
    ASSERT_TRUE(world_.store.commit(batch));
    world_.explanation = {.reason = "quota", .text = "waits for quota. It needs 1 node."};
    const Json shown = parsed(ask("GET", "cpu-cluster"));
    EXPECT_EQ(shown.get("properties.lavant.notGrowing").text(), "job train waits for quota");
    EXPECT_EQ(shown.get("properties.properties.errors").items()[0].get("error.code").text(),
              "ClusterNotGrowing");
    world_.explanation = {.reason = "turn", .text = "waits for its turn"};
    EXPECT_FALSE(parsed(ask("GET", "cpu-cluster"))["properties"].has("lavant"));
    world_.inbox_full = true;
    EXPECT_EQ(ask("GET", "cpu-cluster").status, 200);
}

}  // namespace
}  // namespace lavant::api
