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
    EXPECT_EQ(outcome.error().error.message, "cannot show job 'nobody': there is nothing here");
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

}  // namespace
}  // namespace lavant::cli
