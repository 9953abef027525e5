#include "cli/job_commands.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

const std::string kJob =
    R"({"name":"j1","systemData":{"createdAt":"2026-01-02T03:04:05.678901Z"},"properties":{)"
    R"("status":"Failed","experimentName":"e","command":"python train.py","environmentId":)"
    R"("/subscriptions/s/x/environments/base/versions/1","error":{"code":"UserError",)"
    R"("message":"the command ended with exit code 3"}}})";

TEST(ShowJob, PrintsFieldsThatPeopleRead) {
    FakeServer server;
    FakeTerminal terminal;
    server.on("GET " + kWorkspacePath + "/jobs/j1", 200, kJob);
    Session session = server.session();
    EXPECT_EQ(show_job(session, terminal.console(), "j1", {}).value(), Exit::Completed);
    const std::string text = terminal.out.str();
    EXPECT_NE(text.find("environment  base:1"), std::string::npos) << text;
    EXPECT_NE(text.find("created      2026-01-02 03:04:05 UTC"), std::string::npos) << text;
    EXPECT_NE(text.find("the command ended with exit code 3"), std::string::npos) << text;
    EXPECT_EQ(server.requests[0].headers.at(0).second, "Bearer key");
}

TEST(ShowJob, AnUnknownJobIsARefusal) {
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();
    const auto outcome = show_job(session, terminal.console(), "nobody", {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Refused);
    EXPECT_EQ(outcome.error().error.message, "cannot get 'nobody': there is nothing here");
}

TEST(ListJobs, FollowsPagesWithoutLeavingTheServer) {
    FakeServer server;
    FakeTerminal terminal;
    int page = 0;
    server.on("GET " + kWorkspacePath + "/jobs",
              [&](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
                  EXPECT_TRUE(request.url.starts_with("https://server/")) << request.url;
                  ports::HttpResponse response;
                  const std::string next =
                      ++page < 3 ? R"("https://elsewhere)" + kWorkspacePath + R"(/jobs?$skip=1")" : "null";
                  response.body = R"({"value":[{"name":"j)" + std::to_string(page) +
                                  R"(","properties":{"status":"Completed"}}],"nextLink":)" + next + "}";
                  return response;
              });
    Session session = server.session();
    EXPECT_EQ(list_jobs(session, terminal.console(), {}, {}).value(), Exit::Completed);
    EXPECT_EQ(split(terminal.out.str(), '\n').size(), 5U) << terminal.out.str();
}

void answer_log(FakeServer& server, const std::string& text) {
    server.on("GET /lavant/v1/jobs/j1/logs",
              [text](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
                  request.on_bytes(text);
                  return ports::HttpResponse{};
              });
}

TEST(StreamJob, PrintsTheLogThenHowItEnded) {
    const std::pair<std::string, Exit> ends[] = {
        {"Completed", Exit::Completed}, {"Failed", Exit::Failed}, {"Canceled", Exit::Canceled}};
    for (const auto& [status, exit] : ends) {
        FakeServer server;
        FakeTerminal terminal;
        answer_log(server, "hello\nno line end");
        server.on("GET /lavant/v1/jobs/j1/wait", 200,
                  R"({"status":")" + status + R"(","terminal":true,"error":null})");
        Session session = server.session();
        EXPECT_EQ(stream_job(session, terminal.console(), "j1").value(), exit);
        EXPECT_EQ(terminal.out.str(), "hello\nno line end\n");
        EXPECT_EQ(terminal.err.str(), "j1  " + status + "\n");
    }
}

TEST(StreamJob, GoesOnWhereItWasWhenTheConnectionBreaks) {
    FakeServer server;
    FakeTerminal terminal;
    int connection = 0;
    server.on("GET /lavant/v1/jobs/j1/logs",
              [&](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
                  if (++connection == 1) {
                      request.on_bytes("first\n");
                      return fail(ErrorCode::Unavailable, "connection reset");
                  }
                  EXPECT_NE(request.url.find("offset=6"), std::string::npos) << request.url;
                  request.on_bytes("second\n");
                  return ports::HttpResponse{};
              });
    server.on("GET /lavant/v1/jobs/j1/wait", 200, R"({"status":"Completed","terminal":true})");
    Session session = server.session();
    EXPECT_EQ(stream_job(session, terminal.console(), "j1").value(), Exit::Completed);
    EXPECT_EQ(terminal.out.str(), "first\nsecond\n");
}

TEST(StreamJob, PrintsTheErrorOfAFailedJob) {
    FakeServer server;
    FakeTerminal terminal;
    answer_log(server, "");
    server.on(
        "GET /lavant/v1/jobs/j1/wait", 200,
        R"({"status":"Failed","terminal":true,"error":{"code":"OutOfMemory","message":"killed; take a larger size"}})");
    Session session = server.session();
    EXPECT_EQ(stream_job(session, terminal.console(), "j1").value(), Exit::Failed);
    EXPECT_EQ(terminal.err.str(), "j1  Failed\n  OutOfMemory: killed; take a larger size\n");
}

}  // namespace
}  // namespace lavant::cli
