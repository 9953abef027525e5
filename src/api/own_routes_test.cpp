#include "api/own_routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "api/test_world.h"
#include "base/files.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

Json parsed(const ports::HttpResponse& response) {
    auto json = wire::parse_json(response.body);
    EXPECT_TRUE(json) << response.status << " " << response.body;
    return json ? *json : Json();
}

class OwnRoutes : public testing::Test {
 protected:
    ports::HttpResponse get(const std::string& path) {
        return world_.call({"GET", "/lavant/v1" + path, "", {}});
    }
    std::string make_key(const std::string& user, const std::string& role) {
        const auto made = world_.call(
            {"POST", "/lavant/v1/keys", R"({"user":")" + user + R"(","role":")" + role + R"("})", {}});
        EXPECT_EQ(made.status, 201) << made.body;
        last_id_ = parsed(made)["id"].string();
        return parsed(made)["key"].string();
    }
    int status_with(const std::string& key, const std::string& method, const std::string& path) {
        return world_.call({method, path, "", {{"Authorization", "Bearer " + key}}}).status;
    }
    TestWorld world_;
    std::string last_id_;
};

TEST_F(OwnRoutes, MakesListsAndRevokesKeys) {
    const std::string key = make_key("bob", "contributor");
    EXPECT_EQ(status_with(key, "GET", "/lavant/v1/status"), 200);
    const Json keys = parsed(get("/keys"))["value"];
    ASSERT_EQ(keys.size(), 2U);
    EXPECT_EQ(keys.dump().find(key.substr(4)), std::string::npos);
    EXPECT_EQ(world_.call({"DELETE", "/lavant/v1/keys/" + last_id_, "", {}}).status, 204);
    EXPECT_EQ(status_with(key, "GET", "/lavant/v1/status"), 401);
    EXPECT_EQ(world_.call({"DELETE", "/lavant/v1/keys/" + last_id_, "", {}}).status, 404);
    EXPECT_EQ(world_.call({"DELETE", "/lavant/v1/keys/key-first", "", {}}).status, 409)
        << "the last owner stays";
    EXPECT_EQ(world_.call({"POST", "/lavant/v1/keys", R"({"user":"x","role":"god"})", {}}).status, 400);
    EXPECT_EQ(world_.call({"POST", "/lavant/v1/keys", "{}", {}}).status, 400);
}

TEST_F(OwnRoutes, GivesEachRoleItsRights) {
    world_.add_job("a1", JobStatus::Running);
    const std::string reader = make_key("rita", "reader");
    const std::string contributor = make_key("carl", "contributor");
    EXPECT_EQ(status_with(reader, "GET", kWs + "/jobs/a1"), 200);
    EXPECT_EQ(status_with(reader, "POST", kWs + "/jobs/a1/cancel"), 403);
    EXPECT_EQ(status_with(reader, "PUT", "/storage/acct/azureml-blobstore/x"), 403);
    EXPECT_EQ(status_with(contributor, "GET", "/lavant/v1/keys"), 403);
    EXPECT_EQ(status_with(contributor, "POST", kWs + "/jobs/a1/cancel"), 202);
    const auto secrets = world_.call({"POST",
                                      kWs + "/datastores/workspaceblobstore/listSecrets",
                                      "",
                                      {{"Authorization", "Bearer " + reader}}});
    EXPECT_NE(secrets.body.find("sp=rl&"), std::string::npos) << "a reader's signature cannot write";
}

TEST_F(OwnRoutes, FindsJobsByTheBeginningOfTheirNamesAndOnesOwn) {
    for (const char* name : {"abc", "abd", "b"}) world_.add_job(name, JobStatus::Running);
    const auto names = [&](const std::string& query) {
        std::string found;
        const Json answer = parsed(get("/jobs?" + query));
        for (const Json& job : answer["value"].items()) found += job["name"].string() + " ";
        return found;
    };
    EXPECT_EQ(names("prefix=ab&limit=6"), "abd abc ");
    EXPECT_EQ(names("prefix=ab&limit=1"), "abd ");
    EXPECT_EQ(names("prefix=a%25"), "");
    EXPECT_EQ(names("limit=1"), "b ");
    const Json one = parsed(get("/jobs?prefix=b"))["value"].items().at(0);
    EXPECT_EQ(one["status"].text(), "Running");
    EXPECT_TRUE(one.has("createdAt"));
    EXPECT_EQ(names("mine=1"), one["createdBy"].text() == "ann" ? "b abd abc " : "");
    for (const char* limit : {"0", "101", "x", "-1"})
        EXPECT_EQ(world_.call({"GET", std::string("/lavant/v1/jobs?limit=") + limit, "", {}}).status, 400);
}

TEST_F(OwnRoutes, LetsAJobsTokenReadItsOwnJobOnly) {
    const Job job = world_.add_job("a1", JobStatus::Running);
    world_.add_job("a2", JobStatus::Running);
    const std::string token = world_.api().make_job_token(job.head, 1);
    EXPECT_EQ(status_with(token, "GET", kWs + "/jobs/a1"), 200);
    EXPECT_EQ(status_with(token, "GET", kWs + "/jobs/a2"), 403);
    EXPECT_EQ(status_with(token, "POST", kWs + "/jobs/a1/cancel"), 403);
    EXPECT_EQ(status_with(token, "GET", "/storage/acct/azureml/x"), 403);
    EXPECT_EQ(status_with(token, "GET", "/lavant/v1/nodes"), 403);
    EXPECT_EQ(status_with(token, "GET", "/lavant/v1/jobs?mine=1"), 403);
    EXPECT_EQ(status_with(token, "DELETE", kWs + "/jobs/a1"), 403);
}

TEST_F(OwnRoutes, GivesAJobsTokenNothingElseOfTheSameName) {
    const Job job = world_.add_job("workspaceartifactstore", JobStatus::Running);
    const std::string token = world_.api().make_job_token(job.head, 1);
    EXPECT_EQ(status_with(token, "GET", kWs + "/jobs/workspaceartifactstore"), 200);
    EXPECT_EQ(status_with(token, "POST", kWs + "/datastores/workspaceartifactstore/listSecrets"), 403);
    EXPECT_EQ(status_with(token, "GET", kWs + "/datastores/workspaceartifactstore"), 403);
}

TEST_F(OwnRoutes, LetsOnlyOwnersRunUnconfined) {
    const std::string contributor = make_key("carl", "contributor");
    const std::string body =
        R"({"properties":{"jobType":"Command","command":"true","environmentId":"azureml:base:1",)"
        R"("properties":{"lavant.sandbox":"off"}}})";
    const auto refused =
        world_.call({"PUT", kWs + "/jobs/b1", body, {{"Authorization", "Bearer " + contributor}}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("only an owner"), std::string::npos) << refused.body;
    const auto granted = world_.call({"PUT", kWs + "/jobs/b2", body, {}});
    EXPECT_EQ(granted.status / 100, 2) << granted.body;
}

TEST_F(OwnRoutes, AnswersAWaitInTheMomentOfTheEnd) {
    world_.add_job("a1", JobStatus::Running);
    const auto waiting = world_.start({"GET", "/lavant/v1/jobs/a1/wait?timeout_s=60", "", {}});
    EXPECT_EQ(waiting->answers, 0);
    world_.set_status("a1", JobStatus::Finalizing);
    EXPECT_EQ(waiting->answers, 0);
    world_.set_status("a1", JobStatus::Failed);
    ASSERT_EQ(waiting->answers, 1);
    EXPECT_EQ(parsed(waiting->response)["status"].text(), "Failed");
    EXPECT_TRUE(parsed(waiting->response)["terminal"].boolean());
    EXPECT_EQ(parsed(waiting->response).get("error.code").text(), "UserError");
    EXPECT_EQ(world_.feed.subscribers(), 0U);
    world_.api().tick();
    EXPECT_EQ(waiting->answers, 1);
}

TEST_F(OwnRoutes, AnswersAWaitAtOnceWhenTheJobHasEndedOrIsUnknown) {
    world_.add_job("a1", JobStatus::Completed);
    EXPECT_EQ(parsed(get("/jobs/a1/wait"))["status"].text(), "Completed");
    EXPECT_EQ(get("/jobs/none/wait").status, 404);
    world_.add_job("a2", JobStatus::Running);
    const auto now = parsed(get("/jobs/a2/wait?timeout_s=0"));
    EXPECT_EQ(now["status"].text(), "Running");
    EXPECT_FALSE(now["terminal"].boolean());
    EXPECT_EQ(world_.feed.subscribers(), 0U);
}

TEST_F(OwnRoutes, EndsAWaitAtItsTimeOutAndWhenTheServerStops) {
    world_.add_job("a1", JobStatus::Running);
    const auto first = world_.start({"GET", "/lavant/v1/jobs/a1/wait?timeout_s=5", "", {}});
    const auto second = world_.start({"GET", "/lavant/v1/jobs/a1/wait?timeout_s=500", "", {}});
    world_.clock.at += 4900ms;
    EXPECT_EQ(world_.api().tick(), 100ms);
    EXPECT_EQ(first->answers, 0);
    world_.clock.at += 100ms;
    EXPECT_EQ(world_.api().tick(), 1s);
    ASSERT_EQ(first->answers, 1);
    EXPECT_FALSE(parsed(first->response)["terminal"].boolean());
    world_.api().close();
    ASSERT_EQ(second->answers, 1);
    EXPECT_EQ(second->response.status, 503);
    EXPECT_EQ(world_.feed.subscribers(), 0U);
}

TEST_F(OwnRoutes, StreamsEventsFromAnIdOnAndThenLive) {
    world_.add_job("a1", JobStatus::Queued);
    world_.set_status("a1", JobStatus::Preparing);
    world_.set_status("a1", JobStatus::Running);
    const auto stream = world_.start({"GET", "/lavant/v1/events", "", {{"Last-Event-ID", "1"}}});
    ASSERT_TRUE(stream->is_stream);
    EXPECT_EQ(stream->streamed.find("id: 1\n"), std::string::npos);
    EXPECT_NE(stream->streamed.find("id: 2\nevent: job\ndata: {"), std::string::npos) << stream->streamed;
    world_.set_status("a1", JobStatus::Completed);
    EXPECT_NE(stream->streamed.find("id: 3\n"), std::string::npos);
    const auto fresh = world_.start({"GET", "/lavant/v1/events", "", {}});
    EXPECT_EQ(fresh->streamed, "") << "without an id only what is to come";
    const auto of_job = world_.start({"GET", "/lavant/v1/jobs/a1/events", "", {}});
    EXPECT_NE(of_job->streamed.find("id: 1\n"), std::string::npos);
    stream->gone = true;
    world_.api().tick();
    EXPECT_EQ(world_.feed.subscribers(), 2U);
    world_.clock.at += 15s;
    world_.api().tick();
    EXPECT_EQ(fresh->streamed, ": still here\n\n");
    EXPECT_EQ(world_.call({"GET", "/lavant/v1/events", "", {{"Last-Event-ID", "x"}}}).status, 400);
}

TEST_F(OwnRoutes, TellsAClientThatItsPlaceInTheHistoryIsNoLongerKept) {
    world_.add_job("a1", JobStatus::Queued);
    for (const JobStatus status : {JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing})
        world_.set_status("a1", status);
    ASSERT_FALSE(*world_.store.tidy(2));
    const auto late = world_.start({"GET", "/lavant/v1/events?after=0", "", {}});
    EXPECT_TRUE(
        late->streamed.starts_with("id: 1\nevent: reset\ndata: {\"oldest\":2}\n\nid: 2\nevent: job\n"))
        << late->streamed;
    EXPECT_NE(late->streamed.find("id: 3\n"), std::string::npos);
    const auto in_time = world_.start({"GET", "/lavant/v1/events", "", {{"Last-Event-ID", "1"}}});
    EXPECT_TRUE(in_time->streamed.starts_with("id: 2\nevent: job\n")) << in_time->streamed;
}

TEST_F(OwnRoutes, EndsTheStreamOfAClientThatDoesNotRead) {
    world_.add_job("a1", JobStatus::Queued);
    const auto stream = world_.start({"GET", "/lavant/v1/events", "", {}});
    stream->waiting = 5U << 20;
    world_.set_status("a1", JobStatus::Running);
    EXPECT_TRUE(stream->finished);
    EXPECT_EQ(world_.feed.subscribers(), 0U);
}

TEST_F(OwnRoutes, FollowsALogUntilTheJobHasEndedAndEveryByteWasSent) {
    world_.add_job("a1", JobStatus::Running);
    const std::string blob = "ExperimentRun/dcid.a1/user_logs/std_log.txt";
    const auto log = world_.start({"GET", "/lavant/v1/jobs/a1/logs?follow=1", "", {}});
    EXPECT_EQ(log->streamed, "");
    ASSERT_TRUE(world_.blobs().append("azureml", blob, 0, "one\n"));
    EXPECT_LE(world_.api().tick(), 50ms);
    EXPECT_EQ(log->streamed, "one\n");
    ASSERT_TRUE(world_.blobs().append("azureml", blob, 4, "two\n"));
    EXPECT_FALSE(log->finished);
    world_.set_status("a1", JobStatus::Completed);
    world_.api().tick();
    EXPECT_EQ(log->streamed, "one\ntwo\n");
    EXPECT_TRUE(log->finished);
    EXPECT_EQ(world_.feed.subscribers(), 0U);
    EXPECT_EQ(world_.body_of(get("/jobs/a1/logs?offset=4")), "two\n");
    EXPECT_EQ(get("/jobs/a1/logs?offset=400").body, "");
    const auto late = world_.start({"GET", "/lavant/v1/jobs/a1/logs?follow=1&offset=2", "", {}});
    EXPECT_EQ(late->streamed, "e\ntwo\n");
    EXPECT_TRUE(late->finished);
}

TEST_F(OwnRoutes, ShowsTheLogsOfAllAttemptsOneAfterTheOther) {
    world_.api();
    world_.add_job("a1", JobStatus::Running);
    const std::string logs = "ExperimentRun/dcid.a1/user_logs/";
    ASSERT_TRUE(world_.blobs().append("azureml", logs + "std_log.txt", 0, "fir"));
    const auto log = world_.start({"GET", "/lavant/v1/jobs/a1/logs?follow=1", "", {}});
    EXPECT_EQ(log->streamed, "fir");
    // The attempt fails; its log is set aside, and the next one begins its own.
    ASSERT_TRUE(world_.blobs().put_bytes("azureml", logs + "attempt_1/std_log.txt", "first\n"));
    ASSERT_TRUE(world_.blobs().remove("azureml", logs + "std_log.txt"));
    ASSERT_TRUE(world_.blobs().append("azureml", logs + "std_log.txt", 0, "second\n"));
    world_.set_status("a1", JobStatus::Completed);
    world_.api().tick();
    EXPECT_EQ(log->streamed, "first\nsecond\n");
    EXPECT_TRUE(log->finished);
    EXPECT_EQ(world_.start({"GET", "/lavant/v1/jobs/a1/logs?offset=3", "", {}})->streamed, "st\nsecond\n");
    EXPECT_EQ(world_.start({"GET", "/lavant/v1/jobs/a1/logs?follow=1&offset=8", "", {}})->streamed, "cond\n");
}

TEST_F(OwnRoutes, ReadsNoLogOnTheThreadThatTellsOfTheEnd) {
    world_.add_job("a1", JobStatus::Running);
    const auto log = world_.start({"GET", "/lavant/v1/jobs/a1/logs?follow=1", "", {}});
    std::promise<void> finished;
    log->on_finish = [&] { finished.set_value(); };
    const std::string blob = "ExperimentRun/dcid.a1/user_logs/std_log.txt";
    ASSERT_TRUE(world_.blobs().append("azureml", blob, 0, "one\n"));
    world_.set_status("a1", JobStatus::Completed);  // publishes, as the control loop does
    finished.get_future().wait();
    EXPECT_EQ(log->streamed, "one\n");
    EXPECT_NE(log->written_by, std::this_thread::get_id());
}

TEST_F(OwnRoutes, TakesTheFirstProcessLogOfAJobThatHasSeveral) {
    world_.api();
    world_.add_job("a1", JobStatus::Completed);
    const std::string logs = "ExperimentRun/dcid.a1/user_logs/";
    ASSERT_TRUE(world_.blobs().put_bytes("azureml", logs + "std_log_process_0.txt", "zero"));
    ASSERT_TRUE(world_.blobs().put_bytes("azureml", logs + "std_log_process_1.txt", "one"));
    EXPECT_EQ(world_.body_of(get("/jobs/a1/logs")), "zero");
    EXPECT_EQ(world_.body_of(get("/jobs/a1/logs?file=user_logs%2Fstd_log_process_1.txt")), "one");
    EXPECT_EQ(world_.start({"GET", "/lavant/v1/jobs/a1/logs?follow=1", "", {}})->streamed, "zero");
}

TEST_F(OwnRoutes, RefusesLogFilesOutsideOfTheJob) {
    world_.add_job("a1", JobStatus::Completed);
    for (const char* file :
         {"..%2Fdcid.a2%2Fuser_logs%2Fstd_log.txt", "%2Fetc%2Fpasswd", "a%2F%2Fb", "x%00y", ".."})
        EXPECT_EQ(get(std::string("/jobs/a1/logs?file=") + file).status, 400) << file;
    EXPECT_EQ(get("/jobs/a1/logs?offset=-1").status, 400);
    EXPECT_EQ(get("/jobs/none/logs").status, 404);
}

TEST_F(OwnRoutes, ExplainsAndTellsOfNodes) {
    world_.add_job("a1", JobStatus::Queued);
    EXPECT_EQ(parsed(get("/jobs/a1/explain"))["explanation"].text(), "it waits for a node");
    world_.set_status("a1", JobStatus::Failed);
    EXPECT_NE(parsed(get("/jobs/a1/explain"))["explanation"].text().find("UserError"), std::string::npos);
    EXPECT_EQ(get("/jobs/none/explain").status, 404);
    EXPECT_EQ(parsed(get("/nodes"))["value"].size(), 0U);
    EXPECT_EQ(parsed(get("/status")).get("queuedByReason.quota").integer(), 2);
}

}  // namespace
}  // namespace lavant::api
