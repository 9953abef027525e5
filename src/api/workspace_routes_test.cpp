#include "api/workspace_routes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "api/first_run.h"
#include "api/log_links.h"
#include "api/test_world.h"
#include "base/files.h"
#include "base/text.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

Json parsed(const ports::HttpResponse& response) {
    auto json = wire::parse_json(response.body);
    EXPECT_TRUE(json) << response.status << " " << response.body;
    return json ? *json : Json();
}

class WorkspaceRoutes : public testing::Test {
 protected:
    ports::HttpResponse get(const std::string& path, std::map<std::string, std::string> headers = {}) {
        return world_.call({"GET", path, "", std::move(headers)});
    }
    ports::HttpResponse bare(const std::string& path, std::map<std::string, std::string> headers = {}) {
        return world_.call({"GET", path, "", std::move(headers), false});
    }
    TestWorld world_;
};

TEST_F(WorkspaceRoutes, DescribesItselfToTheSdkUnderTheNameTheClientUses) {
    const Json list =
        parsed(bare("/metadata/endpoints?api-version=2020-09-01", {{"Host", "localhost:9443"}}));
    ASSERT_EQ(list.size(), 1U);
    const Json& cloud = list.items().front();
    EXPECT_EQ(cloud["resourceManager"].text(), "https://localhost:9443/");
    EXPECT_EQ(cloud["name"].text(), "Lavant");
    EXPECT_EQ(cloud.get("authentication.loginEndpoint").text(), "https://localhost:9443/");
    EXPECT_EQ(cloud.get("suffixes.storage").text(), "core.windows.net");
    EXPECT_EQ(cloud["portal"].text(), "https://portal.azure.lavant");
    const Json odd = parsed(bare("/metadata/endpoints", {{"Host", "a\"b<script>"}}));
    EXPECT_EQ(odd.items().front()["resourceManager"].text(), "https://127.0.0.1:8443/");
}

TEST_F(WorkspaceRoutes, GivesTokensForKeysAndTakesThemBack) {
    world_.api();
    const auto made = bare("/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fml.azure.lavant",
                           {{"X-IDENTITY-HEADER", world_.owner_key}, {"Metadata", "true"}});
    ASSERT_EQ(made.status, 200);
    const Json answer = parsed(made);
    EXPECT_EQ(answer["resource"].text(), "https://ml.azure.lavant");
    EXPECT_GT(parse_integer(answer["expires_on"].text()).value_or(0), to_micros(world_.clock.at) / 1'000'000);
    const std::string token = answer["access_token"].string();
    const auto claims = wire::parse_json(*base64url_decode(split(token, '.')[1]));
    EXPECT_EQ((*claims)["aud"].text(), "https://ml.azure.lavant");
    EXPECT_EQ((*claims)["sub"].text(), "ann");
    EXPECT_EQ(bare(kWs, {{"Authorization", "Bearer " + token}}).status, 200);
    EXPECT_EQ(bare("/msi/token?resource=x", {{"X-IDENTITY-HEADER", "lvk_wrong"}}).status, 401);
    EXPECT_EQ(bare("/msi/token", {{"X-IDENTITY-HEADER", world_.owner_key}}).status, 400);
}

TEST_F(WorkspaceRoutes, NeedsACredentialEverywhereElse) {
    for (const std::string& path : {kWs, kWs + "/jobs", kWs + "/datastores", std::string("/lavant/v1/keys"),
                                    std::string("/metrics"), "/history/v1.0" + kWs + "/runs/a/details"}) {
        const auto refused = bare(path);
        EXPECT_EQ(refused.status, 401) << path;
        EXPECT_EQ(parsed(refused).get("error.code").text(), "Unauthorized");
    }
    EXPECT_EQ(bare("/health").status, 200);
    EXPECT_EQ(bare("/discovery").status, 200);
}

TEST_F(WorkspaceRoutes, ShowsTheWorkspaceUnderAnyName) {
    const Json workspace = parsed(get(kWs));
    EXPECT_EQ(workspace["id"].text(), kWs);
    EXPECT_EQ(workspace["name"].text(), "w1");
    EXPECT_EQ(workspace.get("properties.discoveryUrl").text(), "https://127.0.0.1:8443/discovery");
    EXPECT_FALSE(workspace.get("properties.workspaceId").text().empty());
    EXPECT_EQ(
        get("/subscriptions/x/RESOURCEGROUPS/y/providers/microsoft.machinelearningservices/workspaces/z")
            .status,
        200);
}

TEST_F(WorkspaceRoutes, HasBothDatastores) {
    EXPECT_EQ(parsed(get(kWs + "/datastores?count=30"))["value"].size(), 2U);
    const Json standard = parsed(get(kWs + "/datastores?isDefault=true&count=30"))["value"];
    ASSERT_EQ(standard.size(), 1U);
    EXPECT_EQ(standard.items().front()["name"].text(), "workspaceblobstore");
    const Json artifacts = parsed(get(kWs + "/datastores/workspaceartifactstore", {{"Host", "h:1"}}));
    EXPECT_EQ(artifacts.get("properties.accountName").text(), "h:1/storage/acct");
    EXPECT_EQ(artifacts.get("properties.containerName").text(), "azureml");
    EXPECT_EQ(get(kWs + "/datastores/other").status, 404);
    EXPECT_EQ(get(kWs + "/computes/serverless").status, 200);
    EXPECT_EQ(get(kWs + "/computes/other").status, 404);
}

TEST_F(WorkspaceRoutes, RendersOpenMetrics) {
    const auto metrics = get("/metrics");
    EXPECT_EQ(metrics.headers.front().second, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_NE(metrics.body.find("lavant_loop_batches_total 7\n"), std::string::npos) << metrics.body;
    EXPECT_NE(metrics.body.find("lavant_jobs_queued{reason=\"quota\"} 2\n"), std::string::npos);
    EXPECT_TRUE(metrics.body.ends_with("# EOF\n"));
}

TEST_F(WorkspaceRoutes, KnowsWhatIsNoRouteAndWhatIsNoMethod) {
    const auto lost = get("/nowhere");
    EXPECT_EQ(lost.status, 404);
    EXPECT_EQ(parsed(lost).get("error.code").text(), "ResourceNotFound");
    const auto wrong = world_.call({"DELETE", kWs + "/jobs", "", {}});
    EXPECT_EQ(wrong.status, 405);
}

class HistoryRoutes : public WorkspaceRoutes {
 protected:
    HistoryRoutes() {
        world_.api();
        const auto made = world_.call(
            {"PUT",
             kWs + "/jobs/a1",
             R"({"properties":{"jobType":"Command","command":"x","environmentId":"azureml:base:1",)"
             R"("tags":{"t":"1"},)"
             R"("outputs":{"result":{"jobOutputType":"uri_folder"}}}})",
             {}});
        EXPECT_EQ(made.status, 201) << made.body;
    }
    std::string run_ = "/history/v1.0" + kWs + "/runs/a1";
    std::map<std::string, std::string> sdk_ = {{"User-Agent", "azure-ai-ml/1.35.2"}};
};

TEST_F(HistoryRoutes, GivesLogsBehindLinksThatNeedNoCredential) {
    EXPECT_TRUE(parsed(get(run_ + "/details"))["logFiles"].is_object());
    ASSERT_TRUE(
        world_.blobs().append("azureml", "ExperimentRun/dcid.a1/user_logs/std_log.txt", 0, "hello\n"));
    ASSERT_TRUE(world_.blobs().put_bytes("azureml", "ExperimentRun/dcid.a12/user_logs/std_log.txt", "other"));
    const Json files = parsed(get(run_ + "/details?api-version=v1.0"))["logFiles"];
    ASSERT_EQ(files.size(), 2U) << files.dump();  // the job's log and its lifecycle
    const std::string link = files["user_logs/std_log.txt"].string();
    ASSERT_TRUE(link.starts_with("https://127.0.0.1:8443/logs/")) << link;
    const std::string path = link.substr(22);
    EXPECT_EQ(world_.body_of(bare(path)), "hello\n");
    const auto part = bare(path, {{"Range", "bytes=2-"}});
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(world_.body_of(part), "llo\n");
    EXPECT_EQ(bare(path.substr(0, path.size() - 3) + "AAA").status, 403);
    world_.clock.at += 2h;
    EXPECT_EQ(bare(path).status, 403);
}

TEST_F(HistoryRoutes, TellsTheErrorOfAFailedJob) {
    EXPECT_TRUE(parsed(get(run_ + "/details"))["error"].is_null());
    world_.set_status("a1", JobStatus::Failed);
    const Json details = parsed(get(run_ + "/details"));
    EXPECT_EQ(details["status"].text(), "Failed");
    EXPECT_EQ(details.get("error.error.code").text(), "UserError");
    EXPECT_EQ(get("/history/v1.0" + kWs + "/runs/none/details").status, 404);
}

TEST_F(HistoryRoutes, ShowsTheSdkOneLookBeforeTheEndSoThatItPrintsTheLog) {
    world_.set_status("a1", JobStatus::Completed);
    EXPECT_EQ(parsed(get(run_ + "/details", sdk_))["status"].text(), "Completed") << "the shim is off";
    TestWorld with;
    with.sdk_settle = 1s;
    with.add_job("a1", JobStatus::Running);
    with.set_status("a1", JobStatus::Completed);
    with.clock.at += 10s;
    const auto look = [&](const std::map<std::string, std::string>& headers) {
        return parsed(with.call({"GET", run_ + "/details", "", headers}))["status"].string();
    };
    EXPECT_EQ(look({}), "Completed");
    EXPECT_EQ(look(sdk_), "Finalizing");
    EXPECT_EQ(look(sdk_), "Completed");
    // A job of the same name, made later or elsewhere, is another one.
    ASSERT_EQ(with.call({"DELETE", kWs + "/jobs/a1", "", {}}).status / 100, 2);
    with.add_job("a1", JobStatus::Running);
    with.set_status("a1", JobStatus::Completed);
    with.clock.at += 10s;
    EXPECT_EQ(look(sdk_), "Finalizing");
}

TEST_F(HistoryRoutes, ResolvesNamedOutputsInTheSpellingOfEachRelease) {
    const std::string ask = R"({"runId":"a1","selectRunMetadata":true})";
    const auto data = [&](const std::string& query) {
        return parsed(world_.call({"POST", "/history/v1.0" + kWs + "/rundata" + query, ask, {}}));
    };
    EXPECT_EQ(data("?api-version=v1.0").get("runMetadata.outputs.result.type").text(), "uri_folder");
    EXPECT_EQ(data("").get("runMetadata.outputs.result.type").text(), "UriFolder");
    const std::string id = data("").get("runMetadata.outputs.result.assetId").string();
    const std::string values = R"({"values":[")" + id + R"(","azureml://jobs/a1/outputs/none","x"]})";
    const Json resolved = parsed(world_.call(
        {"POST", "/data/v1.0" + kWs + "/dataversion/batchGetResolvedUris?api-version=1.5.0", values, {}}));
    ASSERT_EQ(resolved["values"].size(), 1U);
    EXPECT_EQ(
        resolved["values"][id]["uri"].text(),
        "azureml://subscriptions/s1/resourcegroups/g1/workspaces/w1/datastores/workspaceblobstore/paths/"
        "azureml/a1/result/");
}

TEST_F(HistoryRoutes, EditsByMergingAndArchives) {
    const std::string path = "/history/v1.0" + kWs + "/experiments/Default/runs/a1";
    const auto patch = [&](const std::string& body) { return world_.call({"PATCH", path, body, {}}).status; };
    EXPECT_EQ(patch(R"({"displayName":"d2","tags":{"z":"9"},"properties":{}})"), 200);
    const Json properties = parsed(get(kWs + "/jobs/a1"))["properties"];
    EXPECT_EQ(properties["displayName"].text(), "d2");
    EXPECT_EQ(properties["tags"].dump(), R"({"t":"1","z":"9"})");
    EXPECT_EQ(patch(R"({"properties":{"loss":0.5,"who":"\"me\"","gone":null}})"), 200);
    EXPECT_EQ(patch(R"({"properties":{"loss":"0.4"}})"), 200);
    const std::string own = R"({"loss":"0.4","who":"\"me\""})";
    EXPECT_EQ(parsed(get(kWs + "/jobs/a1")).get("properties.properties").dump(), own);
    EXPECT_EQ(parsed(get(run_))["properties"].dump(), own);
    EXPECT_EQ(parsed(get(run_ + "/details"))["properties"].dump(), own);
    EXPECT_EQ(parsed(get(kWs + "/jobs/a1")).get("properties.services.Studio.jobServiceType").text(),
              "Studio");
    EXPECT_EQ(patch(R"({"hidden":true})"), 200);
    EXPECT_EQ(parsed(get(kWs + "/jobs?listViewType=ActiveOnly"))["value"].size(), 0U);
    EXPECT_EQ(patch(R"({"hidden":false})"), 200);
    EXPECT_EQ(parsed(get(kWs + "/jobs?listViewType=ActiveOnly"))["value"].size(), 1U);
    EXPECT_EQ(parsed(get(run_ + "/children"))["value"].size(), 0U);
    EXPECT_TRUE(parsed(get(run_ + "/serviceinstances/0"))["instances"].is_object());
}

TEST_F(HistoryRoutes, EditsAddUpOnlySoFar) {
    const std::string path = "/history/v1.0" + kWs + "/experiments/Default/runs/a1";
    const auto patch = [&](const std::string& body) { return world_.call({"PATCH", path, body, {}}).status; };
    const auto tags = [](const std::string& prefix, int count) {
        std::string body;
        for (int i = 0; i < count; ++i)
            body += (i > 0 ? ",\"" : "\"") + prefix + std::to_string(i) + "\":\"v\"";
        return R"({"tags":{)" + body + "}}";
    };
    EXPECT_EQ(patch(tags("a", 500)), 200);
    EXPECT_EQ(patch(tags("b", 600)), 400);
    EXPECT_EQ(patch(tags("b", 400)), 200);
    const std::string large(200U << 10, 'x');
    EXPECT_EQ(patch(R"({"description":")" + large + "\"}"), 200);
    EXPECT_EQ(patch(R"({"tags":{"one":")" + large + "\"}}"), 400);
    EXPECT_EQ(patch(R"({"hidden":true})"), 200);
}

TEST(FirstRun, MakesTheOwnersKeyOnceAndInAPrivateFile) {
    TestWorld world;
    const FirstRunPorts ports{world.store, world.store, world.blobs(), world.crypto(), world.clock};
    const std::string file = world.folder + "/owner.key";
    ASSERT_TRUE(ensure_first_key(ports, file, "ann"));
    const std::string key = read_file(file, 100).value();
    struct stat facts {};
    ASSERT_EQ(::stat(file.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    ASSERT_TRUE(ensure_first_key(ports, file, "ann"));
    EXPECT_EQ(read_file(file, 100).value(), key);
    ASSERT_TRUE(ensure_workspace(ports));
    ASSERT_TRUE(ensure_workspace(ports));
    EXPECT_EQ(Workspaces({world.store, world.blobs(), world.crypto(), world.clock}).list()->size(), 1U);
}

TEST(FirstRun, TakesTheKeyThatACrashLeftInTheFile) {
    TestWorld world;
    const FirstRunPorts ports{world.store, world.store, world.blobs(), world.crypto(), world.clock};
    const std::string file = world.folder + "/owner.key";
    const std::string left = "lvk_" + std::string(43, 'x');
    ASSERT_TRUE(write_file_atomically(file, left + "\n"));
    ASSERT_TRUE(ensure_first_key(ports, file, "ann"));
    EXPECT_EQ(trim(read_file(file, 100).value()), left);
    Access access({world.store, world.crypto(), world.clock}, "s");
    EXPECT_TRUE(access.check_credential(left));
}

TEST(LogLinks, OpenOnlyWhatTheyMade) {
    TestWorld world;
    const LogLinks links(world.crypto(), "secret");
    const std::string token = links.make("a/b c.txt", world.clock.at + 1h);
    EXPECT_EQ(links.open(token, world.clock.at), "a/b c.txt");
    EXPECT_FALSE(links.open(token, world.clock.at + 1h + 6min));
    EXPECT_FALSE(links.open("", world.clock.at));
    EXPECT_FALSE(links.open("AAAA", world.clock.at));
    EXPECT_FALSE(links.open(base64url_encode(std::string(100, 'a')), world.clock.at));
    EXPECT_FALSE(LogLinks(world.crypto(), "other").open(token, world.clock.at));
}

}  // namespace
}  // namespace lavant::api
