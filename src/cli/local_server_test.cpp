#include "cli/local_server.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "base/files.h"
#include "base/text.h"
#include "cli/fake_server_test.h"
#include "cli/job_create.h"
#include "cli/server_commands.h"

namespace lavant::cli {
namespace {

class LocalServerTest : public ::testing::Test {
 protected:
    LocalServerTest() {
        std::string pattern = ::testing::TempDir() + "/local.XXXXXX";
        data_ = ::mkdtemp(pattern.data());
    }
    ~LocalServerTest() override { (void)remove_tree(data_); }

    void write(const std::string& name, const std::string& text, int mode = 0644) {
        ASSERT_TRUE(make_directories(parent_of(data_ + "/" + name)));
        ASSERT_TRUE(write_file_atomically(data_ + "/" + name, text, mode));
    }

    std::string data_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(LocalServerTest, TheDataFolderComesFromTheFirstThatIsSet) {
    Context context = terminal_.context(server_);
    EXPECT_FALSE(data_folder(context, "").has_value());
    terminal_.variables["HOME"] = "/h";
    EXPECT_EQ(data_folder(context, "").value(), "/h/.local/state/lavant");
    terminal_.variables["XDG_STATE_HOME"] = "relative";
    EXPECT_EQ(data_folder(context, "").value(), "/h/.local/state/lavant");
    terminal_.variables["XDG_STATE_HOME"] = "/x";
    EXPECT_EQ(data_folder(context, "").value(), "/x/lavant");
    terminal_.variables["LAVANT_DATA"] = "/d/";
    context.config = terminal_.context(server_).config;
    EXPECT_EQ(data_folder(context, "").value(), "/d");
    EXPECT_EQ(data_folder(context, "/flag").value(), "/flag");
    context.config.set("data", {"~/x", {}});
    EXPECT_EQ(data_folder(context, "").value(), "/h/x");
}

TEST_F(LocalServerTest, FindsAServerThatAnswersOnly) {
    Context context = terminal_.context(server_);
    EXPECT_FALSE(find_local_server(context, data_).has_value());
    for (const char* spoilt : {"", "{", "[]", "{\"url\":7}"}) {
        write("endpoint", spoilt);
        EXPECT_FALSE(find_local_server(context, data_).has_value()) << spoilt;
    }
    write("endpoint", R"({"url":"https://server/","pid":7,"ca":"/ca.pem","version":"1"})");
    write("owner.key", "secret\n", 0600);
    EXPECT_FALSE(find_local_server(context, data_).has_value()) << "it does not answer /health";
    server_.on("GET /health", 200, "{}");
    const auto found = find_local_server(context, data_);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->address.url, "https://server");
    EXPECT_EQ(found->address.token, "secret");
    EXPECT_EQ(found->pid, 7);
}

TEST_F(LocalServerTest, AProgramThatCannotStartIsOneSentence) {
    Context context = terminal_.context(server_);
    const auto outcome = find_or_start_local_server(context, {data_});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_NE(outcome.error().error.message.find("/nonexistent"), std::string::npos)
        << outcome.error().error.message;
}

TEST_F(LocalServerTest, AServerThatDiesAtOnceIsToldFromItsLog) {
    const std::string program = data_ + "/dies";
    write("dies", "#!/bin/sh\necho 'cannot open the database' >&2\nexit 1\n");
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    Context context = terminal_.context(server_);
    context.program = program;
    const auto outcome = find_or_start_local_server(context, {data_});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Unreachable);
    EXPECT_EQ(outcome.error().error.message, "cannot start the local server: cannot open the database");
}

TEST_F(LocalServerTest, StartsAServerAndWaitsForItsWord) {
    const std::string program = data_ + "/serves";
    write("serves", "#!/bin/sh\necho \"$@\" > '" + data_ + "/arguments'\n" +
                        R"(echo '{"url":"https://server","pid":1}' > ')" + data_ +
                        "/endpoint'\necho ready >&3\n");
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    Context context = terminal_.context(server_);
    context.program = program;
    // It answers from the moment the endpoint is written on.
    server_.on("GET /health", 200, "{}");
    const auto started = find_or_start_local_server(context, {data_});
    ASSERT_TRUE(started.has_value()) << started.error().error.message;
    EXPECT_TRUE(started->started);
    EXPECT_EQ(read_file(data_ + "/arguments", 1000).value(),
              "serve --data " + data_ + " --port 0 --embedded --ready-fd 3\n");
}

TEST_F(LocalServerTest, AStartedServerIsToldHowLongToStay) {
    const std::string program = data_ + "/serves";
    write("serves", "#!/bin/sh\necho \"$@\" > '" + data_ + "/arguments'\necho error no >&3\n");
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    terminal_.variables["LAVANT_IDLE_EXIT_S"] = "7";
    Context context = terminal_.context(server_);
    context.program = program;
    EXPECT_FALSE(find_or_start_local_server(context, {data_}).has_value());
    EXPECT_TRUE(read_file(data_ + "/arguments", 1000).value().ends_with(" --idle-exit 7\n"));
    EXPECT_FALSE(find_or_start_local_server(context, {data_, 0, false}).has_value());
    EXPECT_TRUE(read_file(data_ + "/arguments", 1000).value().ends_with(" --idle-exit 0\n"));
}

TEST_F(LocalServerTest, TheLoserOfARaceUsesTheWinnersServer) {
    const std::string program = data_ + "/loses";
    write("loses", "#!/bin/sh\n" + std::string(R"(echo '{"url":"https://server","pid":1}' > ')") + data_ +
                       "/endpoint.new'\necho taken >&3\nexec 3>&-\nmv '" + data_ + "/endpoint.new' '" +
                       data_ + "/endpoint'\n");
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    Context context = terminal_.context(server_);
    context.program = program;
    server_.on("GET /health", 200, "{}");
    const auto found = find_or_start_local_server(context, {data_});
    ASSERT_TRUE(found.has_value()) << found.error().error.message;
    EXPECT_FALSE(found->started);
}

TEST(JobName, HasThreeParts) {
    FakeTerminal terminal;
    const std::string name = make_job_name(*terminal.crypto);
    const auto parts = split(name, '_');
    ASSERT_EQ(parts.size(), 3U) << name;
    EXPECT_EQ(parts[2].size(), 10U);
    EXPECT_NE(name, make_job_name(*terminal.crypto));
}

TEST_F(LocalServerTest, TheActiveInterpreterIsTheVirtualEnvironments) {
    Context context = terminal_.context(server_);
    EXPECT_EQ(active_python_home(context), "");
    write("bin/python3",
          "\x7f"
          "ELF program");
    ASSERT_EQ(::chmod((data_ + "/bin/python3").c_str(), 0755), 0);
    terminal_.variables["PATH"] = "/nowhere:" + data_ + "/bin";
    EXPECT_EQ(active_python_home(context), data_);
    terminal_.variables = {{"CONDA_PREFIX", data_}};
    EXPECT_EQ(active_python_home(context), data_);
    terminal_.variables = {{"VIRTUAL_ENV", "/not/there"}, {"PATH", "/nowhere"}};
    EXPECT_EQ(active_python_home(context), "");
}

}  // namespace
}  // namespace lavant::cli
