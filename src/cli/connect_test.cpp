#include "cli/connect.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "base/files.h"
#include "cli/contexts.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

class ConnectTest : public ::testing::Test {
 protected:
    ConnectTest() {
        std::string pattern = ::testing::TempDir() + "/connect.XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        terminal_.variables["HOME"] = root_;
        data_ = root_ + "/.local/state/lavant";
    }
    ~ConnectTest() override { (void)remove_tree(root_); }
    void write(const std::string& path, const std::string& text) {
        ASSERT_TRUE(make_directories(parent_of(path)));
        ASSERT_TRUE(write_file_atomically(path, text));
    }
    void store(const std::string& name, const std::string& url) {
        Context context = terminal_.context(server_);
        ASSERT_TRUE(store_context(context, {name, url, "ann", "", "key-of-" + name}, "").has_value());
    }
    std::string used(const ServerChoice& flags = {}) {
        const ServerInUse found = server_in_use(terminal_.context(server_), flags);
        return found.name + " by " + found.by;
    }

    std::string root_;
    std::string data_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(ConnectTest, TheFirstThatSaysSomethingDecides) {
    EXPECT_EQ(used(), "local by default");
    Context context = terminal_.context(server_);
    ASSERT_TRUE(make_current(context, "current-one").has_value());
    EXPECT_EQ(used(), "current-one by lavant context use");
    write(root_ + "/.config/lavant/config.yml", "context: filed\n");
    EXPECT_EQ(used(), "filed by " + root_ + "/.config/lavant/config.yml:1");
    terminal_.variables["LAVANT_CONTEXT"] = "named";
    EXPECT_EQ(used(), "named by LAVANT_CONTEXT");
    terminal_.variables["LAVANT_ENDPOINT"] = "https://far/";
    EXPECT_EQ(used(), "https://far by LAVANT_ENDPOINT");
    EXPECT_EQ(used({.data = "", .workspace = {}, .context = "flag"}), "flag by --context");
    EXPECT_EQ(used({.data = "/d", .workspace = {}, .context = ""}), "local by --data");
}

TEST_F(ConnectTest, AConfiguredServerIsUsedWithoutAsking) {
    terminal_.variables["LAVANT_ENDPOINT"] = "https://far/";
    terminal_.variables["LAVANT_TOKEN"] = "t";
    terminal_.variables["LAVANT_WS"] = "w";
    Context context = terminal_.context(server_);
    const auto session = connect(context, {});
    ASSERT_TRUE(session.has_value());
    EXPECT_EQ(session->address().url, "https://far");
    EXPECT_EQ(session->address().token, "t");
    EXPECT_TRUE(session->workspace_path().ends_with(
        "/resourceGroups/lavant/providers/Microsoft.MachineLearningServices/workspaces/w"));
    const auto flagged = connect(context, {.data = "", .workspace = {"s", "", "flag"}});
    EXPECT_EQ(flagged->address().workspace, (WorkspaceName{"s", "lavant", "flag"}));
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(ConnectTest, AContextBringsItsOwnKey) {
    store("team", "https://team");
    terminal_.variables["LAVANT_CONTEXT"] = "team";
    terminal_.variables["LAVANT_TOKEN"] = "of another server";
    Context context = terminal_.context(server_);
    const auto session = connect(context, {});
    ASSERT_TRUE(session.has_value()) << session.error().error.message;
    EXPECT_EQ(session->address().url, "https://team");
    EXPECT_EQ(session->address().token, "key-of-team");
}

TEST_F(ConnectTest, AContextThatIsNotThereIsExplained) {
    store("team", "https://team");
    terminal_.variables["LAVANT_CONTEXT"] = "taem";
    Context context = terminal_.context(server_);
    const auto session = connect(context, {});
    ASSERT_FALSE(session.has_value());
    EXPECT_EQ(session.error().exit, Exit::Usage);
    EXPECT_EQ(session.error().error.message,
              "there is no context 'taem'; did you mean 'team'? (chosen by LAVANT_CONTEXT)");
    EXPECT_FALSE(connect(context, {.data = "", .workspace = {}, .context = "../team"}).has_value());
}

TEST_F(ConnectTest, AShellOfAnEmbeddedServerGoesOn) {
    write(data_ + "/port", "4711");
    write(data_ + "/owner.key", "owner");
    const std::string program = root_ + "/serves";
    write(program, "#!/bin/sh\n" + std::string(R"(echo '{"url":"https://127.0.0.1:4711","pid":1}' > ')") +
                       data_ + "/endpoint'\necho ready >&3\n");
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    server_.on("GET /health", 200, "{}");
    terminal_.variables["LAVANT_ENDPOINT"] = "https://127.0.0.1:4711";
    terminal_.variables["LAVANT_TOKEN"] = "mine";
    terminal_.variables["LAVANT_CA"] = data_ + "/tls/ca.pem";
    Context context = terminal_.context(server_);
    context.program = program;
    const auto session = connect(context, {});
    ASSERT_TRUE(session.has_value()) << session.error().error.message;
    EXPECT_EQ(session->address().token, "mine");
    EXPECT_EQ(session->address().data, data_);
    EXPECT_NE(terminal_.err.str().find("started a local server"), std::string::npos);

    write(data_ + "/endpoint", R"({"url":"https://127.0.0.1:4712","pid":1})");
    ASSERT_TRUE(connect(context, {}).has_value());
    EXPECT_NE(terminal_.err.str().find("is at https://127.0.0.1:4712 now"), std::string::npos)
        << terminal_.err.str();
}

TEST_F(ConnectTest, AnotherServerOnThisMachineThatIsGoneIsExplained) {
    write(data_ + "/port", "9");
    terminal_.variables["LAVANT_ENDPOINT"] = "https://127.0.0.1:9";
    terminal_.variables["LAVANT_CA"] = "/of/another/ca.pem";
    server_.on("GET /x", [](const ports::ClientRequest&) -> Result<ports::HttpResponse> {
        return fail(ErrorCode::Unavailable, "nothing answers");
    });
    Context context = terminal_.context(server_);
    auto session = connect(context, {});
    ASSERT_TRUE(session.has_value());
    const auto answer = session->get("/x");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().exit, Exit::Unreachable);
    EXPECT_NE(answer.error().error.message.find("lavant env --unset"), std::string::npos);
}

}  // namespace
}  // namespace lavant::cli
