#include "cli/job_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

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
        Context context = terminal.context(server);
        EXPECT_EQ(stream_job(session, context, "j1").value(), exit);
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
    Context context = terminal.context(server);
    EXPECT_EQ(stream_job(session, context, "j1").value(), Exit::Completed);
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
    Context context = terminal.context(server);
    EXPECT_EQ(stream_job(session, context, "j1").value(), Exit::Failed);
    EXPECT_EQ(terminal.err.str(), "j1  Failed\n  OutOfMemory  killed; take a larger size\n");
}

}  // namespace
}  // namespace lavant::cli
